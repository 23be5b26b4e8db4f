"""Write the pictures of the documents into docs/images; with ``--check`` only say which are not up to date.

The files are the same to the byte for the same sources and data (tests/tools/test_draw.py).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from drawings import edge, fit, phases, residency, rooms, times
from drawings.canvas import Canvas

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"

PICTURES: dict[str, Callable[[], Canvas]] = {
    "bfs-times.svg": times.draw,
    "does-it-fit.svg": fit.draw,
    "edge.svg": edge.draw,
    "phases.svg": phases.draw,
    "residency.svg": residency.draw,
    "rooms.svg": rooms.draw,
}
"""File in docs/images -> what draws it."""


def main(arguments: list[str] | None = None) -> int:
    """Write or check; the exit code is 1 where ``--check`` finds a difference."""
    parser = argparse.ArgumentParser(description="the pictures of the documents")
    parser.add_argument("--check", action="store_true", help="write nothing, name what is not up to date")
    check = parser.parse_args(arguments).check
    FOLDER.mkdir(exist_ok=True)
    stale = []
    for name, draw in PICTURES.items():
        path, text = FOLDER / name, draw().svg()
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text, encoding="utf-8")
    print("\n".join(f"docs/images/{name}" for name in stale) or "all pictures are up to date")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
