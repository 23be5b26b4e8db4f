"""A plain graph written as a .ccsr in one pass over its ids: each is read once, checked, encoded, summed and written.

The file is the one that :func:`bigbfs.formats.container.csrbin.save_graph` writes of ``graph.compress()``, to the
byte. The threads take stretches of rows in turn, each into a buffer of its own that stays in the cache; how far the
stretches before it reach is all that a thread waits for. Beside a few MB for each thread this takes 16 bytes for each
hub block.
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.formats.atomic import replacing
from bigbfs.formats.container import csrbin
from bigbfs.formats.container.sections import SectionFile
from bigbfs.graph.adjacency import BLOCK_IDS, CompressedAdjacency, PlainAdjacency
from bigbfs.graph.encode_kernels import SLACK, put_rows
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen, signed
from bigbfs.jit.workers import thread_count

STRETCH = 1 << 18
"""Rows and ids, together, that are encoded in one go: 1 MiB of ids, and about half of that in bytes."""

_LONGEST = 10
"""Bytes that an id takes at most."""

Cut = tuple[int, int]
"""A row, and the first edge of it that is wanted."""


def save_compressed(
    graph: Graph,
    path: Path,
    provenance: dict[str, Any] | None = None,
    *,
    confirm: Callable[[], object] | None = None,
    progress: Callable[[int], object] | None = None,
    encoded: Callable[[int], object] | None = None,
) -> None:
    """Write ``graph`` as a .ccsr to a temporary file that is then renamed to ``path``.

    Parameters
    ----------
    provenance, confirm, progress
        As of :func:`bigbfs.formats.container.csrbin.save_graph`.
    encoded
        Called with the edges encoded since the last call; of a directed graph those of both sides.

    Raises
    ------
    UsageError
        The flags contradict each other, so that no reader would take the file.
    FormatError
        The graph's offsets, ids or labels are damaged.
    FileAccessError
        It cannot be written; nothing is left behind.
    """
    if graph.codec == "varint":
        csrbin.save_graph(graph, path, provenance, confirm=confirm, progress=progress)
        return
    flags = csrbin.flags_to_save(graph)
    graph.require_structure()
    name = str(graph.path or "graph")
    sides = {"": (graph.adjacency, name)}
    if not graph.flags.symmetric and graph.in_adjacency is not None:
        sides["in_"] = (graph.in_adjacency, f"{name} (in-neighbours)")
    with replacing(path) as stream:
        file = SectionFile(stream, progress)
        for section, array in csrbin.arrays_before_rows(graph, provenance).items():
            file.open(section, array.dtype, len(array))
            file.append(section, array)
        for prefix, (adjacency, called) in sides.items():
            if isinstance(adjacency, PlainAdjacency):
                encoder = RowEncoder(file, prefix, adjacency.n, adjacency.m, adjacency.ids)
                encoder.add(adjacency, 0, called, encoded)
                encoder.close()
            else:
                _copy(file, prefix, adjacency)
        file.finish(**csrbin.header_fields(graph, flags, "varint"))
        if confirm is not None:
            confirm()


def _copy(file: SectionFile, prefix: str, adjacency: CompressedAdjacency) -> None:
    for name, array in adjacency.arrays().items():
        file.open(prefix + name, array.dtype, len(array))
        file.append(prefix + name, array)


class _Turns:
    """Lets one thread at a time in, in the order of their numbers, and knows how many threads there are at work."""

    def __init__(self) -> None:
        self._next = self._working = 0
        self._stopped = False
        self._changed = threading.Condition()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Count a thread in; raises _Stopped where it is wanted no more."""
        with self._changed:
            if self._stopped:
                raise _Stopped
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """Wait for the numbers before this one; raises _Stopped where one of them never comes."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._next == number)
            if self._stopped:
                raise _Stopped
            yield
            self._next += 1
            self._changed.notify_all()

    def stop(self) -> None:
        """Let nobody in any more, and wait for those who are: nobody writes to a file that has been closed.

        The pool would not wait for a thread whose start was interrupted.
        """
        self._stopped = True  # before the lock, for which another interrupt may find this thread waiting
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._working == 0)


class _Stopped(Exception):
    """Another thread has failed: what this one does is wanted no more."""


class _Room(threading.local):
    """The buffers of one thread."""

    def __init__(self, ids: np.dtype) -> None:
        most = STRETCH + 2 * BLOCK_IDS
        self.blob = np.empty(_LONGEST * most + SLACK, np.uint8)
        self.ends = np.empty(most, np.int64)
        self.degree = np.empty(most, ids)
        self.starts = np.empty(2 * most // BLOCK_IDS + 2, np.int64)  # a hub of one id more has a block more


class RowEncoder:
    """Encodes the rows of one adjacency, whose offsets are right, and appends its sections to a file.

    Parameters
    ----------
    n, m
        Vertices, and edges, of all rows together.
    """

    def __init__(self, file: SectionFile, prefix: str, n: int, m: int, ids: np.dtype) -> None:
        self._file, self._prefix, self._ids, self._n = file, prefix, ids, n
        self._room = _Room(ids)
        self._bytes = 0
        self._hubs, self._hub_blocks = [np.empty(0, np.int64)], [np.zeros(1, np.int64)]
        self._block_ptr = [np.empty(0, np.int64)]
        file.open(prefix + "indptr", np.uint64, n + 1)
        file.open(prefix + "degree", ids, n)
        file.open(prefix + "blob", np.uint8, m)
        file.append(prefix + "indptr", np.zeros(1, np.uint64))

    def add(
        self,
        rows: PlainAdjacency,
        first: int,
        name: str,
        encoded: Callable[[int], object] | None = None,
        threads: int | None = None,
    ) -> None:
        """Encode the next rows, from the vertex ``first`` on, and tell ``encoded`` of edges done.

        Raises
        ------
        FormatError
            An id is wrong in ``name``.
        """
        self._edge_ptr, self._indices, self._first = signed(rows.indptr), frozen(rows.indices), first
        self._turns = _Turns()
        # the thread that waits encodes nothing: interrupted, it would keep the others waiting for its turn
        with ThreadPoolExecutor(threads or thread_count(), "bigbfs-encoder") as pool:
            try:
                cuts = list(pairwise(self._cuts()))
                running = [pool.submit(self._stretch, number, *cut, name) for number, cut in enumerate(cuts)]
                for stretch, (start, stop) in zip(running, cuts, strict=True):
                    stretch.result()
                    if encoded is not None:
                        encoded(stop[1] - start[1])
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self._turns.stop()
                raise

    def close(self) -> None:
        """Complete the sections."""
        self._file.close(self._prefix + "blob")
        columns = {
            "hubs": np.concatenate(self._hubs).astype(self._ids),
            "hub_ptr": np.cumsum(np.concatenate(self._hub_blocks)).astype(np.uint64),
            "block_ptr": np.concatenate(self._block_ptr).view(np.uint64),
        }
        for column, array in columns.items():
            self._file.open(self._prefix + column, array.dtype, len(array))
            self._file.append(self._prefix + column, array)

    def _cuts(self) -> list[Cut]:
        """Cut rows and edges into stretches; each begins with a row, or with a block of a hub, and that edge."""
        edge_ptr, n = self._edge_ptr, len(self._edge_ptr) - 1
        cuts = [(0, 0)]
        for goal in range(STRETCH, n + len(self._indices), STRETCH):
            row = bisect.bisect_right(range(n + 1), goal, key=lambda v: int(edge_ptr[v]) + v) - 1
            first = int(edge_ptr[row])
            hub = int(edge_ptr[row + 1]) - first > BLOCK_IDS
            cuts.append((row, first + (goal - row - first) // BLOCK_IDS * BLOCK_IDS if hub else first))
        return [*cuts, (n, len(self._indices))]

    def _stretch(self, number: int, start: Cut, stop: Cut, name: str) -> None:
        with self._turns.work():
            self._encode(number, start, stop, name)

    def _encode(self, number: int, start: Cut, stop: Cut, name: str) -> None:
        room, rows = self._room, stop[0] - start[0]
        n, buffers = np.uint64(self._n), (room.blob, room.ends, room.degree, room.starts)
        size, blocks = put_rows(self._edge_ptr, self._indices, n, *start, *stop, *buffers)
        if size < 0:
            self._refuse(name)
        degree, indptr = room.degree[:rows], room.ends[:rows]
        with self._turns.turn(number):
            indptr += self._bytes
            self._note_hubs(self._first + start[0], degree, room.starts[:blocks] + self._bytes)
            self._bytes += size
            arrays: dict[str, np.ndarray] = {"blob": room.blob[:size], "indptr": indptr, "degree": degree}
            views = {self._prefix + column: array.data.cast("B") for column, array in arrays.items() if len(array)}
            places = [self._file.take(section, view) for section, view in views.items()]
        for view, place in zip(views.values(), places, strict=True):
            self._file.write(view, place)

    def _note_hubs(self, first: int, degree: np.ndarray, block_ptr: np.ndarray) -> None:
        hubs = np.flatnonzero(degree > BLOCK_IDS)
        self._hubs.append(hubs + first)
        self._hub_blocks.append(-(-degree[hubs].astype(np.int64) // BLOCK_IDS))
        self._block_ptr.append(block_ptr)

    def _refuse(self, name: str) -> None:
        """Say what is wrong; one thread has seen that something is."""
        from bigbfs.graph import rows

        rows.require_ids(PlainAdjacency(self._edge_ptr.view(np.uint64), self._indices), name)
        raise FormatError(f"{name}: changed while it was read; convert the graph again")
