"""Refusing what a disk has not the room for, before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

from bigbfs.errors import DoesNotFitError
from bigbfs.sizes import size_allowed, size_needed


def require_room(folder: Path, need: int, what: str) -> None:
    """Refuse to write ``need`` bytes where there is no room for them; ``what`` begins the message: "the graph takes".

    Raises
    ------
    DoesNotFitError
        Names the folder, what is needed and what is free.
    """
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if need > free:
        raise DoesNotFitError(
            f"{folder}: {what} {size_needed(need)} there, and {size_allowed(free)} are free",
            remedies=("free some", ("output", None, "write elsewhere ({})")),
        )
