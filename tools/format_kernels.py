"""Put every .cu and .cuh file into the style of .clang-format, or with ``--check`` say which are not in it.

clang-format (20 to 23 agree on this style) leaves comments as they are, so a line that is too long for its comment is
named here and mended by hand.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("bigbfs", "tests/emulated", "tools/studies")
LONGEST_LINE = 120


def kernel_files(root: Path = ROOT) -> list[Path]:
    """Return the kernels and their headers below ``root``, in order."""
    found = (path for folder in FOLDERS for path in (root / folder).rglob("*.cu*"))
    return sorted(path for path in found if path.suffix in (".cu", ".cuh"))


def clang_format() -> str:
    """Return the path of the clang-format that its PyPI package brings."""
    from clang_format import get_executable

    return str(get_executable("clang-format"))


def formatted(path: Path) -> str:
    """Return the text of ``path`` as clang-format writes it.

    Raises
    ------
    subprocess.CalledProcessError
        clang-format refuses the file or the style.
    """
    style = f"--style=file:{ROOT / '.clang-format'}"
    return subprocess.run([clang_format(), style, str(path)], capture_output=True, text=True, check=True).stdout


def objections(paths: list[Path]) -> list[str]:
    """Return one line for each of ``paths`` that is not in the style and each line in them that is too long."""
    found = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if formatted(path) != text:
            found.append(f"{path}: not in the style of .clang-format (python tools/format_kernels.py puts it there)")
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > LONGEST_LINE:
                found.append(f"{path}:{number}: {len(line)} characters, {LONGEST_LINE} at most")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Format the files, or check them; the exit code is 1 where something is left to do."""
    parser = argparse.ArgumentParser(description="the layout of the kernels")
    parser.add_argument("--check", action="store_true", help="change nothing, name what is not in the style")
    parser.add_argument("files", nargs="*", type=Path, help="instead of all kernels")
    given = parser.parse_args(arguments)
    paths = given.files or kernel_files()
    if not given.check:
        for path in paths:
            text = formatted(path)
            if text != path.read_text(encoding="utf-8"):
                path.write_text(text, encoding="utf-8")
                print(f"formatted {path}")
    problems = objections(paths)
    print("\n".join(problems) or f"{len(paths)} kernel files are in the style")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
