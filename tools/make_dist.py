"""Build the wheel and the sdist to dist/, install each in empty environments, and try there what they promise.

The wheel makes a graph, traverses it, lists components, completes a command and has its manual page; the sdist, from
which it was built, starts. Each extra of the wheel gets an environment of its own, and a trial that fails without what
the extra brings. Everything runs in a folder without the sources. Environments are made by uv, which links what it has
unpacked once. Kernels are compiled in the trial of the bare wheel alone (with ``--quick`` nowhere): elsewhere they run
as Python, on tiny graphs.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "man" / "bigbfs.1"
"""Where hatch_build.py looks for the manual page."""
GRAPH = ("bigbfs generate kronecker --scale 6 -o g.csrbin",)
AS_PYTHON = {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
TRIAL = (
    "bigbfs --version",
    "bigbfs --help",
    "bigbfs generate kronecker --scale 8 -o g.txt",
    "bigbfs convert g.txt",
    "bigbfs check g.csrbin",
    "bigbfs bfs g.csrbin --source 1 --backend cpu --verify",
    "bigbfs cc g.csrbin --backend cpu --json",
    "bigbfs completion bash",
    "python -c 'import sys, pathlib; assert (pathlib.Path(sys.prefix) / \"share/man/man1/bigbfs.1\").stat().st_size'",
)
STARTS = ("bigbfs --version", "bigbfs --help", *TRIAL[-1:])
NVRTC = 'python -c "import cupy; from cupy.cuda import nvrtc; print(nvrtc.getVersion())"'
EXTRAS: dict[str, tuple[str, ...]] = {
    "cuda12": (NVRTC, "bigbfs plan g.csrbin --profile h200"),
    "cuda13": (NVRTC, "bigbfs plan g.csrbin --profile h200"),
    "fast": ('python -c "import isal.igzip"', "bigbfs generate star --scale 8 -o s.txt.gz", "bigbfs convert s.txt.gz"),
    "mpi": ('python -c "import mpi4py"',),
    "mpich": ("bigbfs bfs g.csrbin --source 1 --backend cpu --ranks 2 --verify",),
    "networkx": (
        "python -c \"import networkx as nx; assert nx.has_path(nx.path_graph(9), 0, 8, backend='bigbfs')\"",
        "python -c \"import bigbfs, networkx as nx; assert nx.has_path(bigbfs.open('g.csrbin'), 1, 2)\"",
    ),
    "plot": ("bigbfs bfs g.csrbin --source 1 --backend cpu --plot levels.svg",),
    "report": (
        "bigbfs bench bfs g.csrbin --strategy topdown --backend cpu --source 1 --trials 1 -o rows.jsonl",
        "bigbfs bench report rows.jsonl -o report.html",
    ),
    "tables": ("bigbfs cc g.csrbin --backend cpu --labels labels.parquet", "bigbfs convert labels.parquet -o l.csrbin"),
}
"""Extra -> what runs with it, after ``GRAPH``."""
OURS = ("dev", "site")
"""Extras for those who work on bigbfs: `make test` and `make site` install them."""


def build(target: Path, python: str) -> list[Path]:
    """Build wheel and sdist to ``target`` with the interpreter ``python``, which has build; return both."""
    for old in target.glob("bigbfs-*"):
        old.unlink()
    PAGE.parent.mkdir(exist_ok=True)
    try:
        with PAGE.open("wb") as page:
            subprocess.run([sys.executable, "-m", "bigbfs", "man"], check=True, cwd=ROOT, stdout=page)
        command = [python, "-m", "build", "--installer", "uv", "--outdir", str(target), str(ROOT)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    finally:
        PAGE.unlink(missing_ok=True)  # a later build from this folder must not ship the page of this one
        PAGE.parent.rmdir()
    return sorted(target.glob("bigbfs-*.whl")) + sorted(target.glob("bigbfs-*.tar.gz"))


def builder(folder: Path) -> Path:
    """Make an environment with build and uv; return the folder of its programs."""
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "build", "uv"], check=True)
    return folder / "bin"


def extras(wheel: Path) -> list[str]:
    """Return the extras that the wheel says it has."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return re.findall(r"^Provides-Extra: (\S+)$", archive.read(name).decode(), re.MULTILINE)


def try_out(package: Path, extra: str, trial: tuple[str, ...], uv: Path, settings: dict[str, str]) -> None:
    """Install ``package`` in an empty environment and run ``trial``; CalledProcessError where something fails."""
    wanted = f"{package}[{extra}]" if extra else str(package)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = folder / "env" / "bin"
        subprocess.run([str(uv), "venv", "--quiet", "--python", sys.executable, str(folder / "env")], check=True)
        install = [str(uv), "pip", "install", "--quiet", "--python", str(programs / "python"), wanted]
        subprocess.run(install, check=True)
        files = [path for path in (folder / "env").rglob("*") if path.is_file() and not path.is_symlink()]
        megabytes = sum(path.stat().st_size for path in files) / 1e6
        alone = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
        alone |= {"PATH": f"{programs}{os.pathsep}{alone['PATH']}"} | settings
        for line in trial:
            program, *arguments = shlex.split(line)
            subprocess.run(
                [str(programs / program), *arguments], check=True, cwd=folder, env=alone, stdout=subprocess.DEVNULL
            )
    shown = f"{package.name}{f'[{extra}]' if extra else ''}"
    took = time.monotonic() - start
    print(f"{shown}: an empty environment of {megabytes:.0f} MB, {len(trial)} commands run, {took:.0f} s", flush=True)


def main() -> int:
    """Build and try; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, default=ROOT / "dist", help="folder of the packages (default: dist)")
    parser.add_argument("--extra", action="append", help="try this extra alone; repeatable (default: all)")
    parser.add_argument("--without", action="append", default=[], help="leave this extra out; repeatable")
    parser.add_argument("--quick", action="store_true", help="compile no kernels; they run as Python")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        programs = builder(Path(name) / "build")
        packages = build(given.target, str(programs / "python"))
        wheel = packages[0]
        there = [extra for extra in extras(wheel) if extra not in OURS]
        if sorted(there) != sorted(EXTRAS):
            raise SystemExit(
                f"the wheel has the extras {sorted(there)}, and {Path(__file__).name} tries {sorted(EXTRAS)}"
            )
        for package, trial in zip(packages, (TRIAL, STARTS), strict=True):
            try_out(package, "", trial, programs / "uv", AS_PYTHON if given.quick else {})
        for extra in given.extra or there:
            if extra not in given.without:
                try_out(wheel, extra, (*GRAPH, *EXTRAS[extra]), programs / "uv", AS_PYTHON)
    return 0


if __name__ == "__main__":
    sys.exit(main())
