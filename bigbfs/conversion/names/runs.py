"""Sorted runs of names on disk: written once, read window by window while they are merged."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.errors import FileAccessError
from bigbfs.jit.njit import njit

_LOW = np.uint64(0xFFFFFFFF)
_WRITTEN = 1 << 19
"""Words written at once."""


@dataclass
class Run:
    """A sorted run: its file, its names, and the file that gets (number, rank) of each when it is merged."""

    path: Path
    count: int

    @property
    def ranks(self) -> Path:
        """File of pairs (uint64) of a name's number in the run and its rank."""
        return self.path.with_name(self.path.name + "-ranks")


@njit(cache=True, nogil=True)
def _copy(words, records, first, out):
    """Copy records from ``first`` on to ``out``; return (next record, words filled)."""
    filled = np.int64(0)
    while first < len(records):
        size = 1 + (np.int64(words[records[first]] & _LOW) + 7) // 8
        if filled + size > len(out):
            break
        out[filled : filled + size] = words[records[first] : records[first] + size]
        filled += size
        first += 1
    return first, filled


@njit(cache=True, nogil=True)
def whole_records(words, at, end, records):
    """Write the places of the whole records in ``words[at:end]`` to ``records``; return how many, and their end."""
    count = np.int64(0)
    while at < end and count < len(records):
        size = 1 + (np.int64(words[at] & _LOW) + 7) // 8
        if at + size > end:
            break
        records[count] = at
        count += 1
        at += size
    return count, at


def write_run(path: Path, words: np.ndarray, records: np.ndarray, scratch: Scratch) -> Run:
    """Write the records in their order.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    out = np.empty(_WRITTEN, np.uint64)
    first = 0
    try:
        with path.open("wb") as stream:
            while first < len(records):
                done, filled = (int(each) for each in _copy(words, records, first, out))
                if done == first:  # one name longer than the buffer
                    out = np.empty(2 + (int(words[records[first]] & _LOW) + 7) // 8, np.uint64)
                    continue
                scratch.wrote(8 * filled)
                stream.write(out[:filled].data)
                first = done
    except OSError as error:
        raise scratch.error(error) from error
    return Run(path, len(records))


class Window:
    """The part of a run that is in memory: words ``begin`` to ``end`` of a shared array.

    Its file is ``held`` open, or opened whenever it is read.
    """

    def __init__(self, run: Run, words: np.ndarray, begin: int, end: int, scratch: Scratch, held: bool = True) -> None:
        self.run, self._words, self._begin, self._end, self._scratch = run, words, begin, end, scratch
        self._held, self._at = run.path.open("rb", buffering=0) if held else None, 0
        self._kept_from = self._kept_to = begin
        self.last = False

    def refill(self, records: np.ndarray) -> int:
        """Read on; write the places of the records now here to ``records`` and return how many. All before are gone.

        Raises
        ------
        FileAccessError
            The file cannot be read.
        """
        kept = self._kept_to - self._kept_from
        self._words[self._begin : self._begin + kept] = self._words[self._kept_from : self._kept_to].copy()
        filled = self._begin + kept
        try:
            got = self._read(self._words[filled : self._end].view(np.uint8).data)
        except OSError as error:
            raise self._scratch.error(error) from error
        if got % 8:
            raise FileAccessError(f"{self.run.path}: was cut short while it was read")
        end = filled + got // 8
        count, at = (int(each) for each in whole_records(self._words, self._begin, end, records))
        self._kept_from, self._kept_to = at, end
        self.last = end < self._end and at == end
        return count

    def _read(self, into: memoryview) -> int:
        """Fill ``into`` from where the last call ended; return how many bytes there were."""
        if self._held is None:
            with self.run.path.open("rb", buffering=0) as stream:
                return self._filled(stream, into)
        return self._filled(self._held, into)

    def _filled(self, stream: io.FileIO, into: memoryview) -> int:
        stream.seek(self._at)
        got = 0
        while got < len(into) and (more := stream.readinto(into[got:])):
            got += more
        self._at += got
        return got

    def close(self) -> None:
        """Close and remove the file."""
        if self._held is not None:
            self._held.close()
        self.run.path.unlink(missing_ok=True)
