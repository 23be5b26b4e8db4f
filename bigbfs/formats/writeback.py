"""Begin to send what has been written to the disk, so that the ``fsync`` at the end finds little left to wait for."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

_LEAST = 1 << 20
"""Bytes below which it is not worth a call."""
_BEGIN = 2
"""SYNC_FILE_RANGE_WRITE: begin, and wait for nothing. An error stays with the file, for ``fsync`` to tell."""


def start_writeback(handle: int, place: int, length: int) -> None:
    """Have ``length`` bytes of an open file sent to its disk from now on; where no such call is, nothing is done."""
    if length >= _LEAST and (call := _call()) is not None:
        call(handle, place, length, _BEGIN)


@cache
def _call() -> Any:
    """Return Linux's ``sync_file_range``, which Python's os lacks; None elsewhere."""
    found = getattr(ctypes.CDLL(None), "sync_file_range", None) if sys.platform == "linux" else None
    if found is not None:
        found.argtypes = [ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong, ctypes.c_uint]
    return found
