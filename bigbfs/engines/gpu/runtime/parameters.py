"""The arguments of a launch as CUDA's driver takes them: the address of each.

CuPy does this too, but describes a structured array field by field each time: a struct of 76 fields takes it 45 to 85
us on the host of an H200, and a launch by the driver 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

WORD = 8
"""Bytes of the widest argument that is no struct."""


def parameters(args: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return where each argument is, and the memory that holds those which are no structs.

    Both must live until the launch has returned, and so must ``args``.

    Parameters
    ----------
    args
        Arrays of device memory, which a kernel takes as pointers; structs (structured arrays, zero-dimensional); NumPy
        scalars of at most ``WORD`` bytes.

    Returns
    -------
    tuple
        Addresses: uint64, shape (len(args),). Values: uint64, the same shape; a struct's is not used.

    Raises
    ------
    TypeError
        An argument is something else.
    """
    values = np.zeros(len(args), np.uint64)
    places = np.empty(len(args), np.uint64)
    bytes_of, first = values.view(np.uint8), values.ctypes.data
    for i, value in enumerate(args):
        places[i] = first + WORD * i
        if isinstance(value, np.generic):
            size = value.dtype.itemsize
            if size > WORD or value.dtype.kind == "V":
                raise TypeError(f"argument {i} of a kernel is a scalar of {size} bytes: {value!r}")
            bytes_of[WORD * i : WORD * i + size] = np.frombuffer(value.tobytes(), np.uint8)
        elif isinstance(value, np.ndarray):
            if value.ndim or value.dtype.kind != "V":
                raise TypeError(f"argument {i} of a kernel is an array in host memory, of {value.dtype}")
            places[i] = value.ctypes.data
        elif hasattr(value, "data") and hasattr(value.data, "ptr"):
            values[i] = value.data.ptr
        else:
            raise TypeError(f"argument {i} of a kernel is neither an array, a struct nor a NumPy scalar: {value!r}")
    return places, values
