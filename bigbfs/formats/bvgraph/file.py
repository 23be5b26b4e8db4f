"""A BVGraph file: opened, scanned for places to begin at, and decoded by several threads, rows in order.

The scan is serial and several times as fast as decoding; it runs ahead by a few pieces while other threads decode those
that it found. The .offsets are not needed. Memory holds the pieces under way, whatever the size of the graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from bigbfs.errors import DoesNotFitError, InputError
from bigbfs.formats.bvgraph import scan as places
from bigbfs.formats.bvgraph.decode import Scratch, decode, take_rows
from bigbfs.formats.bvgraph.properties import read_properties
from bigbfs.formats.bvgraph.scan import Ring, Shape, scan
from bigbfs.formats.container.mapped import MappedFile
from bigbfs.graph.adjacency import id_dtype
from bigbfs.sizes import format_size

ARCS_OF_PIECE = 1 << 16
"""Arcs that are decoded in one go: their ids stay in a core's second-level cache."""
_PIECES = 16
"""Pieces that one call of the scan finds."""
_LEAST_RING = 1 << 10
_PADDING = 128
"""Bits behind the last row that may be left of a word."""


class Piece(NamedTuple):
    """Rows ``first`` to ``last - 1``, which begin at bit ``position``; what they need, and room for all of that."""

    first: int
    last: int
    position: int
    needs: np.ndarray
    arcs: int
    largest: int


class Decoded(NamedTuple):
    """Rows from ``first`` on: ``degrees`` (int64), ``indices`` (ids), and how many self-loops they have or had."""

    first: int
    degrees: np.ndarray
    indices: np.ndarray
    loops: int


