"""What is on its way to device memory: where it will lie is known from the beginning, and it is waited for in parts.

So all that goes by the address alone is made meanwhile, and what goes by the first bytes does not wait for the last.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from bigbfs.engines.gpu.runtime.stretches import Source, memory_of
from bigbfs.engines.gpu.runtime.upload import Upload
from bigbfs.errors import DoesNotFitError


class Arrived:
    """An array that is there (``Runtime.coming``)."""

    def __init__(self, array: Any) -> None:
        self.array, self.ended = array, time.perf_counter()

    def wait(self, nbytes: int | None = None) -> None:
        """Do nothing."""


class Coming:
    """An array that an upload carries (``Runtime.coming``)."""

    def __init__(self, way: OnTheWay, source: Source, upload: Upload, number: int, array: Any) -> None:
        self._way, self._source, self._upload, self._number, self.array = way, source, upload, number, array

    @property
    def ended(self) -> float:
        """When the last byte was there."""
        return self._upload.ended(self._number)

    def wait(self, nbytes: int | None = None) -> None:
        """Return when the first bytes are there, or all; once all are, a further call does nothing."""
        with self._way.errors():
            if nbytes is None or not self._upload.wait_for(self._number, nbytes):
                self._way.wait(self._source)


class OnTheWay:
    """The uploads of a device.

    Parameters
    ----------
    cupy, index
        The module, and the device.
    empty, plain
        Allocate an array of a shape and a dtype; copy a source to one without pinned buffers.
    errors
        Turns errors of CUDA's into ours.
    """

    def __init__(
        self,
        cupy: Any,
        index: int,
        empty: Callable[[Any, Any], Any],
        plain: Callable[[Source, Any], Any],
        errors: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._cupy, self._index, self._empty, self._plain, self.errors = cupy, index, empty, plain, errors
        self._begun: dict[tuple[int, int], tuple[Upload, int, Any]] = {}

    def begin(self, *sources: Source) -> None:
        """Begin to copy, the first first; what has been begun is not begun again."""
        new = [source for source in sources if memory_of(source) not in self._begun]
        if not new:
            return
        targets = [self._empty(source.shape, source.dtype) for source in new]
        with self.errors():
            upload = Upload(self._cupy, self._index, list(zip(targets, new, strict=True)))
        for number, (source, target) in enumerate(zip(new, targets, strict=True)):
            self._begun[memory_of(source)] = upload, number, target

    def coming(self, source: Source) -> Coming:
        """Return what waits for ``source``, which is begun if nobody has."""
        self.begin(source)
        return Coming(self, source, *self._begun[memory_of(source)])

    def wait(self, source: Source) -> None:
        """Return when all of ``source`` is there. Nothing is held for it any more."""
        if memory_of(source) not in self._begun:
            return
        upload, number, target = self._begun.pop(memory_of(source))
        try:
            upload.wait(number if any(upload is other for other, *_ in self._begun.values()) else None)
        except DoesNotFitError:  # no pinned buffers: pageable memory only copies more slowly
            self._plain(source, target)

    def close(self) -> None:
        """Stop what nobody has waited for."""
        while self._begun:
            self._begun.popitem()[1][0].close()
