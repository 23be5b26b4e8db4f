"""The type of :mod:`bigbfs.jit.vectors` for Numba's compiler; imported when a kernel that has it is compiled."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import models, register_model


class Vector(types.Type):
    """The type of a vector of ``lanes`` words of the integer type ``item``."""

    def __init__(self, item, lanes):
        self.item, self.lanes = item, lanes
        super().__init__(f"Vector({item} x {lanes})")


def llvm(kind):
    """Return the LLVM type of the vector type ``kind``."""
    return ir.VectorType(ir.IntType(kind.item.bitwidth), kind.lanes)


@register_model(Vector)
class _Model(models.PrimitiveModel):
    """A vector register, or several."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, llvm(kind))
