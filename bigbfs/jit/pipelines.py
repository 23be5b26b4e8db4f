"""Numba's compiler as it is used for the kernels here; imported when one is compiled.

Numba makes machine code of every function: for Python, for C, and once more inside each function that calls it. Here a
kernel that other kernels alone call is a part of theirs (:class:`_Part`): it is simplified, kept as LLVM's code, and
optimized where it has become a part of a kernel that Python calls (:class:`_Whole`), with everything around it.

Source: numba/core/codegen.py and numba/core/cpu.py (get_executable) of Numba 0.68.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

_ENVIRONMENT = "_ZN08NumbaEnv"
"""What the names of variables that point to a function's constants begin with."""
_manager = getattr(CPUCodegen, "_function_pass_manager", None)
_EACH_ALONE = _manager is not None and "llvm_module" not in signature(_manager).parameters
"""Passes are made for one function, not for all of a module as up to Numba 0.61."""
_USED = ("_optimize_functions", "_finalize_specific", "_optimize_final_module", "_finalize_final_module",
         "_finalize_dynamic_globals", "_verify_declare_only_symbols")  # fmt: skip
KNOWN = _manager is not None and all(hasattr(JITCodeLibrary, name) for name in _USED)
"""Numba's libraries are made as these are. With another Numba, kernels compile as it has them: longer, no worse."""


class _Whole(JITCodeLibrary):
    """The code of a kernel that Python calls, with that of all that it calls."""

    def _optimize_functions(self, ll_module):
        """Run the passes over functions: those that are here, not the ten times as many that are only named."""
        if not _EACH_ALONE:
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                manager, builder = self._codegen._function_pass_manager()
                with self._recorded_timings.record(f"Function passes on {function.name!r}", builder):
                    manager.run(function, builder)

    def _finalize_specific(self):
        """Make machine code, and give the constants of its parts to it, which have no code of their own."""
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(_ENVIRONMENT) else None
            if environment is not None and self._codegen._engine.get_global_value_address(variable.name):
                self._codegen.set_env(variable.name, environment)


class _Part(_Whole):
    """The code of a kernel that other kernels alone call."""

    @property
    def codegen(self):
        """Itself, for who sets the environment of the function: that is done where its machine code is."""
        return self

    def set_env(self, name, environment):
        """Do nothing."""

    def _optimize_final_module(self):
        """Leave it to the kernels that it becomes a part of."""

    def _finalize_final_module(self):
        """Be ready to be linked; make no machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def pipeline(*, part: bool, apart: bool) -> Any:
    """Return the compiler of a kernel.

    Parameters
    ----------
    part
        Other kernels alone call it.
    apart
        Its arrays do not overlap: its loops may be vectors. Numba takes that for granted in its own parallel loops and
        offers no option for it.
    """
    return _PIPELINES[part, apart]


class _Wholes(Compiler):
    """The compiler of kernels that Python calls."""

    library: Any = _Whole
    apart = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        if self.apart:
            self.state.flags.noalias = True

    def compile_extra(self, func):
        """Compile ``func`` to a library of ours."""
        if not KNOWN:
            return super().compile_extra(func)
        self.state.library = self.library(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class _Parts(_Wholes):
    """The compiler of kernels that other kernels alone call."""

    library = _Part


class _WholesApart(_Wholes):
    """The same, of arrays that do not overlap."""

    apart = True


class _PartsApart(_Parts):
    """The same, of arrays that do not overlap."""

    apart = True


_PIPELINES = {(False, False): _Wholes, (True, False): _Parts, (False, True): _WholesApart, (True, True): _PartsApart}
