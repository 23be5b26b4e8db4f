"""Arrow arrays of text as bytes and offsets: UTF-8 checked, no null, no empty name; integers as their digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.errors import InputError, RemedyLike
from bigbfs.formats.tables.integers import INTEGERS, Place, kind_of, require_no_null, require_whole
from bigbfs.formats.tables.library import library, pyarrow
from bigbfs.jit.njit import njit
from bigbfs.sizes import quoted


def texts_of(array: Any, place: Place, recode: tuple[RemedyLike, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of an Arrow array: ``data[offsets[i]:offsets[i + 1]]`` (uint8) is name i; offsets are int64.

    ``recode``: what helps where they are no UTF-8.

    Raises
    ------
    InputError
        A value is missing, empty, or no UTF-8; with its place.
    """
    arrow = pyarrow("reading names")
    require_no_null(array, place)
    if hasattr(array, "dictionary_decode"):
        array = _decoded(array)
        require_no_null(array, place)
    if kind_of("names", "", array.type) == INTEGERS:
        array = _digits(array, place)
    types, wide = arrow.types, 4
    if types.is_large_string(array.type) or types.is_large_binary(array.type):
        wide = 8
    elif not (types.is_string(array.type) or types.is_binary(array.type)):
        array, wide = array.cast(arrow.large_binary()), 8
    _, offsets, content = array.buffers()
    if not len(array):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    data = np.empty(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
    begins = np.frombuffer(offsets, f"<i{wide}", len(array) + 1, wide * array.offset).astype(np.int64)
    empty, ordered, plain = look(data, begins)
    if not ordered:
        raise InputError(f"{place(0)} or below: is damaged: its offsets do not ascend; fetch or write it again")
    if empty >= 0:
        raise InputError(f"{place(int(empty))}: an empty name is no vertex; drop such rows, or fill them")
    if not plain:
        _require_utf8(array, place, recode)
    return data, begins


def _decoded(array: Any) -> Any:
    """Return the values of a dictionary array; pyarrow takes none where they are views, as those of polars are."""
    values = array.dictionary
    if str(values.type) in ("string_view", "binary_view"):
        arrow = pyarrow("reading names")
        array = arrow.DictionaryArray.from_arrays(array.indices, values.cast(arrow.large_binary()))
    return array.dictionary_decode()


@njit(cache=True, nogil=True)
def look(data, begins):
    """Return (first empty name or -1, whether offsets ascend within the data, whether every byte is below 128)."""
    empty, bits = np.int64(-1), np.uint8(0)
    if begins[0] < 0 or begins[-1] > len(data):
        return empty, False, False
    shortest = np.int64(1)
    for i in range(len(begins) - 1):  # without a branch, as the bytes below: processors take several at a time
        shortest = min(shortest, begins[i + 1] - begins[i])
    if shortest < 0:
        return empty, False, False
    if shortest == 0:
        empty = 0
        while begins[empty + 1] > begins[empty]:
            empty += 1
    for byte in data[begins[0] : begins[-1]]:
        bits |= byte
    return empty, True, bits < 128


def _require_utf8(array: Any, place: Place, recode: tuple[RemedyLike, ...]) -> None:
    """Refuse a name that is no UTF-8: nobody checks that while Parquet is read."""
    arrow = pyarrow("reading names")
    large = arrow.types.is_large_string(array.type) or arrow.types.is_large_binary(array.type)
    try:
        array.view(arrow.large_string() if large else arrow.string()).validate(full=True)
    except arrow.ArrowException as error:
        index, value = _first_bad(array)
        shown = quoted(value.decode("utf-8", "backslashreplace")).replace("\\\\x", "\\x")
        raise InputError(f"{place(index)}: {shown} is no UTF-8, as names are", remedies=recode) from error


def _digits(array: Any, place: Place) -> Any:
    """Return whole numbers as text."""
    arrow, compute = pyarrow("reading names"), library("pyarrow.compute", "reading names")
    if arrow.types.is_floating(array.type):
        values = np.asarray(array.to_numpy(zero_copy_only=False))
        require_whole(values, place, -np.inf, "names are text, or whole numbers")
        array = compute.cast(array, arrow.int64())
    return compute.cast(array, arrow.string())


def _first_bad(array: Any) -> tuple[int, bytes]:
    """Return the first value that is no UTF-8, and its index."""
    arrow = pyarrow("reading names")
    large = arrow.types.is_large_string(array.type) or arrow.types.is_large_binary(array.type)
    for index, value in enumerate(array.view(arrow.large_binary() if large else arrow.binary())):
        try:
            value.as_py().decode("utf-8")
        except UnicodeDecodeError:
            return index, value.as_py()
    return 0, b""
