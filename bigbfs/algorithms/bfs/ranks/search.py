"""The levels of a CPU rank: it works on what it owns (:mod:`.loop` runs them).

:class:`Tells` sends what was visited, claims go out with the level.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.ranks import costs, levels, messages
from bigbfs.algorithms.bfs.ranks.claims import Claims
from bigbfs.algorithms.bfs.ranks.costs import Choice, Forced, Frontier, Size
from bigbfs.algorithms.bfs.ranks.loop import Found, LevelLoop
from bigbfs.algorithms.bfs.ranks.state import Own
from bigbfs.algorithms.bfs.ranks.tells import Tells
from bigbfs.engines.cpu.bits import no_vertices
from bigbfs.engines.cpu.ranked_survey import RankSurvey, stretches
from bigbfs.engines.cpu.rows import Rows, row_count, row_length
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition
from bigbfs.jit.workers import Workers

LEAST_EDGES = 4096
"""Levels of no more edges never pull."""

_ZERO = np.uint64(0)


class RankSearch(LevelLoop):
    """BFS of one rank over its own ``out_rows``, bottom-up over ``in_rows`` where there are any.

    Parameters
    ----------
    group, partition
        The ranks, and who owns what.
    out_rows, in_rows
        Rows of all n vertices, of which this rank reads its own; ``in_rows`` None: top-down only.
    survey
        Survey of ``in_rows``; None where there are none.
    ids
        Dtype of a vertex id.
    m
        Edges in ``out_rows``, of all ranks.
    workers, threads
        The rank's threads, and how many.
    forced
        What is not left to the prediction.

    Attributes
    ----------
    own
        The result and the state.
    met_target
        Whether the last search ended at its target.
    proof_rows
        In-rows to prove a tree by, where there are any: also those of a search that goes top-down alone.
    """

    def __init__(
        self,
        group: Group,
        partition: Partition,
        out_rows: Rows,
        in_rows: Rows | None,
        survey: RankSurvey | None,
        ids: np.dtype,
        m: int,
        workers: Workers,
        threads: int,
        forced: Forced | None = None,
    ) -> None:
        super().__init__(group)
        self.n, self.m = row_count(out_rows), m
        self.partition, self.part = partition, partition.part(group.rank)
        self.out_rows, self.in_rows, self.workers, self.threads = out_rows, in_rows, workers, threads
        self.forced = forced or Forced()
        self.nobody = ids.type(np.iinfo(ids).max)
        own_words = int(self.part.words)
        mine = 64 * own_words
        aside = survey.empty if survey is not None and in_rows is out_rows else no_vertices(self.n)
        self._start = np.concatenate([aside, np.zeros(1, np.uint64)])
        self._candidates = len(aside) * 64 - int(np.bitwise_count(aside).sum())
        self.own = Own(
            visited=np.empty_like(self._start),
            fresh=np.zeros(own_words, np.uint64),
            new=np.zeros(own_words, np.uint64),
            levels=np.full(mine, -1, np.int32),
            parents=np.full(mine, self.nobody, ids),
            heads=np.empty((0, mine), ids) if survey is None else survey.heads,
            short=np.zeros(0, np.uint64) if survey is None else survey.short,
            queue=np.empty(mine + 1, ids),
        )
        window = group.window(16 * partition.words) if group.size > 1 else None
        self.tells = Tells(group, partition, self.own, window)
        link = costs.SAME_HOST if group.one_host else costs.OTHER_HOST
        self.size = Size(self.n, m, group.size, threads, link, window is not None)
        self._claims = Claims(out_rows, self.part, self.own, workers, threads)
        self._stretches = stretches(own_words, threads)
        self._tallies = np.zeros((max(1, len(self._stretches)), 4), np.uint64)
        self._window = (0, 0)
        self._in_new = False
        self._faults = 0
        self._last_source = 0
        self.met_target = False
        self.proof_rows = in_rows

    @property
    def nbytes(self) -> int:
        """Bytes of the state, those of the survey left out."""
        arrays = (array for name, array in self.own._asdict().items() if name not in ("heads", "short"))
        return self._start.nbytes + self._claims.nbytes + sum(int(array.nbytes) for array in arrays)

    def run(self, source: int, max_depth: int, target: int | None = None) -> Found:
        """Search from ``source`` down to level ``max_depth`` or that of ``target``; the result stays until the next."""
        found, self.met_target = self.go_through(source, max_depth, target)
        return found

    def _choose(self, frontier: Frontier) -> Choice:
        return costs.choose(self.size, frontier, self.forced, pulls=self.in_rows is not None, least_edges=LEAST_EDGES)

    def _level(self, frontier: Frontier, choice: Choice, target: int | None) -> bool:
        sums = self._pull(frontier, choice) if choice.up else self._expand(frontier, choice)
        return self._agree(frontier, sums, target, up=choice.up)

    def _finish(self) -> None:
        levels.clear_unvisited(self.part, self.own, self.nobody)

    def _faults_met(self) -> int:
        return self._faults + self.tells.faults

    def warm_up(self) -> None:
        """Run every kernel once (on a small graph: that compiles them)."""
        forced = self.forced
        for kind in costs.SYNCS:
            self.forced = Forced(kind, (False, True, True))
            self.run(0, 3)
        self.forced = forced
        levels.gather(self.out_rows, self.part, self.own, _ZERO)

    def _local(self, vertex: int) -> int | None:
        """Return the local number of ``vertex``, or None: it is another rank's."""
        own = range(self.partition.words)[self.partition.own(self.group.rank)]
        word = vertex >> 6
        return 64 * own.index(word) + (vertex & 63) if word in own else None

    def _reset(self, source: int) -> Frontier:
        """Forget the last search and make ``source`` the frontier."""
        own = self.own
        if (last := self._local(self._last_source)) is not None:
            own.levels[last], own.parents[last] = -1, self.nobody
        self._last_source = source
        self._faults = self.tells.faults = 0
        np.copyto(own.visited, self._start)
        own.fresh[:] = 0
        word, bit = source >> 6, np.uint64(1 << (source & 63))
        candidates = self._candidates - int(own.visited[word] & bit == 0)
        own.visited[word] |= bit  # on every rank: all know the source
        self._window, self._in_new = (0, 0), False
        if (local := self._local(source)) is not None:
            own.levels[local], own.parents[local] = 0, self.nobody
            own.queue[0] = source
            self._window = (0, 1)
        edges = row_length(self.out_rows, source) if local is not None or self.partition.kind != "shards" else 0
        if self.partition.kind == "shards":  # its owner alone knows
            edges = int(self.group.sum([edges])[0])
        return Frontier(0, 1, edges, candidates, self.m - edges, 0, 0)

    def _agree(self, frontier: Frontier, sums: list[int], target: int | None, *, up: bool) -> bool:
        """Make the frontier that of the next level, from this rank's sums; return whether the target is reached."""
        hit = 0
        if target is not None and (local := self._local(target)) is not None:
            hit = int(self.own.visited[target >> 6] >> np.uint64(target & 63)) & 1
            hit &= int(self.own.levels[local] == frontier.depth + 1)
        found, first, second, hits = (int(total) for total in self.group.sum([*sums, hit]))
        frontier.depth += 1
        frontier.vertices = found
        if up:
            left, left_edges = first, second
            frontier.edges = max(found, frontier.unexplored - left_edges)
            frontier.unvisited, frontier.unexplored = left, left_edges
        else:
            frontier.edges = first
            frontier.unvisited -= found
            frontier.unexplored -= first
        frontier.stale += found
        frontier.stale_edges += frontier.edges
        return bool(hits)

    def _told(self, frontier: Frontier) -> None:
        frontier.stale = frontier.stale_edges = 0

    def _pull(self, frontier: Frontier, choice: Choice) -> list[int]:
        """Run a level bottom-up; return vertices found, those left, and the edges of those."""
        assert self.in_rows is not None
        own, part, level = self.own, self.part, np.int32(frontier.depth + 1)
        own.new[:] = 0

        def heads() -> None:
            self.workers.each(len(self._stretches), lambda i: levels.pull_heads(part, own, level, *self._stretches[i]))

        if choice.sync is not None:
            self.tells.all(choice.sync, heads)
            self._told(frontier)

        def one(i: int) -> None:
            levels.pull(self.in_rows, part, own, level, *self._stretches[i], self._tallies[i])

        self._tallies[:] = 0
        self.workers.each(len(self._stretches), one)
        own.visited[self.partition.own(self.group.rank)] |= own.new
        np.bitwise_or(own.fresh, own.new, out=own.fresh)
        self._in_new = True
        found, left, left_edges, faults = (int(total) for total in self._tallies.sum(axis=0))
        self._faults += faults
        return [found, left, left_edges]

    def _expand(self, frontier: Frontier, choice: Choice) -> list[int]:
        """Run a level top-down; return vertices found, and the edges in their rows."""
        own, level = self.own, np.int32(frontier.depth + 1)
        if choice.sync is not None:
            self.tells.all(choice.sync, lambda: None)
            self._told(frontier)
        first, last = self._window
        # behind a bottom-up level of a directed graph the frontier's edges are an estimate, which bounds no slot
        estimated = self._in_new and self.in_rows is not self.out_rows
        if self._in_new:
            first = last
            end, _ = levels.gather(self.out_rows, self.part, own, np.uint64(last))
            last, self._in_new = int(end), False
        tail, edges = np.uint64(last), 0
        for lots in self._claims.rounds(first, last):
            for claims, owners, count in lots:
                tail, more = messages.settle(self.out_rows, self.part, own, claims, owners, count, level, tail)
                edges += int(more)
                if self.group.size > 1:
                    self.tells.note(claims, owners, count)
        self._faults += self._claims.faults
        if self.group.size > 1:
            slot = costs.slot_bytes(self.size, max(self.partition.counts()), frontier.edges)
            slot = costs.SLOT_BYTES + 1 if estimated else slot
            for stream, begin, end in self.tells.claims(slot):
                tail, more, faults = messages.accept(
                    self.out_rows, self.part, own, stream, begin, end, level, np.uint64(tail)
                )
                edges += int(more)
                self._faults += int(faults)
        self._window = (last, int(tail))
        return [int(tail) - last, edges, 0]
