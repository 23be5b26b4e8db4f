"""A mark that bigbfs leaves beside what it writes: an attribute of the file, with its size and time as they were.

Whoever changes the file changes its time, and so it is no longer what bigbfs wrote; a copy without attributes (cp, a
download) is none of ours either. Where a file system has no attributes for users (Linux: ``user.*`` of ext4, XFS,
Btrfs, overlays of these, tmpfs from 6.6 on) nothing is marked, and the content alone can tell
(:mod:`bigbfs.formats.ours`).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

NAME = "user.bigbfs.wrote"


def _state(status: os.stat_result) -> bytes:
    return f"{status.st_size} {status.st_mtime_ns}".encode()


def set_mark(handle: int) -> None:
    """Mark the open file as one that bigbfs has written, as it is now; where that cannot be, it is left as it is."""
    if hasattr(os, "setxattr"):
        with suppress(OSError):
            os.setxattr(handle, NAME, _state(os.fstat(handle)))


def has_mark(path: Path) -> bool | None:
    """Return whether nobody has changed the file ``path`` since bigbfs wrote it; None: it bears no mark."""
    if not hasattr(os, "getxattr"):
        return None
    try:
        return os.getxattr(path, NAME) == _state(path.stat())
    except OSError:
        return None
