"""A compiled function and its arguments as two addresses, so that another thread can call it from compiled code.

``given_to`` makes them of a member, which is a compiled function ``member(*arguments, t)``, and of its arguments, and
has another function call it. It is code of the kernel that shares its work: compilers need no function for it.
``call`` calls them with a number ``t`` and returns 0, or 1 where the member raised (with NUMBA_BOUNDSCHECK=1 it may).
The arguments lie on the stack of the function that has called ``task_of``: it must not return before all calls have.
"""

from __future__ import annotations

from typing import Any

from bigbfs.jit.interpreted import Intrinsic as intrinsic
from bigbfs.jit.later import Later, type_of

types, ir, cgutils = Later("numba.core.types"), Later("llvmlite.ir"), Later("numba.core.cgutils")


def _wide():
    return ir.IntType(64)


def _bytes():
    return ir.IntType(8).as_pointer()


def _task():
    """Return the type of the code of a task."""
    return ir.FunctionType(_wide(), [_bytes(), _wide()])


def given_to(run: Any, message: str) -> Any:
    """Return the function ``(team, work, member, arguments)`` that has ``run(team, work, code, place)`` call a task.

    ``run`` is a kernel that returns how many calls failed (uint64); ``message`` is what the RuntimeError says then.
    """

    @intrinsic
    def share(typing_context, team, work, member, arguments):
        runner = type_of(run.real())
        wanted = runner.get_call_type(typing_context, (team, types.uint64, types.uint64, types.uint64), {})
        running = runner.dispatcher.overloads[wanted.args]
        signature = member.get_call_type(typing_context, (*arguments.types, types.uint64), {})
        compiled = member.dispatcher.overloads[signature.args]

        def generate(context, builder, made, values):
            for needed in (compiled, running):
                context.active_code_library.add_linking_library(needed.library)
            code, place = _task_of(context, builder, compiled, signature, arguments, values[3])
            failed = context.call_internal(builder, running.fndesc, wanted, [values[0], values[1], code, place])
            with builder.if_then(builder.icmp_unsigned("!=", failed, _wide()(0)), likely=False):
                context.call_conv.return_user_exc(builder, RuntimeError, (message,))
            return context.get_dummy_value()

        return types.void(team, types.uint64, member, arguments), generate

    return share


def _task_of(context, builder, compiled, signature, arguments, value):
    """Return the addresses of the code of a member and of a copy of its arguments, the tuple ``value``."""
    kind = context.get_value_type(arguments)
    place = cgutils.alloca_once_value(builder, value)
    code = ir.Function(builder.module, _task(), builder.module.get_unique_name("bigbfs_member"))
    code.linkage = "internal"
    inside = ir.IRBuilder(code.append_basic_block())
    items = cgutils.unpack_tuple(inside, inside.load(inside.bitcast(code.args[0], kind.as_pointer())))
    given = [
        context.cast(inside, item, a, b) for item, a, b in zip(items, arguments.types, signature.args[:-1], strict=True)
    ]
    status, _ = context.call_internal_no_propagate(inside, compiled.fndesc, signature, [*given, code.args[1]])
    inside.ret(inside.zext(status.is_error, _wide()))
    return builder.ptrtoint(code, _wide()), builder.ptrtoint(place, _wide())


@intrinsic
def call(typing_context, code, place, t):
    """Call the task at the addresses ``code`` and ``place`` with the number ``t``; see the module."""

    def generate(context, builder, signature, values):
        function = builder.inttoptr(values[0], _task().as_pointer())
        return builder.call(function, [builder.inttoptr(values[1], _bytes()), values[2]])

    return types.uint64(types.uint64, types.uint64, types.uint64), generate
