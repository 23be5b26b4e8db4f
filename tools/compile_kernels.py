"""Compile every kernel in every variant with NVRTC, without a GPU, and print what each needs.

A variant is an id width and an encoding of the rows. Registers, shared memory and spills are the compiler's own
figures; a kernel that spills or keeps a stack frame fails, because either turns registers into memory traffic. Those of
KNOWN fail when they need more than is written there. On sm_90 one that needs too many registers to be resident as it is
launched fails too. Where nvdisasm is installed, so does machine code that reads a register nothing has set.
NVRTC compiles one program at a time in a process, so there is a process for each core.
Exit code 0: all compiled clean; 1: something failed; 4: NVRTC is not installed.

    python tools/compile_kernels.py --arch 80 --arch 90 --arch 100
    python tools/compile_kernels.py --share 1/12     # all of sm_90, and a twelfth of the others
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from same_machine_code import text_sections
from shares import share_of
from unset_registers import nvdisasm, wrongs

from bigbfs.algorithms.every_kernel import every_kernel, numbered_kernels, variants_of
from bigbfs.engines.gpu.runtime.arguments import BLOCK, renumbered, team_of, team_threads
from bigbfs.engines.gpu.runtime.cuda import SOURCES, compile_options, source

ARCHITECTURES = (80, 90, 100)
ALWAYS = 90
"""The architecture that each share has whole: that of the GPUs that the project measures on, whose registers count."""
REGISTERS = 65_536
"""Of a multiprocessor."""
TEAMS = {spec.name for spec in every_kernel() if spec.cooperative} | {"host_step", "host_finish"}
"""Kernels launched with the threads of a team: half as many where ids take 64 bits."""
WITH_THREE_BLOCKS = {
    *("many_pull_rows", "many_pull_apart", "many_pull_chunks", "many_push_chunks"),
    *("many_push_short", "many_pull_short", "many_pull_pieces"),
}
"""Kernels of which three blocks are resident where ids take 64 bits."""
ALWAYS_THREE_BLOCKS = {"many_push_pieces"}
"""Kernels of which three blocks are resident: what they read comes from a file, and no faster."""
VARIANTS = tuple(product((np.uint32, np.uint64), ("plain", "varint")))
RENUMBERED = tuple(product((np.uint32, np.uint64), (renumbered("plain"),)))
"""Variants of kernels that run where vertices have numbers of their own."""
Job = tuple[str, int, type, str]
"""A file, an architecture, the ids and the rows."""
LOOKED_AT_ONCE = 2 << 20
"""Bytes of machine code that the disassembler is given together: it takes them in little more than its start."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the compiler says of one kernel: registers, and bytes of shared memory, stack and spills."""

    kernel: str
    registers: int
    shared: int
    stack: int
    spills: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """One variant of a file: what each kernel needs, and the machine code of each, by its name."""

    usages: list[Usage]
    codes: dict[str, bytes]


KNOWN: dict[tuple[str, type, str], tuple[int, int]] = {
    ("bfs_peers", np.uint32, "plain"): (40, 84),
    ("bfs_peers", np.uint32, "varint"): (8, 64),
}
"""Bytes of stack and of spills that are known, by kernel, ids and rows: a search over several GPUs wants more registers
than the 64 that a team of sm_90 and sm_100 leaves. Phases with registers of their own (APART) halve it."""

KNOWN_ON: dict[tuple[str, type, str, int], tuple[int, int]] = {
    ("bfs_peers", np.uint32, "plain", 100): (40, 128),
    ("bfs_peers", np.uint32, "varint", 100): (16, 48),
    ("bfs_peers", np.uint64, "plain", 100): (8, 8),
}
"""The same of one architecture alone."""


class CompileFailure(RuntimeError):
    """NVRTC refused a kernel; the message is its log."""


def files() -> list[str]:
    """Return the kernel files, by their path in the package."""
    return sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.cu"))


