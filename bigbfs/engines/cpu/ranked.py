"""The CPU engine of one rank of several: the graph file is mapped whole, and worked on are the rows that it owns. Of
shards a rank has its own alone (:mod:`bigbfs.engines.cpu.sharded`).

Every rank makes the same engine and runs the same work in the same order. What is placed beside the rows (heads, state)
is for own vertices; bitmaps, and a byte for each vertex while heads are chosen, are for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bigbfs.engines.cpu.common_survey import CommonSurvey
from bigbfs.engines.cpu.engine import CpuEngine
from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.cpu.ranked_survey import RankSurvey
from bigbfs.engines.cpu.rows import Rows, row_count, row_lengths, seek, step
from bigbfs.engines.cpu.sharded import ShardedGraph
from bigbfs.engines.engine import Work
from bigbfs.engines.ranks import partition
from bigbfs.engines.ranks.commons import seen_by_all
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import WHOLE, Partition
from bigbfs.engines.ranks.same_file import require_one_file
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.jit import settings
from bigbfs.jit.njit import njit
from bigbfs.jit.processors import processors
from bigbfs.jit.workers import Workers
from bigbfs.record import SetupRecord

AUTO, COMMON, MESSAGES = "auto", "common", "messages"
"""How ranks tell one another: on one machine nothing, since all see one state; else as predicted, by messages."""

_ROW = 32
"""Neighbours of a sampled row that are looked at."""


class RankedGraph(PlacedGraph):
    """A graph on one rank.

    Parameters
    ----------
    graph, threads, setup
        As for :class:`PlacedGraph`.
    group
        The ranks.
    kind
        The partition: one of :data:`bigbfs.engines.ranks.partition.KINDS`.

    Attributes
    ----------
    group, partition, workers
        The ranks, who owns what, and this rank's threads.
    exchange
        How ranks are told what is visited; None: as predicted.
    common
        Whether ranks work on one state that all of them see.
    """

    def __init__(
        self, graph: Graph, threads: int, setup: SetupRecord, group: Group, kind: str, exchange: str | None
    ) -> None:
        super().__init__(graph, threads, setup)
        self.group, self.exchange = group, exchange
        self.workers = Workers(threads)
        self.partition: Partition = _partition(graph, self.out, group.size, kind)
        self._own_survey: RankSurvey | None = None
        self._common_survey: CommonSurvey | None = None
        self.common: bool = exchange in (None, COMMON) and self.partition.kind != "shards" and seen_by_all(group)
        if exchange == COMMON and not self.common:
            raise UsageError(
                "ranks that open shards, are on several machines or share no memory cannot work on one state",
                remedies=(("exchange", MESSAGES, "let them send messages: {}"),),
            )

    def survey(self) -> CommonSurvey:
        """Return the survey of all in-rows that ranks share, or of all out-rows where there are none.

        Raises
        ------
        FormatError
            Ids are no vertices.
        DoesNotFitError
            The machine does not give so much memory to share.
        """
        if self._common_survey is None:
            rows = self.out if self.incoming is None else self.incoming
            self._common_survey = CommonSurvey(rows, self.ids, self.threads, self.group)
        self.require_vertices(self._common_survey.faults)
        return self._common_survey

    def own_survey(self) -> RankSurvey:
        """Return the survey of own in-rows, or of own out-rows where there are none.

        Raises
        ------
        FormatError
            Ids are no vertices, on any rank.
        """
        if self._own_survey is None:
            rows = self.out if self.incoming is None else self.incoming
            part = self.partition.part(self.group.rank)
            apart = (self.partition, self.group) if self.partition.kind == "shards" else None
            self._own_survey = RankSurvey(rows, part, self.ids, self.workers, self.threads, apart)
        self.require_vertices(int(self.group.sum([self._own_survey.faults])[0]))
        return self._own_survey

    @property
    def every_row(self) -> tuple[Rows, ...]:
        """Out-rows, and in-rows where they are others."""
        return (self.out,) if self.incoming is None or self.incoming is self.out else (self.out, self.incoming)

    @property
    def surveyed(self) -> bool:
        """Whether the survey has been made."""
        return (self._common_survey if self.common else self._own_survey) is not None

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, which ranks of one machine share, and of the survey."""
        survey = sum(each.nbytes for each in (self._own_survey, self._common_survey) if each is not None)
        rows = self.graph.bytes_here if isinstance(self.graph, ShardedGraph) else super().nbytes
        return rows + survey


