"""Memory that emulated devices of one process write into."""

from __future__ import annotations

from typing import Any

import numpy as np


class SimtMemory:
    """Memory of one emulated device that others write into: they see it at the same address."""

    def __init__(self, runtime: Any, nbytes: int) -> None:
        self.array = runtime.zeros(nbytes, np.uint8)
        self.handle = runtime.pointer(self.array)
        self.opened: list[int] = []

    def open(self, handle: int) -> int:
        """Return the address."""
        self.opened.append(handle)
        return handle

    def close(self) -> None:
        """Forget what was opened."""
        self.opened.clear()

    def free(self) -> None:
        """Forget the memory."""
        assert not self.opened
        self.array = np.empty(0, np.uint8)
