"""Build the wheel and the sdist to dist/, install each in an empty environment, and try it there.

A trial makes a graph, traverses it, lists components and completes a command, from a folder without the sources.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRIAL = (
    ("--version",),
    ("--help",),
    ("generate", "kronecker", "--scale", "10", "-o", "g.txt"),
    ("convert", "g.txt"),
    ("check", "g.csrbin"),
    ("bfs", "g.csrbin", "--source", "1", "--backend", "cpu", "--verify"),
    ("cc", "g.csrbin", "--backend", "cpu", "--json"),
    ("completion", "bash"),
)


def build(target: Path, python: str) -> list[Path]:
    """Build wheel and sdist to ``target`` with the interpreter ``python``, which has pip; return both."""
    for old in target.glob("bigbfs-*"):
        old.unlink()
    subprocess.run([python, "-m", "pip", "install", "--quiet", "build"], check=True)
    subprocess.run([python, "-m", "build", "--outdir", str(target), str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    return sorted(target.glob("bigbfs-*.whl")) + sorted(target.glob("bigbfs-*.tar.gz"))


def environment(folder: Path) -> str:
    """Make an empty environment; return its interpreter."""
    venv.create(folder, with_pip=True)
    return str(folder / "bin" / "python")


def try_out(package: Path, extra: str) -> None:
    """Install ``package`` in an empty environment and run the trial; CalledProcessError where something fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = environment(folder / "env")
        wanted = f"{package}[{extra}]" if extra else str(package)
        subprocess.run([python, "-m", "pip", "install", "--quiet", wanted], check=True)
        for arguments in TRIAL:
            command = [str(folder / "env" / "bin" / "bigbfs"), *arguments]
            subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    print(
        f"{package.name}{f'[{extra}]' if extra else ''}: installed in an empty environment, {len(TRIAL)} commands run"
    )


def main() -> int:
    """Build and try; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, default=ROOT / "dist", help="folder of the packages (default: dist)")
    parser.add_argument("--extra", action="append", default=[], help="also try the wheel with this extra; repeatable")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        packages = build(given.target, environment(Path(name) / "build"))
    for package in packages:
        try_out(package, "")
    for extra in given.extra:
        try_out(packages[0], extra)
    return 0


if __name__ == "__main__":
    sys.exit(main())
