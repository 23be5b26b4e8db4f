"""Arrays without a count of references, for kernels that call others in a hot loop.

Numba counts a reference, atomically, for every array that a function with a loop takes, also where it is compiled into
the place of its call: some tens of cycles for each array and call, more than a row of a few ids costs otherwise.
"""

from __future__ import annotations

from bigbfs.jit.interpreted import intrinsic


@intrinsic
def borrowed(typing_context, array):
    """Return an array for use while somebody else, an argument of the kernel say, holds on to it."""

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        view.meminfo = view.meminfo.type(None)
        return view._getvalue()

    return array(array), generate
