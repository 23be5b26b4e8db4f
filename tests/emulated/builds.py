"""The four builds of a kernel, and the shared libraries that they make, cached by a hash of everything that goes in.

In: a .cu file and ``-D`` defines. Out: the path of a shared library, in ``$XDG_CACHE_HOME/bigbfs/simt`` or the
repository's ``.cache/simt``. A library is written under a temporary name and renamed, so that test processes may
race; its name is the hash of the kernel headers, the emulation, the flags and the compiler's version.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
KERNELS = Path(os.environ.get("SIMT_KERNELS") or REPOSITORY / "bigbfs")
"""Folder that kernel files are named and included from; tools/mutants.py points it to its copies."""
MACHINE = ("machine.cpp", "fibers.cpp", "warp.cpp", "memory.cpp")
EXTRA = {
    "plain": ("watchdog.cpp",),
    "preempt": ("watchdog.cpp", "hooks.cpp"),
    "asan": ("watchdog.cpp", "undefined.cpp"),
}


@dataclass(frozen=True)
class Build:
    """One way to compile kernels.

    Attributes
    ----------
    name
        As tests and tables call it.
    kernel_flags
        For the kernels.
    link_flags
        For linking them.
    machine_flags
        For the machine that runs them, which is never instrumented itself.
    preload
        Library that must be loaded before Python, by LD_PRELOAD; empty if none.
    """

    name: str
    kernel_flags: tuple[str, ...]
    link_flags: tuple[str, ...] = ()
    machine_flags: tuple[str, ...] = ()
    preload: str = ""


COMMON = ("-std=c++20", "-g1", "-fPIC", "-fno-exceptions", "-fno-rtti", "-pthread")
KERNEL = ("-fvisibility=hidden", "-fno-strict-aliasing", "-DBIGBFS_SIMT")
WARNINGS = ("-Wall", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-function")
# Makes the static arrays of templates local to the library: those the address sanitizer guards, others it does not.
NO_WEAK = ("-fno-weak", "-w")

# -Og: compiling takes longer than running, and -O1 compiles for twice as long to run hardly faster.
BUILDS = {
    build.name: build
    for build in (
        Build("plain", ("-Og", *WARNINGS)),
        Build("preempt", ("-Og", "-fsanitize=thread", "-w"), (), ("-DSIMT_PREEMPT",)),
        Build(
            "asan",
            ("-Og", "-fsanitize=address,undefined", "-fsanitize-recover=all", "-DSIMT_ASAN", *NO_WEAK),
            ("-fsanitize=address",),
            ("-DSIMT_ASAN",),
            "libasan.so",
        ),
        Build(
            "tsan",
            ("-Og", "-fsanitize=thread", "-DSIMT_TSAN", "-w"),
            ("-fsanitize=thread",),
            ("-DSIMT_TSAN",),
            "libtsan.so",
        ),
    )
}


class CompileError(RuntimeError):
    """g++ refused a kernel; the message holds what it said."""


def compiler() -> str:
    """Return the C++ compiler."""
    return os.environ.get("CXX", "g++")


@cache
def missing(build: str) -> str:
    """Return what ``build`` needs and is not installed; "" if nothing."""
    if shutil.which(compiler()) is None:
        return f"{compiler()} is not installed"
    preload = BUILDS[build].preload
    return "" if not preload or Path(runtime_library(preload)).is_absolute() else f"{compiler()} has no {preload}"


@cache
def identity() -> str:
    """Return what the compiler and the machine are."""
    version = _ask("--version")
    extra = "-DSIMT_UCONTEXT" if "SIMT_UCONTEXT" in os.environ else ""
    return f"{version} {platform.machine()} {extra}"


def runtime_library(name: str) -> str:
    """Return the path of the compiler's sanitizer library ``name``."""
    found = _ask(f"-print-file-name={name}").strip()
    return str(Path(found).resolve()) if "/" in found else found


