"""What a rank says of its setup, for whoever wants to know where it stands, and when each step began and ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[str], None]
"""Is told each step."""


def silent(text: str) -> None:
    """Say nothing."""


class Timed:
    """Tells ``tell`` each step, with the seconds that have passed since it was made."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self.began = tell, time.perf_counter()

    def __call__(self, text: str) -> None:
        """Say that something is so now."""
        self._tell(f"{time.perf_counter() - self.began:.3f} s: {text}")

    def said(self, text: str, begin: float, end: float) -> None:
        """Say of a step, which may have been beside others, when it began and ended, by ``time.perf_counter``."""
        self(f"{text}: {begin - self.began:.3f} to {end - self.began:.3f} s")


def timed(tell: Tell) -> Tell:
    """Return what tells ``tell`` each step, with the seconds that have passed since now."""
    return silent if tell is silent else Timed(tell)


def say(tell: Tell, text: str, begin: float, end: float) -> None:
    """Say when a step began and ended, where ``tell`` knows of times."""
    if isinstance(tell, Timed):
        tell.said(text, begin, end)


@contextmanager
def step(tell: Tell, text: str) -> Iterator[None]:
    """Say of what is done inside when it began and ended."""
    begin = time.perf_counter()
    yield
    say(tell, text, begin, time.perf_counter())
