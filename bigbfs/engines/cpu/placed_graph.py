"""A graph as CPU programs see it: rows where they lie, and the survey of heads that several of them share."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import numpy as np

from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import Rows, rows_of
from bigbfs.errors import FormatError
from bigbfs.graph.graph import Graph
from bigbfs.jit.kinds import kind_of
from bigbfs.record import SetupRecord

_COMPILED: set[Hashable] = set()
"""What has been compiled in this process: kernels keep what they were compiled for, whoever had it done."""


class PlacedGraph:
    """A graph on the CPU.

    Parameters
    ----------
    graph
        Plain or compressed.
    threads
        Threads that programs use.
    setup
        Where seconds of compiling and placing are added up.

    Attributes
    ----------
    graph, threads
        As given.
    out
        Its rows.
    incoming
        In-neighbours: ``out`` itself for a symmetric graph, None where a directed graph does not store them.
    """

    def __init__(self, graph: Graph, threads: int, setup: SetupRecord) -> None:
        self.graph, self.threads = graph, threads
        self.out: Rows = rows_of(graph.adjacency)
        self.incoming: Rows | None = self.out
        if graph.in_adjacency is not graph.adjacency:
            self.incoming = None if graph.in_adjacency is None else rows_of(graph.in_adjacency)
        self._setup = setup
        self._survey: Survey | None = None
        self._plain: Graph | None = None

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.graph.n

    @property
    def ids(self) -> np.dtype:
        """Dtype of an id."""
        return self.graph.ids

    @property
    def surveyed(self) -> bool:
        """Whether the survey has been made."""
        return self._survey is not None

    def survey(self) -> Survey:
        """Return the survey of the in-rows, or of the out-rows where there are none.

        Raises
        ------
        FormatError
            Ids are no vertices.
        """
        if self._survey is None:
            self._survey = Survey(self.out if self.incoming is None else self.incoming, self.ids, self.threads)
        self.require_vertices(self._survey.faults)
        return self._survey

    def require_vertices(self, faults: int) -> None:
        """Refuse rows in which ``faults`` ids were met that are no vertices.

        Raises
        ------
        FormatError
            There were any.
        """
        if faults:
            raise FormatError(
                f"{self.graph.path or 'the graph'}: at least {faults} neighbour ids read are no vertices (not below "
                f"{self.graph.n}): the file is damaged; `bigbfs check` says where"
            )

    def plain(self) -> Graph:
        """Return the graph with plain rows, decoded once."""
        if self._plain is None:
            self._plain = self.graph.decompress()
        return self._plain

    @property
    def nbytes(self) -> int:
        """Bytes of the rows and the survey."""
        rows = self.out + ((self.incoming or ()) if self.incoming is not self.out else ())
        return sum(part.nbytes for part in (*rows, self._survey) if part is not None)

    @contextmanager
    def compiling(self, *what: Hashable) -> Iterator[bool]:
        """Say whether the kernels of ``what`` are to be run on sample rows, so that they get compiled, inside.

        They are once in a process for each kind of rows; the seconds are added to ``setup.compile``.
        """
        key = (*what, kind_of(self.out), self.incoming is None, self.ids.str)
        with self.clock("compile"):
            yield key not in _COMPILED
        _COMPILED.add(key)

    @contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Add the seconds spent inside to ``setup.name``."""
        start = time.perf_counter()
        yield
        setattr(self._setup, name, getattr(self._setup, name) + time.perf_counter() - start)
