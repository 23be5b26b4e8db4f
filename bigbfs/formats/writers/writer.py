"""Writer: everything that a format which is written says about itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bigbfs.graph.graph import Graph

Progress = Callable[[int], object]
"""Called with the number of edges done since the last call."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: ``lines`` (or stored edges), ``isolated`` vertices that an edge list cannot express."""

    lines: int
    isolated: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Writer:
    """A format that is written.

    Attributes
    ----------
    name
        What ``--to`` takes; the module's name.
    summary
        What a file holds, for help and docs.
    suffix
        Ending that a file gets by default.
    write
        Writes a graph to a stream; the flag asks for both directions of an undirected edge.
    numbered_from
        Number of the first vertex where the format has no place for ids; None where it speaks the original ones.
    most_vertices
        Vertices that it can hold; None: any number.
    one_direction
        Whether an undirected edge is written once, so that both directions can be asked for.
    keeps_names
        Whether the names of vertices are written where there are some.
    require_room
        Refuses a file for which its disk has no room, before it is begun; the flag is that of ``write``.
    """

    name: str
    summary: str
    suffix: str
    write: Callable[[Graph, BinaryIO, bool, Progress], Exported]
    numbered_from: int | None = 0
    most_vertices: int | None = None
    one_direction: bool = False
    keeps_names: bool = False
    require_room: Callable[[Graph, Path, bool], None] = lambda graph, target, both: None
