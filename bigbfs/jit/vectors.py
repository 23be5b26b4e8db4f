"""Vectors of machine words for Numba's CPU kernels: a value that stays in registers, and one instruction for each step.

A vector is made by :func:`load_vector` from consecutive items of a one-dimensional contiguous array of unsigned
integers, as many as the tuple ``lanes`` has items; that number is part of the type, so a kernel is compiled for each.
Nothing is checked: the caller keeps all items inside the array. Where kernels run as Python a vector is a small array
(:mod:`bigbfs.jit.interpreted`).

Source: the LLVM language reference, "Vector Type", "llvm.ctpop" and "llvm.vector.reduce".
"""

from __future__ import annotations

from bigbfs.jit.interpreted import intrinsic
from bigbfs.jit.later import Later

types, ir, cgutils = Later("numba.core.types"), Later("llvmlite.ir"), Later("numba.core.cgutils")
vector_types = Later("bigbfs.jit.vector_types")


def _place(context, builder, array_type, array, index, kind):
    """Return the pointer to the vector that begins at ``array[index]``, and its alignment in bytes."""
    view = context.make_array(array_type)(context, builder, array)
    return builder.bitcast(
        builder.gep(view.data, [index]), vector_types.llvm(kind).as_pointer()
    ), kind.item.bitwidth // 8


def _call(builder, name, result, kind, values):
    """Call the intrinsic function ``name`` of LLVM for vectors of ``kind``."""
    llvm = vector_types.llvm(kind)
    full = f"llvm.{name}.v{kind.lanes}i{kind.item.bitwidth}"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [llvm]), full)
    return builder.call(function, values)


@intrinsic
def load_vector(typing_context, array, index, lanes):
    """Return the vector of the items of ``array`` from ``index`` on, as many as ``lanes`` has."""
    kind = vector_types.Vector(array.dtype, len(lanes))

    def generate(context, builder, signature, arguments):
        place, align = _place(context, builder, signature.args[0], *arguments[:2], kind)
        return builder.load(place, align=align)

    return kind(array, types.intp, lanes), generate


@intrinsic
def store_vector(typing_context, array, index, vector):
    """Write ``vector`` to the items of ``array`` from ``index`` on."""

    def generate(context, builder, signature, arguments):
        place, align = _place(context, builder, signature.args[0], *arguments[:2], vector)
        builder.store(arguments[2], place, align=align)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@intrinsic
def either(typing_context, one, other):
    """Return the bits that are set in ``one`` or in ``other``."""
    return one(one, other), lambda context, builder, signature, arguments: builder.or_(*arguments)


@intrinsic
def both(typing_context, one, other):
    """Return the bits that are set in ``one`` and in ``other``."""
    return one(one, other), lambda context, builder, signature, arguments: builder.and_(*arguments)


@intrinsic
def one_of(typing_context, one, other):
    """Return the bits that are set in exactly one of ``one`` and ``other``."""
    return one(one, other), lambda context, builder, signature, arguments: builder.xor(*arguments)


@intrinsic
def without(typing_context, one, other):
    """Return the bits that are set in ``one`` and not in ``other``."""

    def generate(context, builder, signature, arguments):
        ones = ir.Constant(vector_types.llvm(other), [-1] * other.lanes)
        return builder.and_(arguments[0], builder.xor(arguments[1], ones))

    return one(one, other), generate


@intrinsic
def any_bit(typing_context, vector):
    """Return whether a bit of ``vector`` is set."""

    def generate(context, builder, signature, arguments):
        word = ir.IntType(vector.item.bitwidth)
        return builder.icmp_unsigned("!=", _call(builder, "vector.reduce.or", word, vector, arguments), word(0))

    return types.boolean(vector), generate


@intrinsic
def count_bits(typing_context, vector):
    """Return the number (uint64) of set bits of ``vector``."""

    def generate(context, builder, signature, arguments):
        counted = _call(builder, "ctpop", vector_types.llvm(vector), vector, arguments)
        total = _call(builder, "vector.reduce.add", ir.IntType(vector.item.bitwidth), vector, [counted])
        return total if vector.item.bitwidth == 64 else builder.zext(total, ir.IntType(64))

    return types.uint64(vector), generate


