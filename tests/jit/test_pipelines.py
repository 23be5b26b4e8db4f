"""Kernels that other kernels alone call are parts of them: without machine code of their own, with their constants."""

import numba
import numpy as np
import pytest
from numba.core import codegen

from bigbfs.jit.njit import njit

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


def part(function):
    """Compile as a kernel of the package that is for kernels."""
    function.__module__ = "bigbfs.made_here"
    return njit(function, allocates=True)  # what it raises has values


@part
def _checked(values, place):
    if place >= len(values):
        raise IndexError("no such place", place)
    return values[place]


@part
def _twice(values, place):
    return _checked(values, place) + _checked(values, place)


@njit
def total(values):
    found = 0
    for place in range(len(values)):
        found += _twice(values, place)
    return found


@njit
def beyond(values):
    return _twice(values, len(values))


def test_a_part_has_no_machine_code_and_does_what_it_says():
    values = np.arange(5)
    assert total(values) == 20
    for kernel in (_checked, _twice):
        for compiled in kernel.real().overloads.values():
            engine = codegen.JITCodeLibrary.codegen.fget(compiled.library)._engine
            assert not engine.is_symbol_defined(compiled.fndesc.llvm_func_name)
            assert not compiled.library._compiled
    whole = next(iter(total.real().overloads.values()))
    assert whole.library.codegen._engine.is_symbol_defined(whole.fndesc.llvm_cpython_wrapper_name)
    assert whole.library._compiled


def test_what_a_part_raises_has_its_values():
    with pytest.raises(IndexError) as caught:
        beyond(np.arange(3))
    assert caught.value.args == ("no such place", 3)
