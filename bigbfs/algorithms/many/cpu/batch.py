"""One batch of searches: the level loop, which direction each level takes, and the arrays that its kernels share.

The state is allocated once and reused from batch to batch. Sums (``reach``, ``farness``, ``harmonic``) go on growing
until :meth:`Batch.forget` clears them; everything else belongs to the last batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.algorithms.many import gathered
from bigbfs.algorithms.many.cpu import bottomup, topdown
from bigbfs.algorithms.many.cpu.collecting import LENGTHS, LINE, PLANES, Sink, close_level
from bigbfs.algorithms.many.cpu.state import EDGES, FOUND, HUBS, LEFT, READ, TALLY, VERTICES, State
from bigbfs.algorithms.many.cpu.waiting import Waiting
from bigbfs.algorithms.many.gathered import NO_LIMIT, Counted, Done, Sums, Wants
from bigbfs.engines.cpu.bits import no_vertices, words_for
from bigbfs.engines.cpu.heads import HEADS, Survey
from bigbfs.engines.cpu.rows import Rows, row_count, row_lengths
from bigbfs.graph.views import frozen
from bigbfs.jit.team import team_of

WALK_EDGES = 4096
"""Levels of at most this many edges run serially, many in one call."""

PUSH_EDGE = 6.0
"""Cost of an edge in a top-down level: a look, and often an atomic write, at a place that is in no cache."""
PULL_EDGE = 1.0
"""Cost of an edge of a vertex that lacks bits in a bottom-up level: the unit."""
PULL_VERTEX = 2.0
"""Cost of a vertex in a bottom-up level, apart from its row."""

FEW_REACHED = 8
"""Where less than one of so many vertices has a bit, a bottom-up level first asks a bitmap, which stays in cache."""

_FIRST_LEVELS = 64
_LINE = 64


def bytes_of(n: int, ids: np.dtype, width: int, threads: int, wants: Wants) -> int:
    """Return the bytes of a batch's arrays, the survey left out."""
    bits = 3 * width // 8 + 2 * ids.itemsize + 2
    sums = 16 * wants.sums + 8 * wants.harmonic
    levels = 4 * width * wants.levels
    return n * (bits + sums + levels) + threads * width * 80 + 2**16


