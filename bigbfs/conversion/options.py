"""ConvertOptions: everything that decides what graph an input becomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bigbfs.errors import UsageError
from bigbfs.graph.flags import GraphFlags

ORDERS = ("original", "degree", "bfs", "rcm")


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """Options of a conversion.

    Attributes
    ----------
    directed
        Store every edge as given; else both ways.
    in_edges
        A directed graph also stores the in-neighbours of every vertex (bottom-up search needs them).
    keep_duplicates
        Store an edge as often as it is given; else once.
    keep_self_loops
        Store self-loops, once each (also in an undirected graph, as GAP, NetworkX and SciPy count them).
    keep_ids
        Vertices are 0 to the largest id; else those that occur or are declared.
    order
        ``"original"``: vertices in ascending order of id; ``"degree"``: by descending degree, ties by id; ``"bfs"``:
        breadth-first; ``"rcm"``: reverse Cuthill-McKee.
    compressed
        Also write the .ccsr.
    format
        Name of the input format; None: by suffix and content.
    skip_bad_lines
        Bad lines of text that may be skipped (they are counted).
    memory
        Bytes that the process may take; None: half of what is free. What does not fit is sorted on disk.
    tmp
        Folder for temporary files of such a conversion; None: that of the output.
    force
        Convert again although the output is up to date.
    threads
        Threads to use; None: one for each CPU that this process may use.
    progress
        Show progress bars on a terminal.
    """

    directed: bool = False
    in_edges: bool = True
    keep_duplicates: bool = False
    keep_self_loops: bool = False
    keep_ids: bool = False
    order: str = "original"
    compressed: bool = False
    format: str | None = None
    skip_bad_lines: int = 0
    memory: int | None = None
    tmp: Path | None = None
    force: bool = False
    threads: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UsageError(f"order {self.order!r} is unknown: choose one of {', '.join(ORDERS)}")
        if self.skip_bad_lines < 0:
            raise UsageError(f"skip_bad_lines is {self.skip_bad_lines}; it counts lines and cannot be negative")

    def identity(self) -> dict[str, Any]:
        """Return the options that change the graph, for the record kept in the file."""
        return {
            "directed": self.directed,
            "in_edges": self.directed and self.in_edges,
            "keep_duplicates": self.keep_duplicates,
            "keep_self_loops": self.keep_self_loops,
            "keep_ids": self.keep_ids,
            "order": self.order,
            "format": self.format,
            "skip_bad_lines": self.skip_bad_lines,
        }

    def flags(self, *, symmetric: bool, self_loops: int) -> GraphFlags:
        """Return the flags of the graph; ``self_loops`` lines of the input are loops."""
        return GraphFlags(
            directed=self.directed,
            symmetric=symmetric,
            deduplicated=not self.keep_duplicates,
            loops_removed=not self.keep_self_loops or self_loops == 0,
            relabelled=self.order != "original",
        )
