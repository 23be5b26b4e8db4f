"""Keep of a folder of fuzzed inputs those that lead somewhere new: tests/fuzzing/corpus/TARGET.

    python tools/fuzz_corpus.py --target reader FOLDER

In: inputs, one to a file, as ``tools/fuzz.py --engine atheris --keep`` leaves them. An input is worth keeping where it
takes a step (from one line of the package to the next) that no seed and no smaller input takes; kernels run as Python
for that (NUMBA_DISABLE_JIT=1). Out: those, named by the first 12 digits of their SHA-256. Inputs that are kept
already are weighed with the others: run it again and what is no longer needed goes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz import CORPUS, NAMES, ROOT, digest

PACKAGE = str(ROOT / "bigbfs")
Step = tuple[str, int, int]
"""File, line before (0: the function's beginning), line."""


def main() -> None:
    """Weigh the inputs of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=NAMES, required=True)
    parser.add_argument("folder", type=Path, nargs="*", help="inputs; none: those that are kept already")
    parser.add_argument("--most", type=int, default=64 << 10, help="bytes that may be kept in all")
    options = parser.parse_args()
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    sys.path.insert(0, str(ROOT / "tests"))
    warnings.simplefilter("ignore")
    home = CORPUS / options.target
    home.mkdir(parents=True, exist_ok=True)
    paths = [path for folder in (home, *options.folder) for path in sorted(folder.iterdir())]
    inputs = {path.read_bytes() for path in paths}
    kept = worth_keeping(options.target, sorted(inputs, key=lambda data: (len(data), data)), options.most)
    for path in home.iterdir():
        path.unlink()
    for data in kept:
        (home / digest(data)).write_bytes(data)
    print(f"{options.target}: {len(kept)} of {len(inputs)} inputs kept, {sum(map(len, kept)):,} bytes")


def worth_keeping(target: str, inputs: Iterable[bytes], most: int) -> list[bytes]:
    """Return the inputs that take a step that neither the seeds nor those before them take, ``most`` bytes in all."""
    from fuzzing.seeds import seeds

    known: set[Step] = set()
    for data in seeds(target):
        known |= steps(target, data)
    kept: list[bytes] = []
    for data in inputs:
        taken = steps(target, data)
        if not taken <= known and sum(map(len, kept)) + len(data) <= most:
            known |= taken
            kept.append(data)
    return kept


def steps(target: str, data: bytes) -> set[Step]:
    """Return the steps inside the package that a target takes with ``data``."""
    from fuzzing import targets

    found: set[Step] = set()

    def called(frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGE):
            return None
        before = 0

        def moved(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal before
            if event == "line":
                found.add((name, before, frame.f_lineno))
                before = frame.f_lineno
            return moved

        return moved

    with tempfile.TemporaryDirectory() as folder:
        threading.settrace(called)
        sys.settrace(called)
        try:
            targets.run(target, data, Path(folder))
        finally:
            sys.settrace(None)
            threading.settrace(None)
    return found


if __name__ == "__main__":
    main()
