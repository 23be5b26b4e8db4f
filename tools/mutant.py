"""What one planted bug is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One bug: in ``file`` (below bigbfs) ``old`` becomes ``new``; ``suites`` are those that see it, none: all."""

    name: str
    file: str
    old: str
    new: str
    suites: tuple[str, ...] = ()