def _splat(builder, vector, item):
    """Return a vector of ``item`` in every lane."""
    llvm = vector_types.llvm(vector)
    one = builder.insert_element(ir.Constant(llvm, ir.Undefined), item, ir.IntType(32)(0))
    first = ir.Constant(ir.VectorType(ir.IntType(32), vector.lanes), [0] * vector.lanes)
    return builder.shuffle_vector(one, ir.Constant(llvm, ir.Undefined), first)


@intrinsic
def first_not_below(typing_context, vector, item):
    """Return the first lane (int64) whose item is not less than ``item``, of the same type; their number if none is.

    There are fewer than 64 lanes.
    """

    def generate(context, builder, signature, arguments):
        found = builder.icmp_unsigned(">=", arguments[0], _splat(builder, vector, arguments[1]))
        bits = builder.zext(builder.bitcast(found, ir.IntType(vector.lanes)), ir.IntType(64))
        return builder.cttz(builder.or_(bits, bits.type(1 << vector.lanes)), ir.IntType(1)(1))

    return types.int64(vector, vector.item), generate


@intrinsic
def halved(typing_context, vector):
    """Return the items of ``vector`` without their lowest bit, shifted down by one."""

    def generate(context, builder, signature, arguments):
        return builder.lshr(arguments[0], ir.Constant(vector_types.llvm(vector), [1] * vector.lanes))

    return vector(vector), generate


@intrinsic
def first_lanes(typing_context, vector, count, other):
    """Return the first ``count`` items of ``vector``, and ``other`` (both of the items' type) in the lanes behind."""

    def generate(context, builder, signature, arguments):
        numbers = ir.Constant(vector_types.llvm(vector), list(range(vector.lanes)))
        given, bound, rest = arguments
        inside = builder.icmp_unsigned("<", numbers, _splat(builder, vector, bound))
        return builder.select(inside, given, _splat(builder, vector, rest))

    return vector(vector, vector.item, vector.item), generate


def _shuffled(builder, vector, value, places):
    """Return the items of ``value`` at ``places``, a list of one number for each lane."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), vector.lanes), places)
    return builder.shuffle_vector(value, ir.Constant(vector_types.llvm(vector), ir.Undefined), lanes)


@intrinsic
def ascending(typing_context, vector):
    """Return the items of ``vector`` in ascending order; the lanes are a power of two.

    Without a branch: Batcher's bitonic network (Sorting networks and their applications, AFIPS 1968), of which a step
    compares each lane with the one whose number differs in one bit.
    """

    def generate(context, builder, signature, arguments):
        found, lanes = arguments[0], range(vector.lanes)
        flags = ir.VectorType(ir.IntType(1), vector.lanes)
        for length in (2**i for i in range(1, vector.lanes.bit_length())):
            for apart in (length >> i for i in range(1, length.bit_length())):
                other = _shuffled(builder, vector, found, [lane ^ apart for lane in lanes])
                below = builder.icmp_unsigned("<", found, other)
                lesser, larger = builder.select(below, found, other), builder.select(below, other, found)
                keeps_lesser = [int((lane & apart == 0) == (lane & length == 0)) for lane in lanes]
                found = builder.select(ir.Constant(flags, keeps_lesser), lesser, larger)
        return found

    return vector(vector), generate


@intrinsic
def any_pair(typing_context, vector, other):
    """Return whether two neighbouring items of ``vector`` are equal and not ``other``."""

    def generate(context, builder, signature, arguments):
        given, beside = arguments
        after = _shuffled(builder, vector, given, [*range(1, vector.lanes), 0])
        same = builder.icmp_unsigned("==", given, after)
        found = builder.and_(same, builder.icmp_unsigned("!=", given, _splat(builder, vector, beside)))
        bits = builder.bitcast(found, ir.IntType(vector.lanes))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(vector, vector.item), generate
