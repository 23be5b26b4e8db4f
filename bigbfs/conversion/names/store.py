"""PageStore: the pages of a names section as they are written, in memory or in a temporary file, and read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.graph.name_pages import PageWriter
from bigbfs.graph.names import Names

_STRETCH = 1 << 24
_PAGES_AT_ONCE = 64


class PageStore:
    """Takes pages; in memory until :meth:`to_disk`.

    Attributes
    ----------
    writer
        Makes the pages of names in byte order.
    ptr, firsts
        As in :class:`bigbfs.graph.names.Names`, once :meth:`finish` was called.
    """

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._blob: list[bytes] = []
        self._file: Path | None = None
        self.writer = PageWriter(self._take)
        self.ptr = self.firsts = np.zeros(1, np.uint64)

    @property
    def on_disk(self) -> bool:
        """Whether the pages go to a file."""
        return self._file is not None

    def to_disk(self) -> None:
        """Put what is in memory, and all that comes, into a temporary file.

        Raises
        ------
        FileAccessError
            It cannot be written.
        """
        self._file = self._scratch.folder / "names"
        self._flush()

    def _take(self, page: bytes) -> None:
        self._blob.append(page)
        if self._file is not None and len(self._blob) >= _PAGES_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        assert self._file is not None
        try:
            with self._file.open("ab") as stream:
                for page in self._blob:
                    self._scratch.wrote(len(page))
                    stream.write(page)
        except OSError as error:
            raise self._scratch.error(error) from error
        self._blob.clear()

    def finish(self) -> None:
        """Complete the last page."""
        self.ptr, self.firsts = self.writer.finish()
        if self._file is not None:
            self._flush()

    @property
    def nbytes(self) -> int:
        """Bytes that it takes in memory."""
        return sum(map(len, self._blob)) + self.ptr.nbytes + self.firsts.nbytes

    def names(self) -> Names:
        """Return the names; on disk they are mapped."""
        if self._file is None:
            self._blob = [b"".join(self._blob)]
            blob = np.frombuffer(self._blob[0], np.uint8)
        else:
            blob = np.memmap(self._file, np.uint8, "r")
        return Names(blob, self.ptr, self.firsts)

    def sections(self) -> Iterator[tuple[str, np.dtype, int, Iterator[np.ndarray]]]:
        """Return name, dtype, items and content, in stretches, of every section of the names."""
        size = int(self.ptr[-1])
        yield "names", np.dtype(np.uint8), size, self._stretches(size)
        yield "names_ptr", self.ptr.dtype, len(self.ptr), iter([self.ptr])
        yield "names_first", self.firsts.dtype, len(self.firsts), iter([self.firsts])

    def _stretches(self, size: int) -> Iterator[np.ndarray]:
        if self._file is None:
            yield np.frombuffer(b"".join(self._blob), np.uint8)
            return
        with self._file.open("rb") as stream:
            for first in range(0, size, _STRETCH):
                yield np.fromfile(stream, np.uint8, min(_STRETCH, size - first))
