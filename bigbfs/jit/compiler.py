"""Numba itself, imported when a kernel has to be compiled or asked about, and what is to be done then."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from bigbfs.errors import UsageError
from bigbfs.jit import compiling, later

_LAYERS = {"tbb": "tbbpool", "omp": "omppool", "workqueue": "workqueue"}
_KINDS = ("default", "safe", "forksafe", "threadsafe")


def require_threading_layer(layer: str) -> None:
    """Refuse what NUMBA_THREADING_LAYER asks for where it is not there; Numba would say so in its first parallel loop.

    Raises
    ------
    UsageError
        Names the variable, its value, and the way out.
    """
    if layer in _KINDS:
        return
    way_out = "; unset the variable" + (", or pip install tbb" if layer == "tbb" else "")
    if layer not in _LAYERS:
        known = ", ".join([*_KINDS, *_LAYERS])
        raise UsageError(f"NUMBA_THREADING_LAYER={layer}: no threading layer of Numba's: {known}{way_out}")
    try:
        import_module(f"numba.np.ufunc.{_LAYERS[layer]}")
    except ImportError:
        raise UsageError(f"NUMBA_THREADING_LAYER={layer}: that library is not installed{way_out}") from None


@cache
def _imported() -> Any:
    import numba
    from numba.core import event

    class Listener(event.Listener):
        """Passes on to ``compiling`` what Numba says."""

        def on_start(self, event: Any) -> None:
            """A kernel is compiled."""
            function = event.data["dispatcher"].py_func
            compiling.begins(f"{function.__module__.removeprefix('bigbfs.')}.{function.__qualname__}")

        def on_end(self, event: Any) -> None:
            """It has been."""
            compiling.ends()

    event.register("numba:compile", Listener())
    require_threading_layer(numba.config.THREADING_LAYER)  # type: ignore[attr-defined] # made as variables are read
    return numba


def numba() -> Any:
    """Return the module ``numba``, with everything declared to it.

    Raises
    ------
    UsageError
        NUMBA_THREADING_LAYER names what is not there.
    """
    module = _imported()
    later.declare()
    return module
