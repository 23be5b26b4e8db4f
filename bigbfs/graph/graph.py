"""Graph: a memory-mapped or in-memory CSR, plain or compressed, with what is known about it.

Vertices are 0..n-1 inside; ``labels`` maps them to the original ids where those differ. Every array is read-only
by convention; a graph that came from a file is mapped, never copied.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from bigbfs.errors import ArgumentError, FormatError, InputError, UsageError
from bigbfs.graph.adjacency import Adjacency, PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.for_networkx import ForNetworkx
from bigbfs.graph.keeping import KeptInFile
from bigbfs.graph.names import Names
from bigbfs.sizes import counted, switch


class Graph(KeptInFile, ForNetworkx):
    """A graph of ``n`` vertices and ``m`` stored (directed) edges.

    Parameters
    ----------
    adjacency
        Out-neighbours of every vertex.
    flags
        What is known of the edges.
    labels
        int64, shape (n,): original id of each vertex; None when they are ``first_id`` to ``first_id + n - 1``.
    first_id
        Original id of vertex 0 where there are no ``labels`` (1 for the 1-based formats).
    in_adjacency
        In-neighbours, for a directed graph that stores them.
    names
        Names of the vertices: the original id r is the r-th of them in byte order. None where ids are integers.
    m
        Stored edges, when known (a compressed adjacency has to count them otherwise).
    path
        File that the arrays are mapped from.
    close
        Called once by :meth:`close`.
    """

    def __init__(
        self,
        adjacency: Adjacency,
        flags: GraphFlags | None = None,
        *,
        labels: np.ndarray | None = None,
        first_id: int = 0,
        in_adjacency: Adjacency | None = None,
        names: Names | None = None,
        m: int | None = None,
        path: Path | None = None,
        close: Callable[[], None] | None = None,
    ) -> None:
        self._adjacency: Adjacency | None = adjacency
        self.flags = flags or GraphFlags()
        self.labels = labels
        self.first_id = first_id
        self.names = names
        self._in_adjacency = adjacency if self.flags.symmetric else in_adjacency
        self.n = adjacency.n
        self.m = adjacency.m if m is None else m
        self.path = path
        self._close = close
        self._sound = False
        self._valid = False

    @property
    def adjacency(self) -> Adjacency:
        """Out-neighbours of every vertex.

        Raises
        ------
        UsageError
            The graph has been closed.
        """
        if self._adjacency is None:
            raise UsageError(f"{self.path or 'graph'}: the graph has been closed; open it again")
        return self._adjacency

    @property
    def in_adjacency(self) -> Adjacency | None:
        """In-neighbours of every vertex: the same as ``adjacency`` if symmetric, None where they are not known."""
        _ = self.adjacency  # refuses a closed graph
        return self._in_adjacency

    @property
    def codec(self) -> str:
        """``"plain"`` or ``"varint"``."""
        return self.adjacency.codec

    @property
    def ids(self) -> np.dtype:
        """Dtype of a vertex id: uint32 or uint64."""
        return self.adjacency.ids

    def degrees(self) -> np.ndarray:
        """Return the (out-)degree of every vertex: int64, shape (n,)."""
        return self.adjacency.degrees()

    def compress(self) -> Graph:
        """Return the same graph with delta-varint rows (itself if it has them); FormatError where it is damaged."""
        from bigbfs.graph import varint

        if self.codec == "plain":
            self.require_valid()  # the encoder goes where the offsets say
        return self._with(varint.encode)

    def decompress(self) -> Graph:
        """Return the same graph with plain rows (itself if it has them)."""
        from bigbfs.graph import varint

        if self.codec == "varint":
            self.require_structure()  # decoding looks at the rows, not at labels
        try:
            return self._with(varint.decode)
        except FormatError as error:
            raise FormatError(f"{self.path}: {error}" if self.path else str(error)) from None

    def _with(self, recode: Callable[[Adjacency], Adjacency]) -> Graph:
        forward = recode(self.adjacency)
        if forward is self.adjacency:
            return self
        backward = None
        if not self.flags.symmetric and self.in_adjacency is not None:
            backward = recode(self.in_adjacency)
        ids = {"labels": self.labels, "first_id": self.first_id, "names": self.names}
        made = Graph(forward, self.flags, in_adjacency=backward, m=self.m, **ids)  # type: ignore[arg-type]
        made.declare_valid()  # encoding is asked for valid rows, decoding checks every one
        return made

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        indices: Any,
        *,
        labels: Any = None,
        directed: bool | None = None,
        ids: Any = None,
    ) -> Graph:
        """Make a graph of the CSR arrays ``indptr`` (n + 1) and ``indices`` (m), sorting rows where they are not.

        What the flags say is found by looking at the edges: O(m). Integer arrays of the right dtype (uint64,
        uint32) whose rows are sorted are used in place; nobody may write to them afterwards.

        Parameters
        ----------
        directed
            True: edges are one-way. False: every edge must have its twin. None: whichever the edges show.
        ids
            Dtype of a vertex id, uint32 or uint64; None for the narrow one while it suffices.

        Raises
        ------
        InputError
            The arrays are no CSR, an index is out of range, or ``directed=False`` and an edge lacks its twin.
        """
        from bigbfs.graph import rows

        directed = None if directed is None else switch("directed", directed)
        adjacency = rows.plain_adjacency(indptr, indices, ids=ids)
        found = rows.inspect(adjacency)
        if directed is False and not found.symmetric:
            raise InputError("from_csr: directed=False, but some edge lacks its twin; pass both directions or True")
        names = None
        relabelled = False
        if labels is not None:
            names = rows.label_array(labels, adjacency.n)
            relabelled = bool((np.diff(names) < 0).any())
        flags = GraphFlags(
            directed=(not found.symmetric) if directed is None else directed,
            symmetric=found.symmetric,
            sorted=True,
            deduplicated=not found.duplicates,
            loops_removed=not found.loops,
            relabelled=relabelled,
        )
        made = cls(adjacency, flags, labels=names)
        made.declare_valid()  # ``plain_adjacency`` has looked at every edge
        return made

    @classmethod
    def from_scipy(cls, matrix: Any, *, directed: bool | None = None) -> Graph:
        """Make a graph of a square SciPy sparse matrix or array; an entry (i, j) is the edge i -> j.

        Raises
        ------
        ArgumentError
            It is something else, a dense array for example.
        InputError
            It is not square, or as :meth:`from_csr`.
        """
        if not hasattr(matrix, "tocsr"):
            what = "must be a SciPy sparse matrix or array: scipy.sparse.csr_array(matrix) makes one of a dense array"
            raise ArgumentError(what, about=(("matrix", matrix),))
        csr = matrix.tocsr()
        if csr.ndim != 2:
            raise InputError(f"from_scipy: the array has {counted(csr.ndim, 'dimension')}; an adjacency matrix has 2")
        rows, columns = csr.shape
        if rows != columns:
            raise InputError(f"from_scipy: the matrix is {rows} x {columns}; an adjacency matrix is square")
        return cls.from_csr(csr.indptr, csr.indices, directed=directed)

    def to_scipy(self) -> Any:
        """Return the plain adjacency as a ``scipy.sparse.csr_array`` of ones; SciPy must be installed.

        Row and column ``v`` are the vertex ``v``, whose original id is ``graph.original(v)``. Ones are int8, and int64
        where edges may be stored more than once: SciPy adds them up. Its arrays are its own.
        """
        from scipy.sparse import csr_array

        plain = self.decompress().adjacency
        assert isinstance(plain, PlainAdjacency)
        dtype = np.int32 if max(self.m, self.n) < 2**31 else np.int64
        ones = np.ones(self.m, np.int8 if self.flags.deduplicated else np.int64)
        return csr_array((ones, plain.indices.astype(dtype), plain.indptr.astype(dtype)), shape=(self.n, self.n))

    def close(self) -> None:
        """Let go of the file that the arrays are mapped from; a graph in memory is not affected.

        The file is unmapped at once, or, where an array taken from the graph is still in use, when the last such
        array is gone: none can ever point at unmapped memory. Closing again does nothing.
        """
        if self._close is not None:
            closing, self._close = self._close, None
            self._adjacency = self._in_adjacency = self.labels = self.names = None
            self.__dict__.pop("_ascending", None)
            closing()

    def require_structure(self) -> None:
        """Check offsets, block tables, the number of edges and labels, not the rows themselves. O(n), once, no Numba.

        Enough for kernels that look at every id before they follow it, as those of a GPU do.

        Raises
        ------
        FormatError
            Names the first place that is wrong.
        """
        if self._sound:
            return
        from bigbfs.graph import structure

        name = str(self.path or "graph")
        structure.require_offsets(self.adjacency, name)
        if self.adjacency.m != self.m:
            raise FormatError(f"{name}: {self.m} edges in the header, {self.adjacency.m} in the rows; convert it again")
        if self.in_adjacency is not None and not self.flags.symmetric:
            structure.require_offsets(self.in_adjacency, f"{name} (in-neighbours)")
        if self.labels is not None and self.n:
            labels = np.asarray(self.labels)
            different = structure.all_different if self.flags.relabelled else structure.ascending
            if int(labels.min()) < 0 or not different(labels):
                raise FormatError(f"{name}: corrupted: labels are not {self.n} different ids; convert the graph again")
        self._sound = True

    @property
    def proved(self) -> bool:
        """Whether every edge has been looked at (``require_valid``)."""
        return self._valid

    def declare_valid(self) -> None:
        """Note that every edge has been looked at elsewhere, by the rules of ``require_valid``."""
        self._sound = self._valid = True

    def require_whole(self) -> None:
        """Refuse a graph of which this process has a part of the rows: shards that ranks have opened. Here: all are."""

    def require_valid(self) -> None:
        """Check that no kernel can leave the arrays: offsets and rows ascend, every id is a vertex. O(n + m), once.

        Opening a file does not look at the edges; whoever is about to traverse them calls this first.

        Raises
        ------
        FormatError
            Names the first place that is wrong.
        """
        if self._valid:
            return
        self.require_structure()
        self.require_rows()
        self._valid = True

    def require_rows(self) -> None:
        """Do the part of ``require_valid`` that looks at every edge, whether it has been done or not.

        Raises
        ------
        FormatError
            Names the first place that is wrong.
        """
        from bigbfs.graph import rows

        name = str(self.path or "graph")
        rows.require_ids(self.adjacency, name)
        if self.in_adjacency is not None and not self.flags.symmetric:
            rows.require_ids(self.in_adjacency, f"{name} (in-neighbours)")

    def __enter__(self) -> Graph:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        kind = "directed" if self.flags.directed else "undirected"
        encoding = "closed" if self._adjacency is None else f"{self.codec} {self.ids}"
        return f"<Graph {self.path or ''} n={self.n} m={self.m} {kind} {encoding}>"


def open(path: str | Path) -> Graph:
    """Open a graph file, mapped in place.

    Parameters
    ----------
    path
        A .csrbin or .ccsr container, a raw ``u64 n, u64 m, i64 row_ptr, i32 col_idx`` .csrbin, or a GAP .sg.

    Raises
    ------
    FormatError
        It is not a graph file, is cut short, corrupted, or of a newer version.
    FileAccessError
        It cannot be read.
    """
    return Graph.open(path)
