"""Who compiles a kernel: one process at a time, while others that want the same one wait, and load what it has made.

A claim is a lock on a byte of a file beside the machine code; which byte follows from the name of the machine code's
file. The system ends the claims of a process that ends. Nothing depends on them: where a file system has no locks, and
after ``PATIENCE`` seconds, a process compiles what another may be at, too.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from bigbfs.jit.kernel_cache import KernelFiles

PATIENCE = 60.0
"""Seconds that one waits for what others compile."""
GLANCE = 0.005
"""Seconds between two looks whether they are done."""


def claim(path: Path) -> bool:
    """Claim the machine code that is to lie at ``path``; False: another process has. Without locks everybody may."""
    file = _lock_file(path.parent)
    if file is None:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(path))
    except BlockingIOError:
        return False
    except OSError:  # a file system that has none
        return True
    return True


def release(path: Path) -> None:
    """End the claim on ``path``."""
    file = _lock_file(path.parent)
    if file is not None:
        with suppress(OSError):  # as above
            fcntl.lockf(file, fcntl.LOCK_UN, 1, _place(path))


def _place(path: Path) -> int:
    return int.from_bytes(hashlib.sha256(path.name.encode()).digest()[:7], "little")


@cache
def _lock_file(folder: Path) -> int | None:
    """Return the open file whose bytes are locked; open as long as the process, since closing it ends its locks."""
    with suppress(OSError):
        return os.open(folder / "compiling.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return None


class ClaimedFiles(KernelFiles):
    """Those of a function that Numba asks for: it compiles what ``load`` does not find, inside :meth:`alone`."""

    def __init__(self, folder: Path, name: str, place: object, state: object, dump: Any) -> None:
        super().__init__(folder, name, place, state, dump)
        self._claimed: list[Path] = []

    def load(self, key: Any) -> Any:
        """Return what was saved for ``key``, by a process that is at it now too; None: it is for this one to make."""
        found = super().load(key)
        if found is not None:
            return found
        path, give_up = self.path(key), time.monotonic() + PATIENCE
        while not (mine := claim(path)) and time.monotonic() < give_up:
            time.sleep(GLANCE)
        if mine:
            self._claimed.append(path)
        return super().load(key)

    def alone(self, compile_it: Callable[[Any], Any], lock: Any) -> Callable[[Any], Any]:
        """Return ``compile_it``, which calls ``load`` and ``save``, with its claims ended when it has, or has failed.

        Under Numba's ``lock`` from the beginning: one thread of a process has claims, and needs nothing to go on.
        """

        def compiled(signature: Any) -> Any:
            with lock:
                before = len(self._claimed)
                try:
                    return compile_it(signature)
                finally:
                    while len(self._claimed) > before:
                        release(self._claimed.pop())

        return compiled
