"""What ranks leave in /dev/shm."""

from __future__ import annotations

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
