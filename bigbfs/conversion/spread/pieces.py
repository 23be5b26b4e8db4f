"""The sections of own rows, each with its items: in a file (of a rank that sorts on disk), or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from bigbfs.formats.container.layout import Section
from bigbfs.formats.shards.files import CHUNK, PieceReader

Items = Callable[[Section, int, int], Iterator[np.ndarray]]
"""Returns the items ``first`` to ``last - 1`` of a section, in stretches."""


class Pieces(Protocol):
    """Sections of own rows; they count from their own beginning, as those of a shard do (docs/formats.md)."""

    @property
    def table(self) -> list[Section]:
        """The sections, in their order; where they lie is of no use to others."""

    def opened(self) -> AbstractContextManager[Items]:
        """Return what reads them."""


@dataclass(frozen=True)
class FilePieces:
    """Sections in the file ``path``."""

    path: Path
    table: list[Section]

    @contextmanager
    def opened(self) -> Iterator[Items]:
        """Return what reads them.

        Raises
        ------
        FileAccessError
            The file cannot be opened.
        """
        reader = PieceReader(self.path)
        try:
            yield reader.items
        finally:
            reader.close()


@dataclass(frozen=True)
class ArrayPieces:
    """Sections in memory, by name."""

    arrays: dict[str, np.ndarray]

    @property
    def table(self) -> list[Section]:
        """The sections, in their order."""
        return [
            Section(name, array.dtype.newbyteorder("<").str, len(array), 0, array.nbytes, 0)
            for name, array in self.arrays.items()
        ]

    def opened(self) -> AbstractContextManager[Items]:
        """Return what reads them."""
        return nullcontext(self._items)

    def _items(self, section: Section, first: int, last: int) -> Iterator[np.ndarray]:
        array = self.arrays[section.name]
        step = CHUNK // array.itemsize
        return (array[start : min(start + step, last)] for start in range(first, last, step))