def _aligned(count: int, dtype: Any) -> np.ndarray:
    """Return zeros that begin at a cache line, so that the words of a vertex lie in one."""
    size = np.dtype(dtype).itemsize
    raw = np.zeros(count + _LINE // size, dtype)
    skip = -raw.ctypes.data % _LINE // size
    return raw[skip : skip + count]


class Batch:
    """Searches over ``out_rows``, bottom-up over ``in_rows`` where there are any.

    Parameters
    ----------
    out_rows, in_rows
        Rows of n vertices; ``in_rows`` None: top-down only.
    survey
        Of ``in_rows``; None where there are none.
    ids
        Dtype of a vertex id.
    m
        Edges in ``out_rows``.
    width
        Sources at most: 32, 64, 128, 256 or 512.
    threads
        Threads of every parallel kernel.
    wants
        What to collect.
    labels
        Original ids, where they do not ascend as vertices do; None: they do, or nobody asks.
    """

    def __init__(
        self,
        out_rows: Rows,
        in_rows: Rows | None,
        survey: Survey | None,
        ids: np.dtype,
        m: int,
        width: int,
        threads: int,
        wants: Wants,
        labels: np.ndarray | None = None,
    ) -> None:
        self.n = n = row_count(out_rows)
        self.out_rows, self.in_rows, self.m, self.threads, self.width = out_rows, in_rows, m, threads, width
        self._team = team_of(threads)
        word = np.dtype(np.uint32 if width == 32 else np.uint64)
        self.lanes = (0,) * max(1, width // 64)
        words, rows = len(self.lanes), words_for(n) * 64 + 1
        self._size = 8 * word.itemsize
        empty = no_vertices(n) if survey is None else survey.empty
        self._start = np.concatenate([empty, np.zeros(1, np.uint64)])
        self._entered = 64 * len(empty) - int(np.bitwise_count(empty).sum())  # vertices that an edge leads to
        # only itself has ever reached a vertex behind the last one that an edge leads to
        self._end = 64 * (int(np.flatnonzero(~empty)[-1]) + 1) if self._entered else 0
        self._behind = np.zeros(0, np.int64)  # such sources of the last batch
        now, before, bits = (_aligned(count * words, word) for count in (rows, rows, n + 1))
        queue, next_queue = np.empty((2, n + 1), ids)
        self._state = State(
            now=now, before=before, queue=queue, next_queue=next_queue, bits=bits, queued=np.zeros(n, np.uint8),
            done=self._start.copy(), full=np.zeros(words, word),
            heads=np.empty((HEADS, 0), ids) if survey is None else survey.heads,
            short=np.zeros(0, np.uint64) if survey is None else survey.short,
            buffers=np.empty((threads, topdown.BUFFER_IDS), ids), claim=np.zeros(16, np.uint64),
            tallies=np.zeros(threads * TALLY, np.uint64), faults=np.zeros(1, np.uint64),
        )  # fmt: skip
        self._sink = self._make_sink(word, words, wants, labels if wants.totals else None)
        self._waiting = Waiting(width, word)
        self._reached, self._few_reached = np.zeros(words_for(n), np.uint64), True

    def _make_sink(self, word: np.dtype, words: int, wants: Wants, labels: np.ndarray | None) -> Sink:
        n, width, threads = self.n, self.width, self.threads
        ids = frozen(np.zeros(0, np.uint64) if labels is None else np.asarray(labels).view(np.uint64))
        told = threads * wants.totals
        columns = wants.columns
        self._first_counts = (1 if wants.totals else _FIRST_LEVELS) * width if columns else 0
        return Sink(
            alive=np.zeros(threads * words, word), active=np.zeros(words, word),
            scratch=np.zeros(threads * words, word), witness=np.zeros(threads * width, np.int64),
            ids=ids, lowest=np.uint64(ids.min(initial=2**63) if len(ids) else 0),
            near=np.full(told * LENGTHS * words, ~word.type(0), word),
            best=np.zeros(told * width, np.uint64), least=np.zeros(width, np.uint64),
            depth=np.zeros(width, np.int64), far=np.zeros(width, np.int64), found=np.zeros(_FIRST_LEVELS, np.int64),
            columns=np.zeros(self._first_counts, np.int64),
            counts=np.zeros(threads * width if columns else 0, np.int64),
            planes=np.zeros(threads * PLANES * words if columns else 0, word),
            reach=np.zeros(n if wants.sums else 0, np.int64), farness=np.zeros(n if wants.sums else 0, np.int64),
            harmonic=np.zeros(n if wants.harmonic else 0, np.float64),
            levels=np.zeros(n * width if wants.levels else 0, np.int32),
            lag=np.zeros(width, np.int64), late=np.zeros(0, word), behind=_aligned(threads * LINE, np.int64),
        )  # fmt: skip

    @property
    def sink(self) -> Sink:
        """What the last batch, or for sums all since :meth:`forget`, has collected."""
        return self._sink

    def counted(self) -> Counted:
        """Return what the last batch found."""
        sink = self._sink
        return Counted(sink.depth, sink.far, sink.found, sink.columns)

    def levels(self) -> np.ndarray:
        """Return the levels of the last batch, int32 (n, width); the next batch overwrites them."""
        return self._sink.levels.reshape(-1, self.width)

    def sums(self) -> Sums:
        """Return the sums over the batches since :meth:`forget`."""
        return Sums(self._sink.reach, self._sink.farness, self._sink.harmonic)

    @property
    def faults(self) -> int:
        """Ids met that are no vertices."""
        return int(self._state.faults[0])

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays; those of the survey are not counted again."""
        own = {name: array for name, array in self._state._asdict().items() if name not in ("heads", "short")}
        collected = self._sink._replace(ids=self._sink.ids[:0])  # those are the graph's
        return sum(int(array.nbytes) for array in (*own.values(), *collected, self._reached))

    @property
    def totals_alone(self) -> bool:
        """Whether vertices are counted for each source, and no longer, or never were, for each of its levels."""
        return self._sink.columns.size == self.width

    def forget(self) -> None:
        """Clear the sums over batches, and count for each level again where that was given up."""
        for array in (self._sink.reach, self._sink.farness, self._sink.harmonic):
            array[:] = 0
        if self._sink.columns.size < self._first_counts:
            columns = np.zeros(self._first_counts, np.int64)
            self._sink = self._sink._replace(found=np.zeros(_FIRST_LEVELS, np.int64), columns=columns)

    def run(self, sources: np.ndarray, max_depth: int = NO_LIMIT) -> Done:
        """Search from ``sources`` (internal, ``width`` at most), bit by bit in their order, down to ``max_depth``."""
        count = self._reset(sources)
        edges = int(row_lengths(self.out_rows, self._state.queue[:count]).sum())
        left, level, pulled, hubs = self.m, 0, False, True
        done = Done({"serial": 0, "top-down": 0, "bottom-up": 0}, 0, 0, len(sources))
        waiting = self._waiting
        waiting.begin(self.m, allowed=max_depth == NO_LIMIT)
        while (count or waiting.anybody) and level < max_depth:
            self._make_room(level)
            if not pulled and count and edges <= WALK_EDGES and level < waiting.last(max_depth):
                count, edges, level, read = self._walk(count, level, waiting.last(max_depth))
                done.steps["serial"] += 1
                hubs = True
            elif (some := self._wait(count, edges, left, level)) is None:
                level += 1
                count, edges, left, read = self._pull(level)
                done.steps["bottom-up"] += 1
                pulled = True
            else:
                count, edges, hubs = some[0], some[1], hubs or some[1] != edges
                if pulled:
                    count, edges, hubs = self._gather()
                level += 1
                count, edges, hubs, read = self._push(count, level, hubs)
                done.steps["top-down"] += 1
                pulled = False
            done.read += read
        done.levels = level if count else max(0, level - 1)
        if self._sink.late.size:  # level by level the searches ended earlier
            done.levels = int(self._sink.depth[: len(sources)].max())
        done.pairs += int(self._sink.found[: level + 1].sum())
        return done

    def _wait(self, count: int, edges: int, left: int, level: int) -> tuple[int, int] | None:
        """Return vertices and edges of the frontier that the next level goes top-down from; None: it goes bottom-up."""
        if not self._waiting.anybody and not self._bottom_up_is_cheaper(edges, left):
            return count, edges
        some = self._waiting.look(self.out_rows, self._state, count, level, self.m)
        if some is None:
            self._sink = self._waiting.release(level, self._sink)
        return some

    def _bottom_up_is_cheaper(self, edges: int, left: int) -> bool:
        if self.in_rows is None:
            return False
        return PULL_VERTEX * self._entered + PULL_EDGE * left < PUSH_EDGE * edges

    def _reset(self, sources: np.ndarray) -> int:
        """Forget the last batch, and make ``sources`` the frontier; return how many vertices they are."""
        state, sink, words = self._state, self._sink, len(self.lanes)
        bottomup.clear(self._team, state, np.uint64(self._end), self.lanes)
        if len(self._behind):
            for array in (state.now, state.before):
                array.reshape(-1, words)[self._behind] = 0
        self._behind = sources[sources >= self._end]
        self._sink = sink = sink._replace(late=sink.late[:0])
        for array in (sink.active, sink.found, sink.columns, sink.depth, sink.lag):
            array[:] = 0
        sink.levels[:] = -1
        np.copyto(state.done, self._start)
        state.faults[0] = 0
        self._few_reached = True
        number = np.arange(len(sources))
        places = sources.astype(np.int64) * words + number // self._size
        masks = np.left_shift(state.now.dtype.type(1), (number % self._size).astype(state.now.dtype))
        vertices = np.unique(sources)
        for array in (state.now, state.before):
            np.bitwise_or.at(array, places, masks)
        for full in (state.full, sink.active):
            full[:] = 0
            np.bitwise_or.at(full, number // self._size, masks)
        state.queue[: len(vertices)] = vertices
        state.bits.reshape(-1, words)[: len(vertices)] = state.now.reshape(-1, words)[vertices]
        sink.far[: len(sources)] = sources
        if sink.levels.size:
            sink.levels[sources.astype(np.int64) * self.width + number] = 0
        return len(vertices)

    def _make_room(self, level: int) -> None:
        """Have arrays of one entry a level go beyond ``level``."""
        sink = self._sink
        if level + 2 > len(sink.found):
            columns = sink.columns
            if columns.size > gathered.MOST_COUNTS // 2:
                columns = columns.reshape(-1, self.width).sum(axis=0)
            elif not self.totals_alone:
                columns = np.concatenate([columns, np.zeros_like(columns)])
            self._sink = sink._replace(found=np.concatenate([sink.found, np.zeros_like(sink.found)]), columns=columns)

    def _walk(self, count: int, level: int, max_depth: int) -> tuple[int, int, int, int]:
        state = self._state
        last = min(max_depth, len(self._sink.found) - 1)
        numbers = (np.uint64(count), np.int64(level), np.int64(last), np.uint64(WALK_EDGES))
        found = topdown.walk(self.out_rows, state, self._sink, *numbers, self.lanes)
        if (int(found[2]) - level) % 2:
            self._turn()
        return int(found[0]), int(found[1]), int(found[2]), int(found[3])

    def _turn(self) -> None:
        state = self._state
        self._state = state._replace(queue=state.next_queue, next_queue=state.queue)

    def _close(self, level: int) -> np.ndarray:
        """Add up a level; return the sums of the tallies."""
        totals: np.ndarray = self._state.tallies.reshape(-1, TALLY).sum(axis=0).astype(np.int64)
        close_level(self._sink, np.int64(level), np.uint64(totals[FOUND]), self.lanes, self.threads)
        return totals

    def _push(self, count: int, level: int, hubs: bool) -> tuple[int, int, bool, int]:
        entries = skips = np.zeros(0, np.uint64)
        if hubs:
            entries, skips = pieces_of(row_lengths(self.out_rows, self._state.queue[:count]))
        topdown.push(self._team, self.out_rows, self._state, np.uint64(count), entries, skips, self.lanes)
        read = int(self._state.tallies.reshape(-1, TALLY)[:, READ].sum())
        self._turn()
        count = int(self._state.claim[topdown.TAIL])
        numbers = np.uint64(count), np.int64(level)
        topdown.settle(self._team, self.out_rows, self._state, self._sink, *numbers, self.lanes)
        totals = self._close(level)
        return count, int(totals[EDGES]), bool(totals[HUBS]), read

    def _pull(self, level: int) -> tuple[int, int, int, int]:
        both = self.in_rows, self.out_rows
        known = self._reached if self._mark_reached() else self._reached[:0]
        bottomup.pull(self._team, *both, self._state, self._sink, known, np.int64(level), self.lanes)
        state = self._state
        self._state = state._replace(now=state.before, before=state.now)
        totals = self._close(level)
        return int(totals[VERTICES]), int(totals[EDGES]), int(totals[LEFT]), int(totals[READ])

    def _mark_reached(self) -> bool:
        """Mark who has a bit, as long as few have any; return whether that is so."""
        if self._few_reached:
            bottomup.mark_reached(self._team, self._state, self._reached, self.lanes)
            self._few_reached = FEW_REACHED * int(self._state.tallies.sum()) < self.n
        return self._few_reached

    def _gather(self) -> tuple[int, int, bool]:
        topdown.gather(self._team, self.out_rows, self._state, self.lanes)
        totals = self._state.tallies.reshape(-1, TALLY).sum(axis=0)
        return int(self._state.claim[topdown.TAIL]), int(totals[EDGES]), bool(totals[HUBS])

    def warm_up(self) -> None:
        """Run every kernel once (on a small graph: that compiles them)."""
        both = np.array([0, 1])
        self.run(both)
        self._push(self._reset(both), 1, True)
        if self.in_rows is not None:
            self._reset(both)
            self._pull(1)
            self._gather()


def pieces_of(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pieces behind the first of the rows of ``lengths``: place of the row, and neighbours before it."""
    behind = np.maximum(0, (lengths - 1) // topdown.PIECE)
    entries = np.repeat(np.arange(len(lengths)), behind)
    number = np.arange(len(entries)) - np.repeat(np.cumsum(behind) - behind, behind) + 1
    return entries.astype(np.uint64), (number * topdown.PIECE).astype(np.uint64)
