"""Atomic operations on array elements, for kernels that several threads run side by side.

``fetch_or(array, i, bits)`` and ``compare_exchange(array, i, expected, new)`` return the element as it was before.
Arrays are one-dimensional, contiguous, of uint64.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _element(context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    place = context.cast(builder, index, index_type, types.intp)
    return cgutils.get_item_pointer(context, builder, array_type, view, [place], wraparound=False)


@intrinsic
def fetch_or(typing_context, array, index, bits):
    """Set ``bits`` in ``array[index]``; return what was there."""

    def codegen(context, builder, signature, arguments):
        pointer = _element(context, builder, signature.args[0], arguments[0], signature.args[1], arguments[1])
        return builder.atomic_rmw("or", pointer, arguments[2], "monotonic")

    return types.uint64(array, index, types.uint64), codegen


@intrinsic
def compare_exchange(typing_context, array, index, expected, new):
    """Write ``new`` to ``array[index]`` if it holds ``expected``; return what was there."""

    def codegen(context, builder, signature, arguments):
        pointer = _element(context, builder, signature.args[0], arguments[0], signature.args[1], arguments[1])
        result = builder.cmpxchg(pointer, arguments[2], arguments[3], "monotonic", "monotonic")
        return builder.extract_value(result, 0)

    return types.uint64(array, index, types.uint64, types.uint64), codegen


__all__ = ["compare_exchange", "fetch_or"]
