"""Arrow arrays as vertex ids: which types are integers, and a column's values as uint32 or uint64 without a null.

Integers of any width pass without a copy. Whole numbers that a library holds as floats (pandas, where a column has a
gap) pass too. What is neither is refused with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bigbfs.errors import InputError, RemedyLike
from bigbfs.formats.tables.library import library
from bigbfs.sizes import id_limit

LARGEST_ID = 2**63 - 1
_EXACT = 2.0**53
"""Floats up to here are whole numbers one by one."""

INTEGERS, NAMES = "integers", "names"

_NAMED = ("names", True, "read every id as a name with {}")
_OTHERS = ("columns", None, "name other columns with {}")

Place = Callable[[int], str]


def kind_of(name: str, header: str, dtype: Any) -> str:
    """Return what the values of a column of an Arrow type are: ``"integers"`` or ``"names"``.

    Raises
    ------
    InputError
        They can be neither.
    """
    types = library("pyarrow", name).types
    if types.is_dictionary(dtype):
        return kind_of(name, header, dtype.value_type)
    if types.is_integer(dtype) or types.is_floating(dtype):
        return INTEGERS
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_string_view)
    if any(is_text(dtype) for is_text in texts) or types.is_fixed_size_binary(dtype) or types.is_binary_view(dtype):
        return NAMES
    what = f"{name}: column {header!r} is of type {dtype}; vertex ids are integers or text"
    raise InputError(what, remedies=(_OTHERS, "cast it to one of these"))


def of_two_kinds(name: str, columns: Sequence[tuple[str, Any]]) -> InputError:
    """Return the error for columns (name, Arrow type) of which one holds numbers, the other names."""
    told = [f"{header!r} {_words(name, header, dtype)}" for header, dtype in columns]
    ways: tuple[RemedyLike, ...] = (("names", True, "read both as names with {}"), _OTHERS)
    if any("float" in each for each in told):  # rather weights than ids
        ways = ways[::-1]
    return InputError(f"{name}: its columns are of two kinds: {' and '.join(told)}", remedies=ways)


def _words(name: str, header: str, dtype: Any) -> str:
    """Return what a column holds: an Arrow float is no integer, though whole ones are ids."""
    types = library("pyarrow", name).types
    plain = dtype.value_type if types.is_dictionary(dtype) else dtype
    return f"floats ({plain})" if types.is_floating(plain) else kind_of(name, header, dtype)


def require_no_null(array: Any, place: Place) -> None:
    """Refuse a value that is missing.

    Raises
    ------
    InputError
        With the place of the first.
    """
    if array.null_count:
        first = int(np.flatnonzero(np.asarray(array.is_null().to_numpy(zero_copy_only=False)))[0])
        raise InputError(f"{place(first)}: a null is no vertex id; drop such rows, or fill them")


def ids_of(array: Any, place: Place) -> np.ndarray:
    """Return the ids of an Arrow array of integers: unsigned, of the array's width, in place where it is an integer's.

    Raises
    ------
    InputError
        A value is missing, negative, above 2**63 - 1, or no whole number; with its place.
    """
    require_no_null(array, place)
    if hasattr(array, "dictionary_decode"):
        array = array.dictionary_decode()
        require_no_null(array, place)
    values = np.asarray(array.to_numpy(zero_copy_only=False))
    if values.dtype.kind == "f":
        return _of_floats(values, place)
    ids = values.view(f"u{values.itemsize}")
    top = 0 if values.dtype.kind == "u" and values.itemsize < 8 else 8 * values.itemsize - 1
    if len(ids) and top and int(np.bitwise_or.reduce(ids)) >> top:
        first = int(np.flatnonzero(ids >> ids.dtype.type(top))[0])
        what = f"{place(first)}: vertex id {values[first]} is outside 0 to {id_limit(LARGEST_ID)}"
        raise InputError(what, remedies=(_NAMED,))
    return ids


def _of_floats(values: np.ndarray, place: Place) -> np.ndarray:
    require_whole(values, place, 0, "ids are whole numbers from 0 on")
    return values.astype(np.uint64)


def require_whole(values: np.ndarray, place: Place, low: float, words: str) -> None:
    """Refuse floats that are no whole numbers one by one, or below ``low``; ``words`` say what ids are.

    Raises
    ------
    InputError
        With the place of the first.
    """
    with np.errstate(invalid="ignore"):
        good = (values >= low) & (abs(values) <= _EXACT) & (np.floor(values) == values)
    if not good.all():
        first = int(np.flatnonzero(~good)[0])
        ways: tuple[RemedyLike, ...] = (_OTHERS, "cast the column to integers, or to text that is read as names")
        if np.isnan(values[first]):
            ways = ("drop such rows, or fill them",)
        elif abs(values[first]) > _EXACT:
            words = "above 2^53 a float is not exact, and may have been another number"
        raise InputError(f"{place(first)}: {values[first]} is no vertex id: {words}", remedies=ways)
