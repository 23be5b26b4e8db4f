"""Edges from an uncompressed .npy file straight into columns, by several threads.

Each thread reads pieces of the file by their place, cuts pairs into sources and targets while they are in the cache,
and looks at the bits of all ids on the way. The file is read, not mapped: one that is cut short meanwhile is an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.readers.array_header import LARGEST_ID, Header, edges_are_rows, no_edges, no_ids, read_header
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.format import NO_RULES, Rules
from bigbfs.formats.streams.sources import Source, read_error
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import Workers, ranges, thread_count
from bigbfs.sizes import id_limit

BLOCK_BYTES = 1 << 27
PIECE_BYTES = 1 << 20
"""Bytes that a thread reads at once: they stay in a core's second-level cache until they are cut."""


class PairFile:
    """Edges of an open .npy file.

    Parameters
    ----------
    name
        For messages.
    handle
        Descriptor of the file.
    header
        What it declares; the size of the file has been compared with it.
    rules
        Whether its rows or its columns are edges, where the shape does not say.

    Raises
    ------
    InputError
        It is no array of edges.
    """

    def __init__(self, name: str, handle: int, header: Header, rules: Rules) -> None:
        dtype = header.dtype
        if dtype.kind not in "iu":
            raise no_ids(name, header.shape, dtype)
        if 0 in header.shape:
            raise no_edges(name, header.shape, dtype)
        rows = edges_are_rows(name, header.shape, rules)
        self.name, self._handle, self.start, self._dtype = name, handle, header.length, dtype
        self._interleaved = rows != header.fortran
        self.edges = header.shape[0 if rows else 1]
        self.edge_bytes = 2 * dtype.itemsize
        # an id that is too large, and as unsigned number a negative one, has a bit beyond these
        self._bits = 31 if dtype.kind == "i" and dtype.itemsize == 4 else min(8 * dtype.itemsize, 63)
        if dtype.itemsize < 4:
            self._bits = 63

    def sample(self, places: int, edges: int) -> np.ndarray:
        """Return the ids (uint64) of ``edges`` edges at each of so many places all over the file; bad ids left out.

        Raises
        ------
        InputError, FileAccessError
            As :meth:`read_all`.
        """
        found = []
        buffer = np.empty(edges * self.edge_bytes, np.uint8)
        step = max(edges, self.edges // places)
        for first in range(0, self.edges, step):
            last = min(first + edges, self.edges)
            starts = [2 * first] if self._interleaved else [first, self.edges + first]
            count = 2 * (last - first) // len(starts)
            found += [self._values(start, start + count, buffer).astype(np.uint64) for start in starts]
        ids = np.concatenate(found)
        return ids[ids >> np.uint64(self._bits) == 0]

    def read_all(
        self,
        edges: EdgeBuffer,
        *,
        threads: int | None,
        block_bytes: int | None,
        progress: Callable[[int], object] | None,
        within: tuple[int, int] | None = None,
    ) -> None:
        """Append all edges to ``edges``, or those ``within`` (first, end), ``block_bytes`` of the file at a time.

        Raises
        ------
        InputError
            An id is negative or above 2**63 - 1, or the file is cut short.
        FileAccessError
            It cannot be read.
        DoesNotFitError
            The edges take more memory than they may.
        """
        begin, end = within or (0, self.edges)
        edges.reserve(end - begin)
        step = max(1, (block_bytes or BLOCK_BYTES) // self.edge_bytes)
        most = thread_count(threads)
        with Workers(most) as workers:
            for first in range(begin, end, step):
                last = min(first + step, end)
                while not self._read_block(first, last, edges, workers, most):
                    edges.widen()
                edges.keep(last - first)
                if progress is not None:
                    progress((last - first) * self.edge_bytes)

    def _read_block(self, first: int, last: int, edges: EdgeBuffer, workers: Workers, threads: int) -> bool:
        """Write the edges ``first`` to ``last - 1`` into the next space; return whether all ids fit its dtype."""
        sources, targets = edges.space(last - first)
        most = max(1, PIECE_BYTES // self.edge_bytes)
        pieces = ranges(last - first, max(-(-(last - first) // most), 2 * threads))
        seen = [0] * len(pieces)
        buffers: SimpleQueue[np.ndarray] = SimpleQueue()
        for _ in range(threads):
            buffers.put(np.empty(min(most, last - first) * self.edge_bytes, np.uint8))

        def read(number: int) -> None:
            start, stop = pieces[number]
            buffer = buffers.get()
            try:
                seen[number] = self._read_piece(
                    first + start, first + stop, buffer, sources[start:stop], targets[start:stop]
                )
            finally:
                buffers.put(buffer)

        workers.each(len(pieces), read)
        for (start, stop), bits in zip(pieces, seen, strict=True):
            if bits >> self._bits:
                raise self._bad_id(first + start, first + stop)
        return max(seen) < 2 ** (8 * edges.dtype.itemsize)

    def _read_piece(self, first: int, last: int, buffer: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> int:
        """Read some edges; return a number with all bits that their ids have."""
        if self._interleaved:
            return int(_split(self._values(2 * first, 2 * last, buffer), sources, targets))
        seen = 0
        for side, start in ((sources, 0), (targets, self.edges)):
            values = self._values(start + first, start + last, buffer)
            side[:] = values
            seen |= int(np.bitwise_or.reduce(values))
        return seen

    def _values(self, first: int, last: int, buffer: np.ndarray) -> np.ndarray:
        """Read the items ``first`` to ``last - 1``: native, 4 or 8 bytes wide, taken as unsigned."""
        size = self._dtype.itemsize
        self._fill(buffer.data[: (last - first) * size], self.start + first * size)
        values = buffer[: (last - first) * size].view(self._dtype)
        if size < 4 or not self._dtype.isnative:
            wide = np.int64 if size < 4 else self._dtype.newbyteorder("=")
            values = values.astype(wide)
        return values.view(np.uint32 if values.itemsize == 4 else np.uint64)

    def _fill(self, target: memoryview, at: int) -> None:
        filled = 0
        while filled < len(target):
            try:
                got = os.preadv(self._handle, [target[filled:]], at + filled)
            except OSError as error:
                raise read_error(self.name, error) from error
            if got == 0:
                raise InputError(f"{self.name}: was cut short at byte {at + filled} while it was read; write it again")
            filled += got

    def _bad_id(self, first: int, last: int) -> InputError:
        """Return the error that names the first bad id of these edges."""
        buffer = np.empty((last - first) * self.edge_bytes, np.uint8)
        if self._interleaved:
            found = self._values(2 * first, 2 * last, buffer).reshape(-1, 2)
        else:
            sides = [self._values(start + first, start + last, buffer).copy() for start in (0, self.edges)]
            found = np.stack(sides, axis=1)
        places = np.argwhere(found >> found.dtype.type(self._bits))
        if not len(places):
            return InputError(f"{self.name}: changed while it was read; convert it again")
        edge, side = places[0].tolist()
        value = found[edge, side : side + 1]
        wrong = int(value.view(f"i{value.itemsize}")[0] if self._dtype.kind == "i" else value[0])
        return InputError(f"{self.name}: edge {first + edge}: vertex id {wrong} is outside 0 to {id_limit(LARGEST_ID)}")


@contextmanager
def pair_file(source: Source, rules: Rules = NO_RULES) -> Iterator[PairFile]:
    """Open an uncompressed .npy.

    Raises
    ------
    InputError
        It is no array of edges, or not as long as it declares.
    """
    with source.seekable() as (file, _):
        yield PairFile(source.name, file.fileno(), read_header(source.name, file.read, source.size), rules)


@njit(cache=True, nogil=True)
def _split(pairs, sources, targets):
    """Cut ``pairs`` into sources and targets (too wide ids lose their upper bits); return the bits of all ids."""
    bits = np.uint64(0)
    for edge in range(len(sources)):
        source, target = pairs[2 * edge], pairs[2 * edge + 1]
        sources[edge], targets[edge] = source, target
        bits |= np.uint64(source) | np.uint64(target)
    return bits
