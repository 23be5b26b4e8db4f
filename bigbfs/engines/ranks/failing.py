"""Ranks that have all failed, over a file or an id that none of them can use, leave in order.

Who aborts has the library and the launcher say so, behind what the user is to read. So a rank that fails tells the
others its exit code and what it has to say. Where all do so within a second none has to be ended. Else at least one is
at work, or has gone, and whoever has failed ends them all, as it must.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from typing import Any, NamedTuple

from bigbfs.engines.ranks import ending

AGREE_SECONDS = 1.0
"""How long a rank that fails waits for the others to do so, too."""

_FORM = "=qQ"

_pending: list[tuple[Any, bytes, bytearray]] = []
"""What others may write to still, until this process ends."""


class Failed(NamedTuple):
    """What all ranks have failed with: the exit code, that of rank 0, and whether this rank has to say something that
    rank 0 has not."""

    code: int
    speaks: bool
    alike: bool


def all_failed(code: int, text: str) -> Failed | None:
    """Tell the other ranks of a world of MPI's that this one ends with ``code`` and says ``text``; None: not all do."""
    found = ending.library_of_ranks()
    if found is None:
        return None
    world = found.COMM_WORLD  # in which nothing else is told once ranks have joined
    mine, told = struct.pack(_FORM, code, zlib.crc32(text.encode())), bytearray(world.size * struct.calcsize(_FORM))
    request = world.Iallgather([mine, found.BYTE], [told, found.BYTE])
    if not _done(request):
        _pending.append((request, mine, told))
        return None
    said = list(struct.iter_unpack(_FORM, told))
    alike = len({words for _, words in said}) == 1
    return Failed(said[0][0], world.rank == 0 or said[world.rank][1] != said[0][1], alike)


def leave_together() -> bool:
    """Leave MPI with all others, which have failed, too; False: one of them does not come."""
    found = ending.library_of_ranks()
    if found is None or not _done(found.COMM_WORLD.Ibarrier()):
        return False
    ending.limit(ending.ABORT_SECONDS)
    found.Finalize()
    ending.no_limit()
    return True


def _done(request: Any) -> bool:
    """Return whether ``request`` is done in time."""
    deadline = time.monotonic() + AGREE_SECONDS
    while not request.Test():
        if time.monotonic() > deadline:
            return False
        os.sched_yield()
    return True
