"""A BVGraph file: opened, read by one thread, and made into rows by several, in order.

Reading codes is serial, and takes less than making rows of them; it runs ahead by a few pieces while other threads make
those rows. The .offsets are not needed. Memory holds the pieces under way, whatever the size of the graph; what they
are decoded in is kept for the next ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from bigbfs.errors import DoesNotFitError, InputError
from bigbfs.formats.bvgraph import scan as places
from bigbfs.formats.bvgraph.decode import LANES, Scratch, decode, take_rows
from bigbfs.formats.bvgraph.properties import read_properties
from bigbfs.formats.bvgraph.scan import Ring, Shape, scan
from bigbfs.formats.container.mapped import MappedFile
from bigbfs.graph.adjacency import id_dtype
from bigbfs.sizes import size_allowed, size_needed

ARCS_OF_PIECE = 1 << 16
"""Arcs that are decoded in one go: their ids stay in a core's second-level cache."""
_KEPT = 4 * ARCS_OF_PIECE
"""Ids or numbers for which there is room in what is kept for the next piece: not after a piece that was very long."""
_LEAST_RING = 1 << 10
_PADDING = 128
"""Bits behind the last row that may be left of a word."""


class Piece(NamedTuple):
    """Rows ``first`` to ``last - 1``: what they need, the numbers of both, and room for them."""

    first: int
    last: int
    needs: np.ndarray
    numbers: np.ndarray
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
        self._numbers: list[np.ndarray] = []
        self._scratch: list[Scratch] = []

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
        damage: InputError | None = None
        with ThreadPoolExecutor(threads, "bigbfs-bvgraph") as pool:
            try:
                pieces = self._pieces(arcs_of_piece, memory)
                while (piece := self._next(pieces)) is not None:
                    if isinstance(piece, InputError):
                        damage = piece
                        break
                    waiting.append(pool.submit(self._decode, piece, keep_loops))
                    while len(waiting) > 2 * threads + 2 or (waiting and waiting[0].done()):
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
                if damage is not None:
                    raise damage
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    @staticmethod
    def _next(pieces: Iterator[Piece]) -> Piece | InputError | None:
        """Return the next piece, or why there is none: it is told after what may be wrong in those before."""
        try:
            return next(pieces, None)
        except InputError as error:
            return error

    def _require_room(self, first: int, last: int, arcs: int, numbers: int, memory: int | None) -> None:
        need = 4 * arcs * self.ids.itemsize + 8 * numbers
        if memory is not None and need > max(memory, 16 * ARCS_OF_PIECE * self.ids.itemsize):
            raise DoesNotFitError(
                f"{self.name}: the rows of vertices {first} to {last - 1} refer to one another, so that they are "
                f"decoded at once, which takes {size_needed(need)} and more, and {size_allowed(memory)} may be used",
                remedies=(("memory", None),),
            )

    def _pieces(
        self, arcs_of_piece: int, memory: int | None = None, state: np.ndarray | None = None
    ) -> Iterator[Piece]:
        """Scan the file; return the pieces as they are found. Where the scan stands is in ``state``, all 0 at first."""
        shape = self.shape
        size = max(_LEAST_RING, 1 << (2 * shape.window + 1).bit_length())
        bits, degrees, backs = np.zeros((3, size), np.int64)
        ring = Ring(bits, degrees, backs, np.zeros(size, np.uint8))
        state = np.zeros(places.ITEMS, np.int64) if state is None else state
        needs = np.zeros((size, 2), np.int64)
        while state[places.VERTEX] < shape.n:
            first = int(state[places.VERTEX])
            numbers = self._numbers.pop() if self._numbers else np.empty(4 * arcs_of_piece, np.int64)
            next_needs = np.zeros((size, 2), np.int64)
            state[places.NUMBERS] = 0
            while True:
                found = scan(self._data, shape, state, ring, arcs_of_piece, needs, next_needs, numbers)
                last, arcs = int(state[places.VERTEX]), int(state[places.ARCS_HERE])
                if state[places.STATUS] != places.FULL:
                    break
                self._require_room(first, last, arcs, int(state[places.VALUE]), memory)
                numbers = np.concatenate([numbers, np.empty(max(len(numbers), int(state[places.VALUE])), np.int64)])
            if state[places.STATUS] != places.GOOD:
                raise self._error(state)
            self._require_room(first, last, arcs, int(state[places.NUMBERS]), memory)
            yield Piece(first, last, needs[: state[places.NEEDS]], numbers, arcs, int(state[places.LARGEST]))
            needs, state[places.NEEDS] = next_needs, found
        self._require_end(state)

    def _decode(self, piece: Piece, keep_loops: bool) -> Decoded:
        base = int(piece.needs[0, 0]) if len(piece.needs) else piece.first
        scratch = self._roomy(piece.arcs, piece.largest, piece.last - base)
        state = np.zeros(places.ITEMS, np.int64)
        loops = decode(self._data, self.shape, piece.needs, piece.first, piece.last, piece.numbers, scratch, state)
        self._give_back(piece)
        if state[places.STATUS] != places.GOOD:
            raise self._error(state)
        degrees = np.empty(piece.last - piece.first, np.int64)
        skipped = piece.first - base
        arcs = int(scratch.starts[piece.last - base] - scratch.starts[skipped])
        out = np.empty(arcs + len(LANES), self.ids)
        left, loops = take_rows(scratch, skipped, loops, keep_loops, out, degrees)
        if len(scratch.ids) <= _KEPT:
            self._scratch.append(scratch)
        return Decoded(piece.first, degrees, out[:left], int(loops))

    def _give_back(self, piece: Piece) -> None:
        """Keep the room of a piece's numbers for those of another."""
        if len(piece.numbers) <= _KEPT:
            self._numbers.append(piece.numbers)

    def _roomy(self, arcs: int, largest: int, rows: int) -> Scratch:
        """Return room for a piece, that of one before where it is large enough."""
        wide = len(LANES)
        ids, row = arcs + wide, largest + wide
        with suppress(IndexError):  # other threads take from the list too
            old = self._scratch.pop()
            if len(old.ids) >= ids and len(old.copied) >= row and len(old.bits) >= rows:
                return old
        one, copied, others = (np.empty(size, self.ids) for size in (ids, row, row))
        starts, bits, loops = (np.empty(size, np.int64) for size in (rows + 1, rows, (rows, 2)))
        return Scratch(one, copied, others, starts, bits, loops)

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
