"""Atomic reads and writes of array items for Numba's CPU kernels, which offers none to user code.

Each is one LLVM instruction on ``array[index]`` of a one-dimensional contiguous integer array; ``index`` is any
integer in range (nothing is checked). Orderings:

- ``load`` and ``store`` are *monotonic*: a word is read or written whole and the compiler may neither invent nor
  repeat the access, so a race on it is defined behaviour. On x86-64 and AArch64 they cost what a plain access costs.
- ``fetch_add``, ``fetch_or``, ``fetch_min`` and ``compare_and_swap`` are *acquire-release*.

Source: the LLVM language reference, sections "Atomic Memory Ordering Constraints", "atomicrmw" and "cmpxchg".
"""

from __future__ import annotations

from bigbfs.jit.interpreted import intrinsic
from bigbfs.jit.later import Later

types, errors = Later("numba.core.types"), Later("numba.core.errors")


def _pointer(context, builder, array_type, array, index):
    """Return the LLVM pointer to ``array[index]`` (Numba has made the index a signed machine word)."""
    view = context.make_array(array_type)(context, builder, array)
    return builder.gep(view.data, [index])


def _check(array, index):
    if not (
        isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C" and isinstance(index, types.Integer)
    ):
        raise errors.TypingError(f"atomics work on one-dimensional contiguous arrays, got {array}[{index}]")
    if not isinstance(array.dtype, types.Integer):
        raise errors.TypingError(f"atomics work on integers, got {array.dtype}")


@intrinsic
def load(typing_context, array, index):
    """Return ``array[index]``."""
    _check(array, index)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(pointer, "monotonic", array.dtype.bitwidth // 8)

    return array.dtype(array, types.intp), generate


@intrinsic
def store(typing_context, array, index, value):
    """Set ``array[index] = value``."""
    _check(array, index)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], pointer, "monotonic", array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), generate


@intrinsic
def fetch_add(typing_context, array, index, value):
    """Add ``value`` to ``array[index]`` and return what was there before."""
    _check(array, index)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("add", pointer, arguments[2], "acq_rel")

    return array.dtype(array, types.intp, array.dtype), generate


@intrinsic
def fetch_or(typing_context, array, index, value):
    """Set the bits of ``value`` in ``array[index]`` and return what was there before."""
    _check(array, index)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("or", pointer, arguments[2], "acq_rel")

    return array.dtype(array, types.intp, array.dtype), generate


@intrinsic
def fetch_min(typing_context, array, index, value):
    """Lower ``array[index]``, of an unsigned dtype, to ``value`` if that is less; return what was there before."""
    _check(array, index)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("umin", pointer, arguments[2], "acq_rel")

    return array.dtype(array, types.intp, array.dtype), generate


@intrinsic
def compare_and_swap(typing_context, array, index, expected, value):
    """Set ``array[index] = value`` if it is ``expected``; return what was there before (``expected`` on success)."""
    _check(array, index)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        pair = builder.cmpxchg(pointer, arguments[2], arguments[3], "acq_rel", "monotonic")
        return builder.extract_value(pair, 0)

    return array.dtype(array, types.intp, array.dtype, array.dtype), generate
