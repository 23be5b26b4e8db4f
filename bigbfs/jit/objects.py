"""Objects of the interpreter in Numba's CPU kernels, by the stable functions of its C interface.

An object is its address, as ``id`` returns it. Who calls these holds the interpreter's lock (a kernel without
``nogil``), and something that outlives the call holds the objects. Where kernels run as Python there is no twin: the
caller goes another way (:data:`bigbfs.jit.settings.interpreted`).

Source: "Dictionary Objects", "Object Protocol" and "Exception Handling" of the Python/C API reference.
"""

from __future__ import annotations

from bigbfs.jit.bits import fetch_line
from bigbfs.jit.interpreted import Intrinsic
from bigbfs.jit.later import Later

types, ir, cgutils = Later("numba.core.types"), Later("llvmlite.ir"), Later("numba.core.cgutils")


def _call(builder, name, result, arguments):
    """Call the C function ``name``; addresses are words."""
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(result, [argument.type for argument in arguments]), name
    )
    return builder.call(function, arguments)


@Intrinsic
def next_key(typing_context, mapping, place):
    """Step to the next entry of the dict at ``mapping``; False: there is none.

    ``place`` (int64, at least 3 long) holds where the walk is (0 at first); then the address of the key, and of its
    value.
    """

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[1])(context, builder, arguments[1]).data
        word = ir.IntType(64)
        places = [builder.gep(data, [word(offset)]) for offset in range(3)]
        found = _call(builder, "PyDict_Next", ir.IntType(32), [arguments[0], *places])
        return builder.icmp_signed("!=", found, ir.IntType(32)(0))

    return types.boolean(types.int64, place), generate


@Intrinsic
def hash_of(typing_context, thing):
    """Return the hash of the object at ``thing``; -1: it has none, and :func:`forget_error` must be called."""

    def generate(context, builder, signature, arguments):
        return _call(builder, "PyObject_Hash", ir.IntType(64), arguments)

    return types.int64(types.int64), generate


@Intrinsic
def forget_error(typing_context):
    """Clear the error that a function of the interpreter has set."""

    def generate(context, builder, signature, arguments):
        _call(builder, "PyErr_Clear", ir.VoidType(), [])
        return context.get_dummy_value()

    return types.void(), generate


@Intrinsic
def fetch_object(typing_context, thing):
    """Have the head of the object at ``thing`` loaded while the kernel goes on; any address will do."""

    def generate(context, builder, signature, arguments):
        fetch_line(builder, arguments[0])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@Intrinsic
def fetch_beyond(typing_context, thing, place, lines):
    """Have ``lines`` cache lines loaded from where the word ``place`` bytes into the object at ``thing`` points.

    The word must lie in the object; where it points does not matter for what is right: nothing is read there.
    """

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        at = builder.inttoptr(builder.add(arguments[0], arguments[1]), word.as_pointer())
        start = builder.load(at)
        with cgutils.for_range(builder, arguments[2]) as loop:
            fetch_line(builder, builder.add(start, builder.mul(loop.index, word(64))))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate
