"""What opening a graph whose vertices have names looks at: that the sections of names lead through all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.formats.container import layout


def require_names(blob: np.ndarray, ptr: np.ndarray, firsts: np.ndarray, n: int, path: Path) -> None:
    """Refuse sections of ``n`` names that do not lead through all of them.

    Raises
    ------
    FormatError
        Names the section.
    """
    for name, array, end in zip(layout.NAMES[1:], (ptr, firsts), (len(blob), n), strict=True):
        if (int(array[0]), int(array[-1])) != (0, end):
            raise FormatError(
                f"{path}: {name} runs from {array[0]} to {array[-1]} instead of 0 to {end}; "
                "convert the graph again or fetch the file again"
            )
