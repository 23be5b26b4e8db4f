"""ConvertOptions: everything that decides what graph an input becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bigbfs.conversion.orders import KEPT, ORDERS
from bigbfs.errors import ArgumentError, UsageError
from bigbfs.formats.container.parts import MOST
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.tables.columns import Columns
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.flags import GraphFlags
from bigbfs.sizes import byte_count, choice, file_path, integer, switch

_OPTIONAL = ("order", "format", "columns", "names", "header", "memory", "tmp", "threads", "shards")
"""Options that may be None."""


def _checked(name: str, value: Any) -> Any:
    """Return the option ``name`` as the type that it has."""
    if name == "order":
        return value if value == KEPT else choice(name, value, ORDERS)
    if name == "format":
        if not isinstance(value, str):
            raise ArgumentError("must be the name of a format", about=((name, value),))
        return value
    if name == "columns":
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise ArgumentError("must be two columns, (1, 2) for example", about=((name, value),))
        return tuple(each if isinstance(each, str) else integer(name, each) for each in value)
    if name == "skip_bad_lines":
        return integer(name, value, 0)
    if name == "threads":
        return integer(name, value, 1)
    if name == "shards":
        return integer(name, value, 1, MOST)
    if name == "memory":
        return byte_count(name, value, of_free=True)
    return file_path(name, value) if name == "tmp" else switch(name, value)


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """Options of a conversion.

    Attributes
    ----------
    directed
        Store every edge as given; else both ways, unless an input says that its edges are one-way.
    undirected
        Store every edge both ways, whatever an input says.
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
        breadth-first; ``"rcm"``: reverse Cuthill-McKee. None: the only input's, where that is a graph file in an
        order of its own (``"kept"`` in the record of the file), else the original one.
    compressed
        Also write the .ccsr.
    format
        Name of the input format; None: by suffix and content.
    skip_bad_lines
        Bad lines of text that may be skipped (they are counted).
    columns
        Columns of an edge list, array or table that hold the ids, from 1 on, or by the names that a table or a header
        line has for them; None: as their names say, or the first two.
    edge_index
        An array of shape (2, edges) holds sources in its first row and targets in its second.
    bipartite
        Both ends of an edge are numbered apart (KONECT ``% bip``, a matrix that is not square): the second side comes
        after the first.
    names
        Read every id as a name, also where it looks like a number; or none, and pass over the list of names beside a
        BVGraph; None: as they look, and by the list where there is one.
    header
        Whether an edge list in lines (CSV) begins with the names of its columns; None: as its first line looks.
    memory
        Bytes that the process may take, or a size like ``"2GiB"`` or ``"50%"`` of what is free; None: half of that.
        What does not fit is sorted on disk.
    tmp
        Folder for temporary files of such a conversion; None: that of the output.
    shards
        Write so many shards, files of a folder, instead of one graph file; None: one file.
    force
        Convert again although the output is up to date, and replace an output that bigbfs did not write.
    threads
        Threads to use; None: one for each CPU that this process may use.
    progress
        Show progress bars on a terminal.
    """

    directed: bool = False
    undirected: bool = False
    in_edges: bool = True
    keep_duplicates: bool = False
    keep_self_loops: bool = False
    keep_ids: bool = False
    order: str | None = None
    compressed: bool = False
    format: str | None = None
    skip_bad_lines: int = 0
    columns: Columns | None = None
    edge_index: bool = False
    bipartite: bool = False
    names: bool | None = None
    header: bool | None = None
    memory: int | None = None
    tmp: Path | None = None
    shards: int | None = None
    force: bool = False
    threads: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        """Check every option, and keep it as what it means.

        Raises
        ------
        ArgumentError, UsageError
            One is of another type, or has a value that cannot work; names it.
        """
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None or each.name not in _OPTIONAL:
                object.__setattr__(self, each.name, _checked(each.name, value))
        if self.directed and self.undirected:
            raise UsageError("exclude each other", about=(("directed", True), ("undirected", True)))
        self.rules()

    @property
    def reordered(self) -> bool:
        """Whether the vertices are in another order than the ascending one of their ids."""
        return self.order not in (None, "original")

    def rules(self) -> Rules:
        """Return what of it decides how an input is read.

        Raises
        ------
        UsageError
            The rules contradict each other.
        """
        return Rules(self.skip_bad_lines, self.columns, self.edge_index, self.bipartite, self.names, self.header)

    def require_direction(self, lists: Sequence[EdgeList]) -> None:
        """Refuse one-way edges where that is learned too late: no pipe can be looked at before it is read.

        Raises
        ------
        UsageError
            An input says that its edges are one-way, and nobody said what the graph is to be.
        """
        if any(edges.one_way for edges in lists) and not self.directed and not self.undirected:
            raise UsageError(
                "standard input says that its edges are one-way ('% asym')",
                remedies=(
                    ("directed", True, "say {} to store them so"),
                    ("undirected", True, "{} to store them both ways"),
                ),
            )

    def identity(self) -> dict[str, Any]:
        """Return the options that change the graph, for the record kept in the file."""
        return {
            "directed": self.directed,
            "in_edges": self.directed and self.in_edges,
            "keep_duplicates": self.keep_duplicates,
            "keep_self_loops": self.keep_self_loops,
            "keep_ids": self.keep_ids,
            "order": self.order or "original",
            "format": self.format,
            "skip_bad_lines": self.skip_bad_lines,
            **{name: list(value) if name == "columns" else value for name, value in self.rules().given().items()},
        }

    def flags(self, *, symmetric: bool, self_loops: int) -> GraphFlags:
        """Return the flags of the graph; ``self_loops`` lines of the input are loops."""
        return GraphFlags(
            directed=self.directed,
            symmetric=symmetric,
            deduplicated=not self.keep_duplicates,
            loops_removed=not self.keep_self_loops or self_loops == 0,
            relabelled=self.reordered,
        )
