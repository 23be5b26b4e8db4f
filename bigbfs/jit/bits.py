"""Bit operations, unaligned loads and stores, prefetching for Numba's CPU kernels, each one LLVM instruction."""

from __future__ import annotations

from bigbfs.jit.interpreted import intrinsic
from bigbfs.jit.later import Later

types, ir, cgutils = Later("numba.core.types"), Later("llvmlite.ir"), Later("numba.core.cgutils")


@intrinsic
def trailing_zeros(typing_context, word):
    """Return the position (uint64) of the lowest set bit of a uint64; 64 for 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@intrinsic
def leading_zeros(typing_context, word):
    """Return the number (uint64) of zero bits above the highest set bit of a uint64; 64 for 0."""

    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@intrinsic
def population(typing_context, word):
    """Return the number (uint64) of set bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def load_word(typing_context, array, position):
    """Return the 8 bytes at ``array[position:]`` (uint8, contiguous) as one little-endian uint64.

    Bounds are not checked: the caller keeps ``position + 8`` inside the array.
    """

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte = builder.gep(view.data, [arguments[1]])
        word = builder.bitcast(byte, ir.IntType(64).as_pointer())
        return builder.load(word, align=1)

    return types.uint64(array, types.int64), generate


@intrinsic
def bytes_reversed(typing_context, word):
    """Return a uint64 with its 8 bytes in the opposite order."""

    def generate(context, builder, signature, arguments):
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def store_word(typing_context, array, position, word):
    """Write a uint64, little-endian, to the 8 bytes at ``array[position:]`` (uint8, contiguous).

    Bounds are not checked: the caller keeps ``position + 8`` inside the array.
    """

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte = builder.gep(view.data, [arguments[1]])
        builder.store(arguments[2], builder.bitcast(byte, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), generate


@intrinsic
def unforeseen(typing_context, word):
    """Return a uint64 as it is, without the compiler knowing: it leaves a loop alone whose length it cannot tell.

    Rows of a chain have two neighbours; unrolled, their loop takes longer to begin and to end than it saves.
    """

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return builder.asm(kind, "", "=r,0", [arguments[0]], False)

    return types.uint64(types.uint64), generate


def fetch_line(builder, address):
    """Have the cache line at an LLVM address loaded while the code goes on."""
    small, pointer = ir.IntType(32), builder.inttoptr(address, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, small, small, small])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(function, [pointer, small(0), small(3), small(1)])


@intrinsic
def fetch_soon(typing_context, array, index):
    """Have ``array[index]`` loaded while the kernel goes on; any index will do."""

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        fetch_line(builder, builder.ptrtoint(builder.gep(view.data, [arguments[1]]), ir.IntType(64)))
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
