"""The header of a .npy: shape, order and dtype, and what of it can be edges. Nothing is ever unpickled."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.readers.format import Rules

MAGIC = b"\x93NUMPY"
LARGEST_ID = 2**63 - 1
MOST_AMBIGUOUS = 4
"""Columns that two edges may have: ids, a weight, a time."""

_LONGEST_HEADER = 10_000
HEADER_BYTES = 12 + _LONGEST_HEADER
_HEADER = re.compile(
    r"\s*\{\s*(?:(?:'descr'\s*:\s*(?P<descr>'[^'\\]*'|\[[^\]\\]*\])|'fortran_order'\s*:\s*(?P<order>True|False)"
    r"|'shape'\s*:\s*\((?P<shape>\s*|\s*[0-9]+\s*,[0-9,\s]*)\))\s*(?:,\s*)?)+\}\s*"
)
_DESCR = re.compile(r"'[<>|=]?[?bBiufcSUVOmM][0-9]*(?:\[[0-9a-zA-Z]+\])?'")


@dataclass(frozen=True)
class Header:
    """Shape, order and dtype of an array, and the ``length`` of the header in bytes."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    length: int

    @property
    def data_bytes(self) -> int:
        """Bytes of the data."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(name: str, read: Callable[[int], bytes], size: int | None = None, sized: bool = False) -> Header:
    """Read the header of a .npy of ``size`` bytes (None: unknown); ``sized`` as :func:`no_ids`.

    Raises
    ------
    InputError
        There is none, it declares another size, or it declares something that no ids can be.
    """
    start = read(10)
    if start[:6] != MAGIC or len(start) < 10:
        raise InputError(f"{name}: no .npy: it does not begin as one")
    length_bytes = {1: 2, 2: 4}.get(start[6], 0)
    if not length_bytes:
        raise InputError(f"{name}: a .npy of version {start[6]} is not read; write it as a plain integer array")
    start += read(length_bytes - 2)
    length = int.from_bytes(start[8:], "little")
    if length > _LONGEST_HEADER:
        raise InputError(f"{name}: the .npy header declares {length} bytes; the file is damaged")
    text = read(length)
    header = Header(*_fields(name, text.decode("latin-1")), len(start) + length)
    if len(text) != length:
        raise InputError(f"{name}: is cut short inside the .npy header; write it again")
    if size is not None:
        _require_size(name, header, size, sized)
    return header


def _fields(name: str, text: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return (shape, Fortran order, dtype).

    Not by NumPy's reader, which lets other errors than ValueError through on damaged headers, nor by Python's parser,
    which warns of some.
    """
    match = _HEADER.fullmatch(text)
    found = match.groupdict() if match else {}
    if None in found.values() or not found:
        raise InputError(f"{name}: bad .npy header ({text.strip()[:80]!r}); write it again")
    try:
        shape = tuple(int(side) for side in found["shape"].split(",") if side.strip())
        if not _DESCR.fullmatch(found["descr"]):
            raise no_ids(name, shape, repr(found["descr"][:80]))
        return shape, found["order"] == "True", np.dtype(found["descr"][1:-1])
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(f"{name}: bad .npy header ({type(error).__name__}); write it again") from error


def require_ids(name: str, header: Header, sized: bool = False) -> None:
    """Refuse an array that can be no ids, nor the text that SciPy keeps beside them; ``sized`` as :func:`no_ids`.

    Raises
    ------
    InputError
        Its items are objects, floats or nothing.
    """
    dtype = header.dtype
    if dtype.hasobject or dtype.kind not in "iuSUb" or not dtype.itemsize:
        raise no_ids(name, header.shape, dtype, sized)


_WAYS = {
    "f": "if all are whole, save array.astype(np.int64)",
    "O": "save integers as array.astype(np.int64); names as two columns of text in a .csv or .parquet",
    "S": "names are numbered from a table: write them as two columns of text to a .csv or .parquet",
    "V": "save two columns of integers, np.column_stack((array[first], array[second]))",
}
_WAYS["U"] = _WAYS["S"]


def no_ids(name: str, shape: tuple[int, ...], dtype: np.dtype[Any] | str, sized: bool = False) -> InputError:
    """Return the error of an array whose items can be no ids, with what to write instead.

    ``sized``: how many vertices there are is said elsewhere, so that no edge is none too few.
    """
    kind = dtype.kind if isinstance(dtype, np.dtype) else "V"
    said = f"{name}: an array of shape {shape} and dtype {dtype}"
    if 0 in shape and not sized:
        return no_edges(name, shape, dtype)
    return InputError(f"{said}; vertex ids are integers", remedies=(_WAYS.get(kind, "save integers"),))


def no_edges(name: str, shape: tuple[int, ...], dtype: np.dtype[Any] | str) -> InputError:
    """Return the error of an array without an item."""
    return InputError(
        f"{name}: no edge in it, an array of shape {shape} and dtype {dtype}; a graph without vertices is not made",
        remedies=("name a vertex that has no edges by an edge to itself",),
    )


def _require_size(name: str, header: Header, size: int, sized: bool) -> None:
    require_ids(name, header, sized)
    if header.data_bytes != size - header.length:
        raise InputError(
            f"{name}: declares {header.data_bytes} bytes of data ({header.shape} of {header.dtype}) and holds "
            f"{size - header.length} (cut short?); write it again"
        )


def edges_are_rows(name: str, shape: tuple[int, ...], rules: Rules) -> bool:
    """Return whether an array of this shape has an edge in each row (else in each column).

    Raises
    ------
    InputError
        It has neither, or may have both: two rows of a few columns are two edges with weights, or two ends of some.
    """
    if rules.numbers is not None:
        if len(shape) != 2 or shape[1] < max(rules.numbers):
            why = f"{name}: an array of shape {shape} has no column {max(rules.numbers)}"
            raise InputError(why, remedies=(("columns", None, "correct {}"),))
        return True
    if rules.edge_index:
        if len(shape) != 2 or shape[0] != 2:
            why = f"{name}: an array of shape {shape}, not (2, edges)"
            raise InputError(why, remedies=(("edge_index", True, "leave {} out"),))
        return False
    rows = ("columns", (1, 2), "say {} for rows")
    if len(shape) != 2 or 2 not in shape:
        several = ("columns", (1, 2), "take two of several columns with {}")
        raise InputError(
            f"{name}: an array of shape {shape}; expected (edges, 2) or (2, edges)",
            remedies=(several,) if len(shape) == 2 and shape[1] > 2 else (),
        )
    if shape[0] == 2 and 2 <= shape[1] <= MOST_AMBIGUOUS:
        raise InputError(
            f"{name}: an array of shape {shape} may be 2 edges in rows or {shape[1]} edges in columns",
            remedies=(rows, ("edge_index", True, "{} for columns")),
        )
    return shape[1] == 2
