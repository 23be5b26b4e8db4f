"""What ranks leave behind: processes, files in /dev/shm, files in a folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

SHARED = Path("/dev/shm")


def files() -> set[Path]:
    """Return the files that are there now."""
    return set(SHARED.iterdir())


def left_since(before: set[Path]) -> set[Path]:
    """Return the files that have come since, and stay: those of other tests at work now go within seconds."""
    deadline = time.monotonic() + 20
    while (found := files() - before) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def working_on(path: Path) -> list[int]:
    """Return the processes whose command line names ``path``, or what is in it."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:  # gone
                continue
            if os.fsencode(path) in line:
                found.append(int(folder.name))
    return found


def require_nothing_left(folder: Path, before: set[Path] | None) -> None:
    """Fail where a process works on ``folder``, a file lies in it, or files have come since ``before`` (None: any)."""
    deadline = time.monotonic() + 20
    while working_on(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert working_on(folder) == []
    assert before is None or not left_since(before)
    assert list(folder.iterdir()) == []
