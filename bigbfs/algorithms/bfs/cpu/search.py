"""The level loop of the CPU's BFS: which direction each level takes, and the state that its kernels share.

The state is allocated once and belongs to one search at a time. Resetting it is part of the search, but costs little:
only the bitmap of visited vertices is copied afresh. Levels and parents are written when a vertex is visited, and at
the end those of the vertices not visited are cleared, so every entry is right when the clock stops.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bigbfs.algorithms.bfs.cpu import bottomup, handing, topdown
from bigbfs.algorithms.bfs.cpu.costs import bottom_up_is_cheaper
from bigbfs.algorithms.bfs.cpu.frontier import Frontier, Measured, Step
from bigbfs.algorithms.bfs.cpu.state import BUFFER_IDS, TALLY, State, shapes
from bigbfs.algorithms.bfs.level_records import LevelRecords, table_of
from bigbfs.engines.cpu.bits import no_vertices
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import Rows, row_count, row_length
from bigbfs.jit.njit import Alike
from bigbfs.jit.team import team_of

WALK_EDGES = 2**14
"""Levels of at most this many edges and without a hub run serially, many in one call."""

ALONE_EDGES = 2**18
"""A top-down level of at most this many edges for each thread but one is the work of one: threads that mark vertices in
one small bitmap take its cache lines from one another, and wait for each bit."""
ALONE_VERTICES = 2**13
"""So is a bottom-up level with at most this many vertices not visited and words of a bitmap: some 50 us."""

_KERNELS = (topdown.walk, topdown.expand, bottomup.pull, bottomup.clear_unvisited)


def hubs_of(n: int, m: int) -> int:
    """Return how many hubs a frontier has room for, in a graph of ``n`` vertices and ``m`` edges."""
    return min(n, m // topdown.HUB_EDGES) + 1


class Search:
    """BFS over ``out_rows``, bottom-up over ``in_rows`` where there are any.

    Parameters
    ----------
    out_rows, in_rows
        Rows of n vertices; ``in_rows`` None: top-down only.
    survey
        Survey of ``in_rows``; None where there are none.
    ids
        Dtype of a vertex id.
    m
        Edges in ``out_rows``; those of the component where the search leans on one (:meth:`lean_on`).
    threads
        Threads of every parallel kernel.
    arrays
        Those of :func:`bigbfs.algorithms.bfs.cpu.state.shapes`, where others work on them too; None: of its own.

    Attributes
    ----------
    nbytes
        Bytes of the state, with what :meth:`lean_on` takes.
    nobody
        What ``parents`` hold where there is none: the largest id.
    """

    def __init__(
        self,
        out_rows: Rows,
        in_rows: Rows | None,
        survey: Survey | None,
        ids: np.dtype,
        m: int,
        threads: int,
        arrays: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.n = n = row_count(out_rows)
        self.out_rows, self.in_rows, self.m = out_rows, in_rows, m
        self._team, self._one = team_of(threads), team_of(1)
        self._alone = ALONE_EDGES // (threads - 1) if threads > 1 else 2**63  # edges of a level that is one thread's
        self._walk, self._expand, self._pull, self._clear = (Alike(kernel) for kernel in _KERNELS)
        self.nobody = ids.type(np.iinfo(ids).max)
        # An isolated vertex counts as visited: nobody can meet it. One with out-edges alone must not: it is met.
        aside = survey.empty if survey is not None and in_rows is out_rows else no_vertices(n)
        self._start = np.concatenate([aside, np.zeros(1, np.uint64)])
        self._candidates = len(aside) * 64 - int(np.bitwise_count(aside).sum())
        self._whole = self._start, self._candidates, m
        made = {name: np.empty(*each) for name, each in shapes(n, hubs_of(n, m), ids, threads).items()}
        arrays = made if arrays is None else arrays
        (visited, before), (hubs, next_hubs) = arrays["bitmaps"], arrays["hubs"]
        state = State(
            queue=arrays["queue"],
            hubs=hubs,
            next_hubs=next_hubs,
            pieces=np.empty(len(hubs), np.uint64),
            tails=arrays["tails"],
            visited=visited,
            before=before,
            parents=arrays["parents"],
            levels=arrays["levels"],
            heads=np.empty((0, n), ids) if survey is None else survey.heads,
            short=np.zeros(0, np.uint64) if survey is None else survey.short,
            buffers=np.empty((threads, 2, BUFFER_IDS), ids),
            claim=arrays.get("claim", np.zeros(8, np.uint64)),
            tallies=arrays["tallies"],
            faults=arrays["faults"],
        )
        self._tallies = arrays.get("all tallies", state.tallies)
        # Bit 0 of the turn swaps the bitmaps, bit 1 the hubs: tuples made once, for a level may take but a microsecond.
        swapped = state._replace(visited=before, before=visited)
        self._turns = (state, swapped, *(s._replace(hubs=next_hubs, next_hubs=hubs) for s in (state, swapped)))
        self._turn = 0
        self._last_source = 0
        self._no_vertex = len(aside) * 64  # its bit is never set
        self._target = self._no_vertex
        own = (array for name, array in state._asdict().items() if name not in ("heads", "short"))
        self.nbytes = self._start.nbytes + sum(int(array.nbytes) for array in own)
        self._leaning = 0
        self._serially(self._clean)

    def _clean(self) -> None:
        """Be as if nothing had been searched for."""
        state = self._state
        state.parents[:], state.levels[:] = self.nobody, -1
        for array in (state.visited, state.before, state.tails, state.faults):
            array[:] = 0

    def _begin(self, last: int = 0) -> None:
        """Have the work of a level lie there for all who take from it; what it finds goes to the queue from ``last``.

        Those who work on a search together (:mod:`bigbfs.algorithms.bfs.ranks.common`) meet here and at the next two.
        """
        state = self._state
        state.claim[0] = 0
        state.tails[topdown.TAIL], state.tails[topdown.HUB_TAIL] = last, 0

    def _finish(self) -> None:
        """Return when the work of a level is done by all who have taken from it."""

    def _serially(self, work: Callable[[], Sequence[int] | None]) -> Sequence[int]:
        """Return what ``work`` returns, which one does for all."""
        return work() or ()

    @property
    def _state(self) -> State:
        """The arrays, each under the name of its present part."""
        return self._turns[self._turn]

    @property
    def levels(self) -> np.ndarray:
        """Levels of the last search: int32, -1 unreached."""
        return self._state.levels

    @property
    def parents(self) -> np.ndarray:
        """Parents of the last search: id, ``nobody`` where there is none."""
        return self._state.parents

    def run(self, source: int, max_depth: int, target: int | None = None, *, records: bool = True) -> Measured:
        """Search from ``source`` down to level ``max_depth`` or that of ``target``; the result stays until the next.

        ``records``: say what each level was, which takes as long as the search where levels are thin.
        """
        start = time.perf_counter()
        frontier = self._reset(source)
        # an isolated vertex counts as visited from the start, though nobody ever meets it
        alone = target is not None and target != source and self._is_visited(target)
        self._target = self._no_vertex if target is None or alone else target
        ends_early = self._target != self._no_vertex
        steps: list[Step] = []
        depth = 0
        while frontier.vertices and frontier.depth < max_depth and not (ends_early and self._is_visited(self._target)):
            begin, level, vertices, first = time.perf_counter(), frontier.depth, frontier.vertices, frontier.last
            edges = frontier.edges
            if not frontier.in_bitmap and not frontier.hubs and frontier.edges <= WALK_EDGES:
                direction = "top-down"
                self.walk(frontier, max_depth)
            elif self._bottom_up_is_cheaper(frontier):
                direction = "bottom-up"
                self.pull(frontier)
            else:
                direction = "top-down"
                self.expand(frontier)
            depth = frontier.depth if frontier.vertices else frontier.depth - 1
            spent = time.perf_counter() - begin
            steps.append(Step(level, frontier.depth - level, direction, vertices, first, frontier.first, spent, edges))
        self._begin()
        self._clear(self._team, self._state, self.nobody)
        self._finish()
        seconds = time.perf_counter() - start
        levels = self._records(steps) if records else LevelRecords(())
        return Measured(depth, frontier.unexplored, int(self._state.faults[0]), seconds, levels)

    def lean_on(self, found: Measured | None) -> None:
        """Stay in the component of the last search, which ``found`` that, with its tree for a head table.

        Of an undirected graph: a parent in the tree of a hub is as good as the strongest neighbour, and no row is read
        for it. None: go back to the whole graph, without heads.
        """
        heads, short = self._state.heads[:0], np.zeros_like(self._state.short)
        self._start, self._candidates, self.m = self._whole
        if found is not None:
            aside = self._start[:-1] | ~self._state.visited[:-1]
            self._start, self._candidates = np.append(aside, self._start[-1]), int(np.bitwise_count(~aside).sum())
            self.m -= found.unexplored
            heads = np.minimum(self.parents, self.nobody.dtype.type(self._no_vertex))[None]
        self._turns = tuple(each._replace(heads=heads, short=short) for each in self._turns)
        more = 0 if found is None else heads.nbytes + short.nbytes + self._start.nbytes
        self._leaning, self.nbytes = more, self.nbytes + more - self._leaning

    def handed(self, depth: int, *, levels: bool, parents: bool) -> handing.Handed:
        """Return copies of the result that are wanted, and what is counted in it; ``depth`` of the farthest vertex."""
        return handing.handed(self._team, self._state, depth, levels=levels, parents=parents)

    def _is_visited(self, vertex: int) -> bool:
        """Return whether the bit of ``vertex`` is set; that of an id past the last vertex is not."""
        return bool(int(self._state.visited[vertex >> 6]) >> (vertex & 63) & 1)

    def _records(self, steps: list[Step]) -> LevelRecords:
        """Return the records of all levels; those of a step of several levels have their sizes counted in the queue."""
        parts: list[np.ndarray] = []
        for step in steps:
            up = step.direction == "bottom-up"
            if step.count == 1:
                row = {"frontier": step.vertices, "seconds": step.seconds, "edges": step.edges}
                parts.append(table_of(1, direction=up, **row))
                continue
            sizes, edges = self._tally(step)
            sizes, edges = np.append(step.vertices, sizes), np.append(step.edges, edges)
            parts.append(table_of(len(sizes), direction=up, frontier=sizes, edges=edges))
        return LevelRecords(parts)

    def _tally(self, step: Step) -> np.ndarray:
        """Return vertices and edges of each level of a step but the first: int64, shape (2, levels)."""
        sizes = np.zeros((2, step.count - 1), np.uint64)
        window = np.uint64(step.first), np.uint64(step.last)
        topdown.tally(self.out_rows, self._state, *window, np.int32(step.level + 1), *sizes)
        return sizes.astype(np.int64)

    def warm_up(self) -> None:
        """Run every kernel once (on a small graph: that compiles them)."""
        self.run(0, 1)
        self.handed(0, levels=True, parents=True)
        self._tally(Step(0, 2, "top-down", 1, 0, 0, 0.0, 1))
        self.expand(self._reset(0))
        if self.in_rows is not None:
            self.pull(frontier := self._reset(0))
            self._gather(frontier)

    def _reset(self, source: int) -> Frontier:
        """Forget the last search and make ``source`` the frontier."""
        word, bit = source >> 6, np.uint64(1 << (source & 63))
        candidates = self._candidates - int(self._start[word] & bit == 0)
        edges = row_length(self.out_rows, source)
        hubs = int(edges > topdown.HUB_EDGES)
        self._serially(lambda: self._seed(source, hubs))
        self._last_source = source
        return Frontier(0, 0, 1 - hubs, hubs, 1, edges, candidates, self.m - edges)

    def _seed(self, source: int, hubs: int) -> None:
        """Write down ``source`` as visited, and nobody else."""
        state = self._state
        # Isolated vertices are never visited nor cleared; one of them may have been the source.
        state.levels[self._last_source], state.parents[self._last_source] = -1, self.nobody
        state.faults[0] = 0
        np.copyto(state.visited, self._start)
        state.visited[source >> 6] |= np.uint64(1 << (source & 63))
        state.levels[source], state.parents[source] = 0, self.nobody
        (state.hubs if hubs else state.queue)[0] = source

    def _bottom_up_is_cheaper(self, frontier: Frontier) -> bool:
        """Return whether the next level should go bottom-up."""
        return self.in_rows is not None and bottom_up_is_cheaper(frontier, len(self._start))

    def walk(self, frontier: Frontier, max_depth: int) -> None:
        """Run thin levels serially until one is wide, ``max_depth`` is reached or nothing is left."""
        before = frontier.last
        window = (np.uint64(frontier.first), np.uint64(frontier.last))
        depths = (np.int32(frontier.depth), np.int32(max_depth))
        ends = np.uint64(WALK_EDGES), np.uint64(self._target)
        first, last, hubs, depth, edges, all_edges, spent = self._serially(
            lambda: self._walk(self.out_rows, self._state, *window, *depths, *ends)
        )[:7]
        frontier.depth = int(depth)
        frontier.edges = int(spent) or frontier.edges
        self._advance(frontier, int(first), int(last), int(hubs), int(edges))
        frontier.unvisited -= int(last) - before + int(hubs)
        frontier.unexplored -= int(all_edges)

    def expand(self, frontier: Frontier) -> None:
        """Run one level top-down in parallel."""
        if frontier.in_bitmap:
            self._gather(frontier)
        state = self._state
        self._begin(frontier.last)
        window = (np.uint64(frontier.first), np.uint64(frontier.last), np.uint64(frontier.hubs))
        few = topdown.CHUNK_EDGES * frontier.vertices // max(1, frontier.edges)
        chunk = np.uint64(max(1, min(topdown.CHUNK_VERTICES, few)))
        alone = frontier.edges <= self._alone
        team, level = self._one if alone else self._team, np.int32(frontier.depth + 1)
        self._expand(team, self.out_rows, state, *window, level, chunk, alone)
        self._finish()
        self._turn ^= 2
        frontier.depth += 1
        tail, hubs = int(state.tails[topdown.TAIL]), int(state.tails[topdown.HUB_TAIL])
        self._advance(frontier, frontier.last, tail, hubs, sum(self._tallies.tolist()[::TALLY]))
        frontier.unvisited -= frontier.vertices
        frontier.unexplored -= frontier.edges

    def _advance(self, frontier: Frontier, first: int, last: int, hubs: int, edges: int) -> None:
        found = last - first + hubs
        frontier.reach = found / max(1, frontier.edges)
        frontier.first, frontier.last, frontier.hubs = first, last, hubs
        frontier.vertices, frontier.edges = found, edges

    def pull(self, frontier: Frontier) -> None:
        """Run one level bottom-up."""
        assert self.in_rows is not None
        state, few = self._state, frontier.unvisited + self.n // 64 <= ALONE_VERTICES
        self._begin()
        self._pull(self._one if few else self._team, self.in_rows, state, np.int32(frontier.depth + 1))
        self._finish()
        self._turn ^= 1
        tallies = self._tallies.tolist()  # few: NumPy takes longer
        found, left, left_edges = (sum(tallies[at::TALLY]) for at in range(3))
        frontier.depth += 1
        frontier.in_bitmap, frontier.reach = True, 1.0
        frontier.vertices, frontier.edges = found, max(found, frontier.unexplored - left_edges)
        frontier.unvisited, frontier.unexplored = left, left_edges

    def _gather(self, frontier: Frontier) -> None:
        """Move the frontier from the bitmaps to the queue."""
        last = np.uint64(frontier.last)
        end, hubs, edges = self._serially(lambda: topdown.gather(self.out_rows, self._state, last))[:3]
        self._advance(frontier, frontier.last, int(end), int(hubs), int(edges))
        frontier.in_bitmap, frontier.reach = False, 1.0
