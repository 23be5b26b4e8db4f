"""Two machine operations that Numba does not offer: an unaligned 8-byte load and the count of trailing zeros.

Both become one instruction. ``load_word`` does not check bounds: the caller keeps ``position + 8`` inside the array.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def load_word(typing_context: Any, array: Any, position: Any) -> Any:
    """Return the 8 bytes at ``array[position:]`` (uint8, contiguous) as one little-endian uint64."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        holder = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        byte = builder.gep(holder.data, [arguments[1]])
        word = builder.bitcast(byte, ir.IntType(64).as_pointer())
        return builder.load(word, align=1)

    return types.uint64(array, types.int64), codegen


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Return the number of zero bits below the lowest set bit of a uint64 (64 for 0) as int64."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen
