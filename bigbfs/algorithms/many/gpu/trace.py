"""What the launches of a batch of searches did, for those who tune."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """What one launch, or the launches of a level, did.

    Attributes
    ----------
    how, spread
        ``"top-down"`` or ``"bottom-up"``; there, how many sources were spread top-down before.
    level, levels
        Of the frontier that it began with, and how many levels it ran.
    count, edges, left
        Of that frontier: vertices, edges of their rows; edges of vertices that lacked a source when last counted.
    read
        Ids read from rows.
    file
        Bytes read from the file.
    seconds
        Wall time.
    """

    how: str
    spread: int
    level: int
    levels: int
    count: int
    edges: int
    left: int
    read: int
    file: int
    seconds: float
