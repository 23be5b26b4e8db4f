"""What a thread does while it has nothing to do, for Numba's CPU kernels: it pauses, sleeps, and wakes another one.

``sleep`` and ``wake`` are the futex of Linux on the low half of a word of a uint64 array. Where this machine's number
of that system call is not known here, ``sleep`` gives up the processor once, and nobody needs to be woken.

Source: futex(2), clock_gettime(2); the numbers are those of the kernel's tables of system calls.
"""

from __future__ import annotations

import platform
import sys

from bigbfs.jit.interpreted import Intrinsic as intrinsic
from bigbfs.jit.later import Later

types, ir, cgutils = Later("numba.core.types"), Later("llvmlite.ir"), Later("numba.core.cgutils")

_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221}
_PAUSES = {"x86_64": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.hint", (1,))}
_WAIT, _WAKE = 128, 129
"""FUTEX_WAIT and FUTEX_WAKE among the threads of one process."""
_MONOTONIC = 1
"""CLOCK_MONOTONIC."""


def _wide():
    return ir.IntType(64)


def _narrow():
    return ir.IntType(32)


def _low_half(context, builder, array_type, array, index):
    """Return the address of the lower 32 bits of ``array[index]``."""
    view = context.make_array(array_type)(context, builder, array)
    address = builder.ptrtoint(builder.gep(view.data, [index]), _wide())
    return address if sys.byteorder == "little" else builder.add(address, _wide()(4))


def _function(builder, name, result, arguments, *, more=False):
    """Return the function ``name`` of the C library, declared in the module once."""
    module = builder.module
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, arguments, var_arg=more), name)


def _futex(builder, number, address, operation, value):
    call = _function(builder, "syscall", _wide(), [_wide()], more=True)
    wide = builder.zext(value, _wide()) if value.type != _wide() else value
    builder.call(call, [_wide()(number), address, _wide()(operation), wide, _wide()(0), _wide()(0), _wide()(0)])


@intrinsic
def pause(typing_context):
    """Wait some tens of nanoseconds, and leave the core to its other thread for that long."""

    def generate(context, builder, signature, arguments):
        if platform.machine() in _PAUSES:
            name, values = _PAUSES[platform.machine()]
            function = _function(builder, name, ir.VoidType(), [_narrow()] * len(values))
            builder.call(function, [_narrow()(value) for value in values])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def sleep(typing_context, words, index, value):
    """Sleep until :func:`wake` for ``words[index]``; not at all if its lower half is not that of ``value`` any more.

    It may return early: the caller looks again.
    """

    def generate(context, builder, signature, arguments):
        number = _FUTEX.get(platform.machine())
        if number is None:
            builder.call(_function(builder, "sched_yield", _narrow(), []), [])
        else:
            address = _low_half(context, builder, signature.args[0], *arguments[:2])
            _futex(builder, number, address, _WAIT, builder.trunc(arguments[2], _narrow()))
        return context.get_dummy_value()

    return types.void(words, types.intp, types.uint64), generate


@intrinsic
def wake(typing_context, words, index, most):
    """Wake up to ``most`` (uint64) of the threads that sleep for ``words[index]``."""

    def generate(context, builder, signature, arguments):
        number = _FUTEX.get(platform.machine())
        if number is not None:
            _futex(builder, number, _low_half(context, builder, signature.args[0], *arguments[:2]), _WAKE, arguments[2])
        return context.get_dummy_value()

    return types.void(words, types.intp, types.uint64), generate


@intrinsic
def clock(typing_context):
    """Return nanoseconds (uint64) of a clock that only goes forward."""

    def generate(context, builder, signature, arguments):
        kind = ir.ArrayType(_wide(), 2)
        place = cgutils.alloca_once(builder, kind)
        function = _function(builder, "clock_gettime", _narrow(), [_narrow(), kind.as_pointer()])
        builder.call(function, [_narrow()(_MONOTONIC), place])
        seconds, rest = cgutils.unpack_tuple(builder, builder.load(place), 2)
        return builder.add(builder.mul(seconds, _wide()(10**9)), rest)

    return types.uint64(), generate
