"""Python twins of the intrinsics, for NUMBA_DISABLE_JIT=1: kernels then run as Python, for debuggers and fuzzers.

Slow, and atomic only because one lock guards them all. :func:`intrinsic` decides which of the two is used.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from bigbfs.jit import settings
from bigbfs.jit.later import type_of

_LOCK = threading.Lock()


# nobody holds it in a forked process, where its thread would not be
os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class Intrinsic:
    """What :func:`numba.extending.intrinsic` makes of a function, once it is wanted."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self._made = function, None
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def real(self) -> Any:
        """Return it."""
        if self._made is None:
            self._made = import_module("numba.extending").intrinsic(self._function)
        return self._made

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for in a kernel that is not ours."""
        return type_of(self.real())


def intrinsic(function: Callable[..., Any]) -> Any:
    """Decorate as :func:`numba.extending.intrinsic` does; without a compiler return the twin of the same name."""
    return globals()[function.__name__] if settings.interpreted() else Intrinsic(function)


def load(array: np.ndarray, index: int) -> Any:
    """Return ``array[index]``."""
    return array[index]


def store(array: np.ndarray, index: int, value: Any) -> None:
    """Set ``array[index] = value``."""
    array[index] = value


def fetch_add(array: np.ndarray, index: int, value: Any) -> Any:
    """Add ``value`` to ``array[index]`` and return what was there before."""
    with _LOCK:
        before = array[index]
        array[index] = before + array.dtype.type(value)
        return before


def fetch_or(array: np.ndarray, index: int, value: Any) -> Any:
    """Set the bits of ``value`` in ``array[index]`` and return what was there before."""
    with _LOCK:
        before = array[index]
        array[index] = before | array.dtype.type(value)
        return before


def fetch_min(array: np.ndarray, index: int, value: Any) -> Any:
    """Lower ``array[index]`` to ``value`` if that is less; return what was there before."""
    with _LOCK:
        before = array[index]
        array[index] = min(before, array.dtype.type(value))
        return before


def compare_and_swap(array: np.ndarray, index: int, expected: Any, value: Any) -> Any:
    """Set ``array[index] = value`` if it is ``expected``; return what was there before."""
    with _LOCK:
        before = array[index]
        if before == array.dtype.type(expected):
            array[index] = value
        return before


def trailing_zeros(word: Any) -> np.uint64:
    """Return the position of the lowest set bit; 64 for 0."""
    number = int(word)
    return np.uint64((number & -number).bit_length() - 1 if number else 64)


def leading_zeros(word: Any) -> np.uint64:
    """Return the number of zero bits above the highest set bit; 64 for 0."""
    return np.uint64(64 - int(word).bit_length())


def population(word: Any) -> np.uint64:
    """Return the number of set bits."""
    return np.uint64(int(word).bit_count())


def unforeseen(word: Any) -> Any:
    """Return ``word``."""
    return word


def load_word(array: np.ndarray, position: int) -> np.uint64:
    """Return the 8 bytes at ``array[position:]`` as one little-endian uint64."""
    data = array[int(position) : int(position) + 8].tobytes()
    if len(data) < 8:
        raise IndexError(f"8 bytes at {position} of {len(array)}")
    return np.uint64(int.from_bytes(data, "little"))


def bytes_reversed(word: Any) -> np.uint64:
    """Return the 8 bytes of a word in the opposite order."""
    return np.uint64(int.from_bytes(int(word).to_bytes(8, "little"), "big"))


def store_word(array: np.ndarray, position: int, word: Any) -> None:
    """Write a uint64, little-endian, to the 8 bytes at ``array[position:]``."""
    array[int(position) : int(position) + 8] = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)


def fetch_soon(array: np.ndarray, index: int) -> None:
    """Do nothing."""


def load_vector(array: np.ndarray, index: int, lanes: tuple[int, ...]) -> np.ndarray:
    """Return the items from ``index`` on, as many as ``lanes`` has."""
    return array[int(index) : int(index) + len(lanes)].copy()


def store_vector(array: np.ndarray, index: int, vector: np.ndarray) -> None:
    """Write ``vector`` to the items from ``index`` on."""
    array[int(index) : int(index) + len(vector)] = vector


def either(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the bits of both together."""
    return one | other


def both(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the bits that both have."""
    return one & other


def one_of(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the bits that exactly one has."""
    return one ^ other


def without(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the bits of ``one`` that ``other`` lacks."""
    return one & ~other


def any_bit(vector: np.ndarray) -> bool:
    """Return whether a bit is set."""
    return bool(vector.any())


def count_bits(vector: np.ndarray) -> np.uint64:
    """Return the number of set bits."""
    return np.uint64(np.bitwise_count(vector).sum())


def first_not_below(vector: np.ndarray, item: Any) -> int:
    """Return which item is the first that is not less than ``item``; their number if there is none."""
    return int(np.append(vector >= item, True).argmax())


def halved(vector: np.ndarray) -> np.ndarray:
    """Return the items, shifted down by one bit."""
    return vector >> vector.dtype.type(1)


def first_lanes(vector: np.ndarray, count: Any, other: Any) -> np.ndarray:
    """Return the first ``count`` items, and ``other`` in the lanes behind."""
    return np.where(np.arange(len(vector)) < int(count), vector, vector.dtype.type(other))


def ascending(vector: np.ndarray) -> np.ndarray:
    """Return the items in ascending order."""
    return np.sort(vector)


def any_pair(vector: np.ndarray, other: Any) -> bool:
    """Return whether two neighbouring items are equal and not ``other``."""
    return bool(((vector == np.roll(vector, -1)) & (vector != other)).any())


def borrowed(array: np.ndarray) -> np.ndarray:
    """Return the array."""
    return array