def cache_folder() -> Path:
    """Return the folder of the shared libraries, made if need be."""
    home = os.environ.get("XDG_CACHE_HOME")
    folder = Path(home) / "bigbfs" / "simt" if home else REPOSITORY / ".cache" / "simt"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _hash(files: list[Path], flags: list[str]) -> str:
    digest = hashlib.sha256("\0".join([identity(), *flags]).encode())
    for file in files:
        digest.update(b"\0" + file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:24]


def _clean_environment() -> dict[str, str]:
    """Return the environment for the compiler: the sanitizer of this process would slow it down, or crash it."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def _ask(option: str) -> str:
    """Return what the compiler prints for ``option``."""
    command = [compiler(), option]
    return subprocess.run(command, env=_clean_environment(), capture_output=True, text=True, check=True).stdout


def _run(command: list[str]) -> None:
    done = subprocess.run(command, env=_clean_environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"{' '.join(command)}\n{done.stderr}")


def _make(target: Path, steps: list[list[str]]) -> Path:
    """Run ``steps``, in which ``OUT`` and ``OBJECT`` stand for temporary files; the last one writes OUT."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="making-") as folder:
        names = {"OUT": f"{folder}/out.so", "OBJECT": f"{folder}/object.o"}
        for step in steps:
            _run([names.get(word, word) for word in step])
        Path(names["OUT"]).rename(target)
    return target


def machine_library(build: Build) -> Path:
    """Compile the machine for ``build`` (once) and return its shared library."""
    sources = [HERE / name for name in (*MACHINE, *EXTRA.get(build.name, ()))]
    flags = [*COMMON, "-O2", "-Wall", "-Wextra", "-Werror", *build.machine_flags]
    if "SIMT_UCONTEXT" in os.environ:
        flags.append("-DSIMT_UCONTEXT")
    target = cache_folder() / f"machine-{build.name}-{_hash([*sources, *sorted(HERE.glob('*.hpp'))], flags)}.so"
    if target.exists():
        return target
    return _make(
        target, [[compiler(), *flags, "-shared", f"-Wl,-soname,{target.name}", "-o", "OUT", *map(str, sources)]]
    )


@cache
def sources_of(source: Path, include: Path) -> tuple[Path, ...]:
    """Return ``source`` and every kernel header that it includes, directly or not, in a fixed order."""
    found, waiting = {}, [source]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = path.relative_to(include) if path.is_relative_to(include) else path.name
            names = re.findall(r'^#include "([^"]+\.cuh)"', path.read_text(), re.M)
            waiting += [include / name for name in names]
    return tuple(sorted(found, key=lambda path: str(found[path])))


def kernel_library(source: Path, defines: Mapping[str, str], build: Build, include: Path = KERNELS) -> Path:
    """Compile ``source`` with ``-D`` ``defines`` for ``build`` (once) and return its shared library.

    Raises
    ------
    CompileError
        g++ refused it.
    """
    flags = [*COMMON, *KERNEL, *build.kernel_flags, f"-I{include}", f"-I{HERE}"]
    flags += [f"-D{name}={value}" for name, value in sorted(defines.items())]
    machine = machine_library(build)
    inputs = [*sources_of(source, include), *sorted(HERE.glob("*.hpp"))]
    # The paths are left out of the hash: mutated copies elsewhere share what they did not change.
    target = (
        cache_folder()
        / f"{source.stem}-{build.name}-{_hash(inputs, [machine.name, *(f for f in flags if f[:2] != '-I')])}.so"
    )
    if target.exists():
        return target
    compile_it = [compiler(), *flags, "-x", "c++", "-c", "-o", "OBJECT", str(source)]
    # Linked with its machine, found in the same folder: several builds can live in one process.
    link_it = [compiler(), "-shared", *build.link_flags, "-o", "OUT", "OBJECT", str(machine), "-Wl,-rpath,$ORIGIN"]
    return _make(target, [compile_it, link_it])