class BvGraph:
    """A BVGraph, open; a context manager.

    Parameters
    ----------
    graph, properties
        The two files.
    name
        For messages, where ``graph`` is an unpacked copy.

    Attributes
    ----------
    shape
        What the properties say.

    Raises
    ------
    InputError, FileAccessError
        A file cannot be read, or the properties are none.
    """

    def __init__(self, graph: Path, properties: Path, name: str | None = None) -> None:
        self.name = name or str(graph)
        self.shape: Shape = read_properties(properties)
        self.properties = properties
        self.ids = id_dtype(self.shape.n)
        self._file: MappedFile | None = None
        data = np.zeros(0, np.uint8)
        if not graph.is_file() or graph.stat().st_size:
            self._file = MappedFile(graph)
            data = self._file.array("|u1", self._file.size, 0)
        self.shape = self.shape._replace(bits=8 * len(data))
        self._data = np.concatenate([data, np.zeros(8, np.uint8)]) if len(data) < 8 else data.view()
        self._data.flags.writeable = False

    def rows(
        self, threads: int, *, keep_loops: bool, memory: int | None = None, arcs_of_piece: int = ARCS_OF_PIECE
    ) -> Iterator[Decoded]:
        """Decode all rows, in order.

        Parameters
        ----------
        threads
            Threads that decode, beside this one, which scans.
        keep_loops
            Self-loops stay in the rows.
        memory
            Bytes that the rows under way may take; None: any.
        arcs_of_piece
            Arcs from one cut to the next, at least.

        Raises
        ------
        InputError
            A row is not sound, or the file is not as long as its rows; names vertex and bit.
        DoesNotFitError
            Rows refer to one another over so long a stretch that it cannot be cut within ``memory``.
        """
        waiting: deque[Future[Decoded]] = deque()
        with ThreadPoolExecutor(threads, "bigbfs-bvgraph") as pool:
            try:
                for found in self._pieces(arcs_of_piece):
                    for piece in found:
                        self._require_room(piece, memory)
                        waiting.append(pool.submit(self._decode, piece, keep_loops))
                    while len(waiting) > _PIECES:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _require_room(self, piece: Piece, memory: int | None) -> None:
        need = 4 * piece.arcs * self.ids.itemsize
        if memory is not None and need > max(memory, 16 * ARCS_OF_PIECE * self.ids.itemsize):
            raise DoesNotFitError(
                f"{self.name}: the rows of vertices {piece.first} to {piece.last - 1} refer to one another, so that "
                f"they are decoded at once, which takes {format_size(need)}, and {format_size(memory)} may be used",
                remedies=(("memory", None),),
            )

    def _pieces(self, arcs_of_piece: int) -> Iterator[list[Piece]]:
        """Scan the file; return the pieces as they are found."""
        shape = self.shape
        size = max(_LEAST_RING, 1 << (2 * shape.window + 1).bit_length())
        ring = Ring(*(np.zeros(size, np.int64) for _ in range(3)))
        state = np.zeros(8, np.int64)
        before: tuple[np.ndarray, np.ndarray] | None = None
        while state[places.VERTEX] < shape.n:
            cuts, needs = np.zeros((_PIECES, 6), np.int64), np.zeros((4 * size, 2), np.int64)
            scan(self._data, shape, state, ring, arcs_of_piece, cuts, needs)
            if state[places.STATUS] != places.GOOD:
                raise self._error(state)
            found = []
            for i in range(int(state[places.CUTS])):
                if before is not None:
                    found.append(_piece(*before, cuts[i]))
                end = cuts[i + 1, places.CUT_NEEDS] if i + 1 < state[places.CUTS] else state[places.NEEDS]
                before = cuts[i], needs[cuts[i, places.CUT_NEEDS] : end]
            yield found
        self._require_end(state)
        assert before is not None
        end = np.array([shape.n, 0, state[places.COUNT], 0, 0, state[places.LARGEST]], np.int64)
        yield [_piece(*before, end)]

    def _decode(self, piece: Piece, keep_loops: bool) -> Decoded:
        out = np.empty(piece.arcs, self.ids)
        base = int(piece.needs[0, 0]) if len(piece.needs) else piece.first
        bounds = np.empty((piece.last - base, 2), np.int64)
        room = piece.largest + 1
        scratch = Scratch(np.empty(2 * room + 2, np.int64), *(np.empty(room, self.ids) for _ in range(3)))
        state = np.zeros(8, np.int64)
        where = (piece.needs, piece.first, piece.last, piece.position)
        decode(self._data, self.shape, *where, out, bounds, scratch, state)
        if state[places.STATUS] != places.GOOD:
            raise self._error(state)
        degrees = np.empty(piece.last - piece.first, np.int64)
        left, loops = take_rows(out, bounds[piece.first - base :], piece.first, keep_loops, degrees)
        return Decoded(piece.first, degrees, out[:left], int(loops))

    def _require_end(self, state: np.ndarray) -> None:
        position, arcs = int(state[places.POSITION]), int(state[places.COUNT])
        if arcs != self.shape.m:
            raise InputError(f"{self.name}: holds {arcs:,} arcs, and {self.properties} says arcs={self.shape.m}")
        if self.shape.bits - position >= _PADDING:
            raise InputError(
                f"{self.name}: the last vertex, {self.shape.n - 1}, ends at bit {position}, and the file goes on to "
                f"bit {self.shape.bits}; is nodes={self.shape.n} of {self.properties} right?"
            )

    def _error(self, state: np.ndarray) -> InputError:
        vertex, bit, value = (int(state[item]) for item in (places.VERTEX, places.POSITION, places.VALUE))
        n = self.shape.n
        why = {
            places.CUT_SHORT: f"no number ends there (the file has {self.shape.bits} bits)",
            places.DEGREE: f"{value} neighbours, and there are {n} vertices",
            places.ARCS: f"with {value} more arcs there are more than arcs={self.shape.m} of {self.properties}",
            places.REFERENCE: f"a reference to the row {value} before it, and at most {self.shape.window} are meant, "
            "none before vertex 0",
            places.BLOCKS: f"copies {value} neighbours or runs, more than there are",
            places.INTERVALS: f"intervals of {value}, more than the row has neighbours",
            places.RANGE: f"a neighbour {value}, and vertices are 0 to {n - 1}",
            places.ORDER: "a neighbour twice",
        }[int(state[places.STATUS])]
        return InputError(
            f"{self.name}: vertex {vertex}, bit {bit}: {why}; the file is cut short or damaged, or the properties are "
            "of another graph: fetch both again"
        )

    def close(self) -> None:
        """Let go of the file."""
        self._data = np.zeros(0, np.uint8)
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> BvGraph:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _piece(cut: np.ndarray, needs: np.ndarray, end: np.ndarray) -> Piece:
    """Return the piece from one cut to the next."""
    arcs = int(end[places.CUT_ARCS] - cut[places.CUT_ARCS] + cut[places.CUT_NEED_ARCS])
    first, position = int(cut[places.CUT_VERTEX]), int(cut[places.CUT_BIT])
    return Piece(first, int(end[places.CUT_VERTEX]), position, needs, arcs, int(end[places.CUT_LARGEST]))
