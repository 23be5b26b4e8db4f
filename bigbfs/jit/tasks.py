"""A compiled function and its arguments as two addresses, so that another thread can call it from compiled code.

``task_of`` makes them of a member, which is a compiled function ``member(*arguments, t)``, and of its arguments.
``call`` calls them with a number ``t`` and returns 0, or 1 where the member raised (with NUMBA_BOUNDSCHECK=1 it may).
The arguments lie on the stack of the function that has called ``task_of``: it must not return before all calls have.
"""

from __future__ import annotations

from bigbfs.jit.interpreted import Intrinsic as intrinsic
from bigbfs.jit.later import Later

types, ir, cgutils = Later("numba.core.types"), Later("llvmlite.ir"), Later("numba.core.cgutils")


def _wide():
    return ir.IntType(64)


def _bytes():
    return ir.IntType(8).as_pointer()


def _task():
    """Return the type of the code of a task."""
    return ir.FunctionType(_wide(), [_bytes(), _wide()])


@intrinsic
def task_of(typing_context, member, arguments):
    """Return the addresses (two uint64) of the code of ``member`` and of a copy of the tuple ``arguments``."""
    signature = member.get_call_type(typing_context, (*arguments.types, types.uint64), {})
    compiled = member.dispatcher.overloads[signature.args]

    def generate(context, builder, made, values):
        context.active_code_library.add_linking_library(compiled.library)
        kind = context.get_value_type(arguments)
        place = cgutils.alloca_once_value(builder, values[1])
        code = ir.Function(builder.module, _task(), builder.module.get_unique_name("bigbfs_member"))
        code.linkage = "internal"
        inside = ir.IRBuilder(code.append_basic_block())
        items = cgutils.unpack_tuple(inside, inside.load(inside.bitcast(code.args[0], kind.as_pointer())))
        given = [
            context.cast(inside, item, a, b)
            for item, a, b in zip(items, arguments.types, signature.args[:-1], strict=True)
        ]
        status, _ = context.call_internal_no_propagate(inside, compiled.fndesc, signature, [*given, code.args[1]])
        inside.ret(inside.zext(status.is_error, _wide()))
        pair = [builder.ptrtoint(code, _wide()), builder.ptrtoint(place, _wide())]
        return context.make_tuple(builder, made.return_type, pair)

    return types.UniTuple(types.uint64, 2)(member, arguments), generate


@intrinsic
def call(typing_context, code, place, t):
    """Call the task at the addresses ``code`` and ``place`` with the number ``t``; see the module."""

    def generate(context, builder, signature, values):
        function = builder.inttoptr(values[0], _task().as_pointer())
        return builder.call(function, [builder.inttoptr(values[1], _bytes()), values[2]])

    return types.uint64(types.uint64, types.uint64, types.uint64), generate
