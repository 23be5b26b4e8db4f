"""What a rank says of its setup, for whoever wants to know where it stands, and when it did."""

from __future__ import annotations

import time
from collections.abc import Callable

Tell = Callable[[str], None]
"""Is told each step."""


def silent(text: str) -> None:
    """Say nothing."""


def timed(tell: Tell) -> Tell:
    """Return what tells ``tell`` each step, with the seconds that have passed since now."""
    if tell is silent:
        return silent
    began = time.perf_counter()
    return lambda text: tell(f"{time.perf_counter() - began:.3f} s: {text}")
