"""On which processor a thread runs, and how it gets off one: for helpers, which are of no use where their caller runs.

Linux wakes a thread where it slept or where the one runs that wakes it, if it sees no processor idle. In a guest of KVM
it takes those that sleep for taken ones, and puts a helper on the processor of its caller, where they get turns of
milliseconds while the other processor sleeps. So a helper asks for any other of the processors that it has.

Source: sched_setaffinity(2), getcpu(2); ``available_idle_cpu`` and ``vcpu_is_preempted`` of Linux for the cause.
"""

from __future__ import annotations

import sys

import numpy as np

from bigbfs.jit.interpreted import Intrinsic as intrinsic
from bigbfs.jit.later import Later
from bigbfs.jit.njit import njit

types, ir = Later("numba.core.types"), Later("llvmlite.ir")

MASK = 128
"""Words of a mask: of 8,192 processors, as many as Linux has."""

_OWN, _SET, _NOW = range(3)
"""Rows of the masks of a thread."""
MASKS = 3

_ZERO, _ONE, _SHIFT, _BITS = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)


def _narrow():
    return ir.IntType(32)


def _function(builder, name, arguments):
    """Return the function ``name`` of the C library, which returns an int, declared in the module once."""
    module = builder.module
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(_narrow(), arguments), name)


def _of_mask(name):
    """Return what calls ``name`` for the calling thread and a mask, the row ``row`` of an array of them."""

    def generate(context, builder, signature, arguments):
        if not sys.platform.startswith("linux"):
            return ir.IntType(1)(0)
        wide, view = ir.IntType(64), context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(view.data, [builder.mul(arguments[1], wide(MASK))])
        function = _function(builder, name, [_narrow(), wide, place.type])
        return builder.icmp_signed("==", builder.call(function, [_narrow()(0), wide(8 * MASK), place]), _narrow()(0))

    return generate


@intrinsic
def processor(typing_context):
    """Return the number of the processor that the calling thread runs on, uint64; 0 where nobody tells."""

    def generate(context, builder, signature, arguments):
        if not sys.platform.startswith("linux"):
            return ir.IntType(64)(0)
        return builder.sext(builder.call(_function(builder, "sched_getcpu", []), []), ir.IntType(64))

    return types.uint64(), generate


@intrinsic
def _allowed(typing_context, masks, row):
    """Write the processors that the calling thread may run on to ``masks[row]``; return whether that went well."""
    return types.boolean(masks, types.intp), _of_mask("sched_getaffinity")


@intrinsic
def _allow(typing_context, masks, row):
    """Let the calling thread run on the processors of ``masks[row]`` alone; return whether that went well."""
    return types.boolean(masks, types.intp), _of_mask("sched_setaffinity")


@njit
def keep_off(masks, taken):
    """Have the calling thread run on any processor that it was given but ``taken``; return whether there is another.

    ``masks``, uint64 (MASKS, MASK): the thread's own, zeros at first. A mask that somebody else has set since the last
    call is what it was given.
    """
    now, own, wanted = masks[_NOW], masks[_OWN], masks[_SET]
    now[:] = 0
    if not _allowed(masks, _NOW):
        return False
    set_by_others = False
    for word in range(MASK):
        set_by_others |= now[word] != wanted[word]
    left, stays = False, True
    for word in range(MASK):
        own[word] = now[word] if set_by_others else own[word]
        wanted[word] = own[word] & ~(_ONE << (taken & _BITS) if word == taken >> _SHIFT else _ZERO)
        left |= wanted[word] != _ZERO
        stays &= wanted[word] == now[word]
    if left:
        return stays or _allow(masks, _SET)
    for word in range(MASK):
        wanted[word] = now[word]
    return False
