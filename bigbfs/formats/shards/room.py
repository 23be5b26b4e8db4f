"""Refusing what a disk has not the room for, before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

from bigbfs.errors import DoesNotFitError
from bigbfs.sizes import size_allowed, size_needed


def require_room(output: Path, need: int, what: str) -> None:
    """Refuse to write ``need`` bytes where there is no room for them; ``what`` says it of them: "the graph takes".

    ``output``: a file that may not be there yet, or a folder that is.

    Raises
    ------
    DoesNotFitError
        Names the output, what is needed and what is free.
    """
    status = os.statvfs(output if output.is_dir() else output.parent)
    free = status.f_bavail * status.f_frsize
    if need > free:
        raise DoesNotFitError(
            f"{output}: {what} {size_needed(need)}, and {size_allowed(free)} are free there",
            remedies=("free some", ("output", None, "write elsewhere ({})")),
        )
