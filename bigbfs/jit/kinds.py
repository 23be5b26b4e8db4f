"""What distinguishes the arguments of a call for which a kernel is compiled: their kinds, as Numba tells types apart.

Two calls whose kinds are equal have equal types for Numba; the reverse need not hold.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

_C, _FORTRAN, _ALIGNED, _WRITABLE = 0x0001, 0x0002, 0x0100, 0x0400
_FLAGS = _C | _FORTRAN | _ALIGNED | _WRITABLE
_SCALARS = frozenset(np.dtype(code).type for code in ("?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d"))
_PLAIN = _SCALARS | {float, bool, type(None)}
_LEAST, _MOST = -(2**63), 2**63 - 1


class UnknownKind(Exception):
    """An argument is of a type that only Numba knows."""


def kind_of(value: Any) -> Any:
    """Return the kind of an argument, which can be hashed; raises UnknownKind."""
    what = type(value)
    if what is np.ndarray:
        flags = value.flags.num & _FLAGS
        # contiguous in both ways, as a table of one row is: for Numba it is C's
        return value.dtype, value.ndim, flags & ~_FORTRAN if flags & _C else flags
    if what is int:
        if _LEAST <= value <= _MOST:
            return what
        raise UnknownKind
    if what in _PLAIN:
        return what
    if issubclass(what, tuple) and (what is tuple or hasattr(what, "_fields")):
        return what, tuple([kind_of(item) for item in value])
    raise UnknownKind


def written(kind: Any) -> Any:
    """Return ``kind`` as it is the same in every process; raises UnknownKind for arrays of other than numbers."""
    if isinstance(kind, type):
        return f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(kind[0], np.dtype):
        if kind[0].kind not in "biuf" or not kind[0].isnative:
            raise UnknownKind
        return (kind[0].str, *kind[1:])
    name = kind[0]
    fields = getattr(name, "_fields", ())
    return f"{name.__module__}.{name.__qualname__}", fields, tuple(written(item) for item in kind[1])


def sample_of(kind: Any) -> Any:
    """Return a value whose kind is written so; raises UnknownKind where none can be made."""
    if isinstance(kind, str):
        what = _named(kind)
        return None if what is type(None) else what()
    if isinstance(kind[1], int):
        return _array_of(*kind)
    what = _named(kind[0])
    values = [sample_of(item) for item in kind[2]]
    return tuple(values) if what is tuple else what(*values)


def _named(name: str) -> Any:
    module, _, rest = name.rpartition(".")
    return type(None) if rest == "NoneType" else getattr(import_module(module), rest)


def _array_of(dtype: str, dimensions: int, flags: int) -> np.ndarray:
    if not flags & _ALIGNED:
        raise UnknownKind
    if flags & (_C | _FORTRAN):
        array = np.zeros((2,) * dimensions, dtype, order="C" if flags & _C else "F")
    else:
        array = np.zeros((4,) * dimensions, dtype)[(slice(None, None, 2),) * dimensions]
    array.flags.writeable = bool(flags & _WRITABLE)
    return array
