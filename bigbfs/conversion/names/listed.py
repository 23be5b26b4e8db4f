"""A list of names in byte order, a line for each vertex (a .urls beside a BVGraph), as the names of a graph.

Nothing is sorted: the list is in the order of the vertices, and byte order is that of the names section, so line i is
the name of vertex i. It is read once, block by block, and its pages go to a temporary file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bigbfs.conversion.bvgraphs import is_one_bvgraph
from bigbfs.conversion.names.forms import same_but_for_form
from bigbfs.conversion.names.sorting import below
from bigbfs.conversion.names.store import PageStore
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import InputError, RemedyLike
from bigbfs.formats.bvgraph.properties import URLS, parts, read_properties, urls_beside
from bigbfs.formats.streams.sources import Source
from bigbfs.graph.name_kernels import record_name
from bigbfs.graph.names import Names
from bigbfs.jit.njit import njit
from bigbfs.report.progress import SILENT, Progress
from bigbfs.sizes import counted, format_size

BLOCK_BYTES = 1 << 22
"""Bytes of the list that are read at once; a longer line makes it more."""
LONGEST = 2**30
"""Bytes of a line, at most: an eighth of ``memory`` where that is less."""
_LONGEST_SHOWN = 60
_WAY_OUT: RemedyLike = ("names", False, "leave the names out with {}")

GOOD, EMPTY, FALLS, AGAIN = range(4)


@njit(cache=True, nogil=True)
def read_lines(data, size, words, records):
    """Write the lines of ``data[:size]``, which ends with one, as records to ``words`` from word 0 on.

    The record before the first, where ``words`` and ``records[0]`` have one, is kept there: ``records[0]`` is -1 else.

    Returns
    -------
    count, status, place
        Records behind ``records[0]``, what is wrong with the line after them, and where that begins.
    """
    before = records[0]
    free = np.int64(0)
    if before >= 0:
        free = before + 1 + (np.int64(words[before] & np.uint64(0xFFFFFFFF)) + 7) // 8
    count, begin = np.int64(0), np.int64(0)
    for at in range(size):
        if data[at] != 10:
            continue
        end = at - 1 if at > begin and data[at - 1] == 13 else at
        if end == begin:
            return count, EMPTY, begin
        record = free
        free = record_name(data, begin, end, words, record, 0)
        if before >= 0 and not below(words, before, words, record, 0):
            return count, FALLS if below(words, record, words, before, 0) else AGAIN, begin
        count += 1
        records[count] = record
        before = record
        begin = at + 1
    return count, GOOD, begin


class Wanted(NamedTuple):
    """A list that is to be read: the file, how many names it must have, and who says so."""

    path: Path
    n: int
    who: Path


def list_of_names(inputs: Sequence[str | Path], options: ConvertOptions) -> Wanted | None:
    """Return the list of names beside the only input, a BVGraph, unless nobody wants it.

    Raises
    ------
    InputError, FileAccessError
        Its .properties are not what they should be; names are wanted, and there is no list.
    """
    if options.names is False or not is_one_bvgraph(inputs, options):
        return None
    found, properties = urls_beside(inputs[0]), parts(inputs[0])[1]
    if found is not None:
        return Wanted(found, read_properties(properties).n, properties)
    if options.names:
        beside = properties.with_suffix(URLS)
        what = f"{beside}: there is no such list of names (nor .gz, .zst, ...)"
        raise InputError(what, about=(("names", True),), remedies=("leave it out",))
    return None


@dataclass(frozen=True)
class Listed:
    """Names that were read from a list, and what to tell of them."""

    pages: PageStore
    notes: tuple[str, ...]

    def names(self) -> Names:
        """Return the names, mapped from a temporary file."""
        return self.pages.names()

    def sections(self) -> Iterator[tuple[str, np.dtype, int, Iterator[np.ndarray]]]:
        """Return name, dtype, items and content, in stretches, of every section of the names."""
        return self.pages.sections()


class _Reader:
    """Reads one list into pages."""

    def __init__(self, wanted: Wanted, source: Source, store: PageStore, longest: int) -> None:
        self._wanted, self._source, self._store, self._longest = wanted, source, store, longest
        self._lines = 0
        self._last = np.zeros(0, np.uint64)

    def read(self, told: Progress) -> None:
        """Read to the end."""
        data, filled, consumed = np.empty(BLOCK_BYTES, np.uint8), 0, 0
        while True:
            if filled == len(data):
                if filled > self._longest:
                    raise self._error(f"has more than {format_size(self._longest)}, which is too long for a name here")
                data = np.concatenate([data, np.empty(len(data), np.uint8)])
            got = self._source.readinto(data.data[filled:])
            told.advance(self._source.consumed - consumed)
            consumed = self._source.consumed
            if not got and filled:
                data[filled] = 10  # the last line may lack its end: there is room, for nothing more was read
                got = 1
            if not got:
                return
            new = np.flatnonzero(data[filled : filled + got] == 10)
            filled += got
            if len(new):
                end = filled - got + int(new[-1]) + 1
                self._take(data, end)
                data[: filled - end] = data[end:filled].copy()
                filled -= end

    def _take(self, data: np.ndarray, size: int) -> None:
        """Take the whole lines ``data[:size]``."""
        most = int(np.count_nonzero(data[:size] == 10))
        words = np.empty(len(self._last) + size // 8 + 2 * most + 1, np.uint64)
        words[: len(self._last)] = self._last
        records = np.empty(most + 1, np.int64)
        records[0] = 0 if len(self._last) else -1
        count, status, begin = (int(each) for each in read_lines(data, size, words, records))
        self._require_utf8(data[:begin].tobytes())
        self._lines += count
        last = int(records[count])
        if status != GOOD:
            raise self._wrong(status, data[begin:size].tobytes(), b"" if last < 0 else _name(words, last))
        if self._lines > self._wanted.n:
            self._lines = self._wanted.n
            raise self._error(f"is one more than the nodes={self._wanted.n} of {self._wanted.who}")
        self._store.writer.add(words, records[1 : count + 1])
        self._last = words[last : last + 1 + (int(words[last]) + 7) // 8].copy()

    def _require_utf8(self, text: bytes) -> None:
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            self._lines += text.count(b"\n", 0, error.start)
            raise self._error(f"is no name: {error.reason} at one of its bytes; names are UTF-8") from error

    def _wrong(self, status: int, rest: bytes, before: bytes) -> InputError:
        if status == EMPTY:
            return self._error("is empty, and an empty name is no vertex")
        line = _shown(rest.partition(b"\n")[0].removesuffix(b"\r"))
        if status == AGAIN:
            return self._error(f"has the name {line} of the line before again; vertices have different names")
        return self._error(
            f"has {line} behind {_shown(before)}: names must ascend in byte order (as LC_ALL=C sort puts them), since "
            "vertices are numbered so; the list is of another graph, or the graph is in another order"
        )

    def _error(self, what: str) -> InputError:
        return InputError(f"{self._source.name}: line {self._lines + 1} {what}", remedies=(_WAY_OUT,))

    def require_end(self) -> None:
        """Refuse a list that has fewer names than there are vertices."""
        if self._lines < self._wanted.n:
            raise InputError(
                f"{self._source.name}: {counted(self._lines, 'line')}, and {self._wanted.who} says "
                f"nodes={self._wanted.n}; it is cut short, or of another graph",
                remedies=(_WAY_OUT,),
            )


def _name(words: np.ndarray, record: int) -> bytes:
    return words[record + 1 :].tobytes()[: int(words[record]) & 0xFFFFFFFF]


def _shown(name: bytes) -> str:
    text = name.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")


def read_list(wanted: Wanted, scratch: Scratch, memory: int, told: Progress = SILENT) -> Listed:
    """Read a list of names in a process that may take ``memory`` bytes.

    Raises
    ------
    InputError
        It has not as many lines as there are vertices, they do not ascend, one is empty or no UTF-8; with the line.
        It changed while it was read.
    FileAccessError
        It cannot be read, or a temporary file not be written.
    """
    store = PageStore(scratch)
    store.to_disk()
    with Source(wanted.path) as source, told.step(f"read the names in {wanted.path}", source.size or 0, "B"):
        reader = _Reader(wanted, source, store, max(BLOCK_BYTES, min(LONGEST, memory // 8)))
        try:
            reader.read(told)
            reader.require_end()
        except InputError as error:
            if source.changed():
                raise InputError(f"{source.name}: changed while it was read; convert it again") from error
            raise
    store.finish()
    notes = [f"{wanted.path}: its lines are the names of the vertices"]
    alike = same_but_for_form(store.writer.odd, store.names())
    return Listed(store, (*notes, *([] if alike is None else [alike])))