class RankedEngine(CpuEngine):
    """One graph on the CPUs of several ranks; parameters of :class:`CpuEngine`, and these.

    Parameters
    ----------
    group
        The ranks.
    partition
        ``"auto"``, ``"words"`` or ``"ranges"``.
    exchange
        How ranks tell each other what is visited: ``"auto"``, ``"common"``, ``"messages"``, or a kind of these that an
        algorithm over ranks has.

    Raises
    ------
    UsageError
        The work has no form over ranks, or ranks have opened different files.
    """

    backend = "cpu"

    def __init__(
        self,
        graph: Graph,
        *,
        group: Group,
        work: Sequence[Work] = (),
        threads: int | None = None,
        partition: str = "auto",
        exchange: str = "auto",
    ) -> None:
        for each in work:
            require_ranks(each)
        if not isinstance(graph, ShardedGraph):  # those are compared when they are opened
            require_one_file(graph, group)
        share = min(max(1, processors() // group.host_size), settings.most_threads())
        super().__init__(graph, work=(), threads=share if threads is None else threads)
        told = None if exchange == AUTO else exchange
        self.group = group
        self._placed = RankedGraph(graph, self.threads, self.setup, group, partition, told)
        ranks = f"{group.size} rank{'s' if group.size > 1 else ''}"
        places = len(set(group.machines))
        self.device = f"{self.device} on each of {ranks}" + (f" of {places} hosts" if places > 1 else "")

    def close(self) -> None:
        """Let go of the graph, of the state and of the threads."""
        if isinstance(self._placed, RankedGraph):
            self._placed.workers.close()
        super().close()

    def run(self, work: Work) -> Any:
        """Run ``work``, all ranks together; the arrays of the result are on rank 0."""
        return self.program(work).run(work)

    def program(self, work: Work) -> Any:
        """Return the program that runs ``work``, made if need be."""
        placed, key = self.placed, ("ranks", work.key)
        program = self._programs.get(key)
        if program is None:
            require_ranks(work)
            program = self._programs[key] = work.program("ranks", "host")(placed, work)
        program.warm(work)
        self._count_bytes()
        return program


def require_ranks(work: Any) -> None:
    """Refuse work that has no form over ranks.

    Raises
    ------
    UsageError
        Names it.
    """
    work.require_backend("cpu", "host")
    if "ranks" not in work.programs:
        raise UsageError(f"{work.called} does not run on several ranks")


def _partition(graph: Graph, rows: Rows, size: int, kind: str) -> Partition:
    """Return who owns what of ``graph``: of shards, whoever has them."""
    if not isinstance(graph, ShardedGraph):
        return partition.choose(np.asarray(rows.indptr), sample(rows), size, kind)
    refuse_words(kind)
    return graph.partition


def refuse_words(kind: str) -> None:
    """Refuse to deal words of shards, and all rows for each rank.

    Raises
    ------
    UsageError
        That partition is asked for.
    """
    if kind in ("words", WHOLE):
        what = "a rank owns the rows of its shards, which are ranges; leave it out, or join the shards"
        raise UsageError(what, about=(("partition", kind),))


def sample(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of some edges, of rows spread evenly over the vertices: int64 both."""
    n = row_count(rows)
    picked = np.unique(np.linspace(0, max(0, n - 1), min(partition.SAMPLE, n)).astype(np.int64))
    lengths = np.minimum(row_lengths(rows, picked), _ROW) if len(picked) else picked
    neighbours = np.empty(int(lengths.sum()), np.int64)
    sample_neighbours(rows, picked, lengths, neighbours)
    return np.repeat(picked, lengths), np.minimum(neighbours, max(0, n - 1))


@njit(nogil=True, cache=True)
def sample_neighbours(rows, picked, lengths, neighbours):
    """Write the first ``lengths[i]`` neighbours of each vertex ``picked[i]``."""
    at = 0
    for i in range(len(picked)):
        u = np.uint64(picked[i])
        position = seek(rows, u, np.uint64(0))
        v = np.uint64(0)
        for k in range(np.uint64(lengths[i])):
            v, position = step(rows, position, k, v)
            neighbours[at] = np.int64(v)
            at += 1
