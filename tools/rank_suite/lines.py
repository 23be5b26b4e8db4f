"""The file of results: one JSON line for each measurement, appended as soon as it is there; the last one counts.

A run that is started again leaves alone what the file has already: the same work on the same graph by as many ranks, of
the same commit on the same machine. What was left out or failed is tried again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bigbfs.errors import FormatError

Key = tuple[str, str, str, int]
"""Section, row, work, ranks."""

SAME = ("commit", "asked")
SAME_MACHINE = ("processor", "cores", "memory_bytes", "gpus")


def key_of(line: dict[str, Any]) -> Key:
    """Return what ``line`` is about."""
    return line["section"], line["row"], line["work"], line["ranks"]


def read(paths: Iterable[Path]) -> dict[Key, dict[str, Any]]:
    """Return the last line about each measurement in the files ``paths``, those that exist.

    Raises
    ------
    FormatError
        A line is none of these (names it).
    """
    found: dict[Key, dict[str, Any]] = {}
    for path in paths:
        if not path.exists():
            continue
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                line = json.loads(text)
                found[key_of(line)] = line
            except (ValueError, TypeError, KeyError):
                problem = f"{path}, line {number}: no row of tools/bench_ranks.py: {text[:60]!r}"
                raise FormatError(f"{problem}; take that line out, or name another --output") from None
    return found


def mend(path: Path) -> None:
    """Cut off a line that was not written to its end: the process was killed over it."""
    if not path.exists():
        return
    written = path.read_bytes()
    whole = written.rfind(b"\n") + 1
    if whole < len(written):
        with path.open("r+b") as stream:
            stream.truncate(whole)


def append(path: Path, line: dict[str, Any]) -> None:
    """Add ``line``."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line, allow_nan=False) + "\n")


def done(line: dict[str, Any], before: dict[str, Any] | None) -> bool:
    """Return whether ``before`` is the measurement that ``line`` is going to be."""
    if before is None or before["status"] != "measured":
        return False
    told = json.loads(json.dumps(line))  # tuples are lists in a file
    here = all(told["machine"][name] == before["machine"][name] for name in SAME_MACHINE)
    return here and all(told[name] == before[name] for name in SAME)