def compile_kernel(file: str, arch: int, ids: type, codec: str) -> list[Usage]:
    """Compile ``file`` for ``sm_<arch>``, in each of its variants, and return the usage of each kernel in it.

    Raises
    ------
    CompileFailure
        It does not compile, compiles with a warning, or its machine code is wrong.
    """
    variants = compiled(file, arch, ids, codec)
    named = [part for variant in variants for part in variant.codes.items()]
    for (kernel, _), wrong in zip(named, wrongs([code for _, code in named], arch), strict=True):
        if wrong:
            raise CompileFailure(f"{kernel}: miscompiled, {wrong}")
    return [usage for variant in variants for usage in variant.usages]


def compiled(file: str, arch: int, ids: type, codec: str) -> list[Compiled]:
    """Compile ``file`` for ``sm_<arch>``, in each of its variants; nobody has looked at the machine code.

    Raises
    ------
    CompileFailure
        It does not compile, or compiles with a warning.
    """
    team = team_of((arch // 10, arch % 10))
    return [_compile(file, arch, spec.variant(np.dtype(ids), codec, team)) for spec in variants_of(file)]


def _compile(file: str, arch: int, defines: Mapping[str, str]) -> Compiled:
    # CuPy has no public way to compile for a device that is not there
    from cupy.cuda.compiler import CompileException, _NVRTCProgram

    options = compile_options(defines)
    log = io.StringIO()
    program = _NVRTCProgram(source(file), file, method="cubin")
    try:
        cubin, _ = program.compile((f"-arch=sm_{arch}", "--ptxas-options=-v", *options), log)
    except CompileException as error:
        raise CompileFailure(str(error)) from error
    text = log.getvalue()
    if "warning" in text:
        raise CompileFailure(text)
    return Compiled(list(parse_usage(text)), dict(text_sections(cubin + b"\0")))  # CuPy leaves the last byte out


def parse_usage(log: str) -> Iterator[Usage]:
    """Yield the usage of each kernel in the log of ``ptxas -v``."""
    for section in log.split("Compiling entry function ")[1:]:
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", section)
        registers = re.search(r"Used (\d+) registers", section)
        if not frame or not registers:
            raise CompileFailure(f"the compiler's report has another form than expected:\n{section}")
        shared = re.search(r"(\d+) bytes smem", section)
        yield Usage(
            kernel=section.split("'")[1],
            registers=int(registers[1]),
            shared=int(shared[1]) if shared else 0,
            stack=int(frame[1]),
            spills=int(frame[2]) + int(frame[3]),
        )


def spills(usage: Usage, ids: type, codec: str, arch: int) -> bool:
    """Return whether a kernel needs more stack or spills more than is known of it, for ``sm_<arch>``."""
    everywhere = KNOWN.get((usage.kernel, ids, codec), (0, 0))
    stack, known = KNOWN_ON.get((usage.kernel, ids, codec, arch), everywhere)
    return usage.stack > stack or usage.spills > known


def crowds(usage: Usage, arch: int, ids: type) -> bool:
    """Return whether a multiprocessor of sm_90 has too few registers for a team, or else for four blocks.

    Three where a fourth would spill.
    """
    wide = usage.kernel in WITH_THREE_BLOCKS and ids is np.uint64
    blocks = 3 if wide or usage.kernel in ALWAYS_THREE_BLOCKS else 4
    threads = team_threads(team_of((9, 0)), np.dtype(ids)) if usage.kernel in TEAMS else blocks * BLOCK
    return arch == 90 and usage.registers * threads > REGISTERS


def jobs_of(architectures: Iterable[int], share: tuple[int, int] = (1, 1)) -> list[Job]:
    """Return what to compile: every variant of every file for ALWAYS, and ``share`` of what there is for the others."""
    numbered = {spec.file for spec in numbered_kernels()}
    variants = {file: (*VARIANTS, *(RENUMBERED if file in numbered else ())) for file in files()}
    jobs = [(file, arch, ids, codec) for file in files() for arch in architectures for ids, codec in variants[file]]
    others = [job for job in jobs if job[1] != ALWAYS]
    left_out = {job for place, job in enumerate(others) if place % share[1] != share[0] - 1}
    return [job for job in jobs if job not in left_out]


class LookedAt:
    """Machine code of many compilations, given to the disassembler together by the processes of ``pool``."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._waiting: dict[int, list[tuple[str, bytes]]] = defaultdict(list)
        self._asked: list[tuple[list[str], Future[list[str]]]] = []

    def add(self, job: Job, codes: Mapping[str, bytes]) -> None:
        """Take the machine code of the kernels of one variant, by their names."""
        arch = job[1]
        self._waiting[arch] += [(f"{_told(job)} {kernel}", code) for kernel, code in codes.items()]
        if sum(len(code) for _, code in self._waiting[arch]) >= LOOKED_AT_ONCE:
            self._ask(arch)

    def _ask(self, arch: int) -> None:
        waiting = self._waiting.pop(arch)
        self._asked.append(([name for name, _ in waiting], self._pool.submit(wrongs, [it for _, it in waiting], arch)))

    def failures(self) -> Iterator[str]:
        """Yield the kernels whose machine code is wrong, and why, when all has been taken."""
        for arch in list(self._waiting):
            self._ask(arch)
        for names, future in self._asked:
            yield from (f"{name}: miscompiled, {it}" for name, it in zip(names, future.result(), strict=True) if it)


def _told(job: Job) -> str:
    file, arch, ids, codec = job
    return f"sm_{arch} {file} {ids.__name__} {codec}"


def _compile_all(jobs: list[Job]) -> bool:
    """Compile everything, print a line for each kernel, and return whether all was clean."""
    clean = True
    count = 0
    print(
        f"{'arch':<7}{'file':<22}{'kernel':<22}{'ids':<8}{'rows':<8}{'registers':>9}{'shared':>8}{'stack':>7}{'spills':>8}"
    )
    # new processes: one that is forked would have half of what NVRTC has begun here
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
        looked_at = LookedAt(pool)
        futures = [(job, pool.submit(compiled, *job)) for job in jobs]
        while futures:
            job, future = futures.pop(0)  # what it holds is machine code, which nobody needs any more
            try:
                variants = future.result()
            except CompileFailure as error:
                print(f"{_told(job)}: FAILED\n{error}")
                clean = False
                continue
            for variant in variants:
                looked_at.add(job, variant.codes)
                count += len(variant.usages)
                for usage in variant.usages:
                    clean &= _fits(job, usage)
        for failure in looked_at.failures():
            print(f"FAILED: {failure}")
            clean = False
    if nvdisasm() is None:
        print("machine code was not looked at for registers that nothing sets: pip install nvidia-cuda-nvdisasm")
    print(f"{count} kernels from {len(jobs)} compilations: {'all clean' if clean else 'FAILED'}")
    return clean


def _fits(job: Job, usage: Usage) -> bool:
    """Print what a kernel needs, and return whether it may."""
    file, arch, ids, codec = job
    bad = "spills" if spills(usage, ids, codec, arch) else "registers" if crowds(usage, arch, ids) else ""
    print(
        f"sm_{arch:<4}{Path(file).name:<22}{usage.kernel:<22}{ids.__name__:<8}{codec:<8}{usage.registers:>9}"
        f"{usage.shared:>8}{usage.stack:>7}{usage.spills:>8}{f'  FAILED: {bad}' if bad else ''}"
    )
    return not bad


def main() -> int:
    """Compile for the architectures asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--arch", type=int, action="append", help="compute capability without the dot; repeatable")
    parser.add_argument(
        "--share", type=share_of, default=(1, 1), metavar="I/K", help=f"all of sm_{ALWAYS}, share I of K of the others"
    )
    given = parser.parse_args()
    jobs = jobs_of(given.arch or ARCHITECTURES, given.share)
    try:
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
    except Exception as error:
        print(f"NVRTC is not here: {error}\npip install 'bigbfs[cuda13]' (no GPU or driver is needed)", file=sys.stderr)
        return 4
    return 0 if _compile_all(jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
