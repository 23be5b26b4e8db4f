"""Parallel loops in a forked process: refused where the threads behind them stayed in the parent.

A process that ``fork`` makes (multiprocessing's default on Linux up to Python 3.13) has a copy of the memory of its
parent but none of its threads. GNU's OpenMP, which Numba's parallel loops run on where TBB is not installed, does not
notice: it waits for ever for threads that are not there, or ends the process. So whoever forked after a parallel loop
is told at the first one in the child, or sooner, when a graph is placed. Loops on one thread, threads of
:mod:`bigbfs.jit.workers`, and Numba's layers ``tbb`` and ``workqueue`` work after a fork. Source: documentation of
Numba, "The Threading Layers".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from bigbfs.errors import DeviceError, ForkError, NoDeviceError

_state = {"forked": False, "stranded": False}

WAYS_OUT = (
    'start processes by multiprocessing.get_context("spawn") or "forkserver", or fork before the first use of bigbfs'
)
"""What works with every threading layer and on a GPU too."""


def require_threads() -> None:
    """Refuse a process whose parallel loops would die or hang.

    Raises
    ------
    ForkError
        It was forked after the parent had run one; the message says what to do instead.
    """
    if _state["stranded"]:
        raise ForkError(
            "this process was forked from one that had used its threads already, and they did not come along",
            remedies=(WAYS_OUT, "set NUMBA_THREADING_LAYER=workqueue (one thread at a time may call bigbfs then)"),
        )


@contextmanager
def of_a_gpu() -> Iterator[None]:
    """Let an error of the GPU in a forked process say so: a driver that the parent has started is of no use there.

    Raises
    ------
    ForkError
        Instead of what the GPU's runtime raised, if this process was forked.
    """
    try:
        yield
    except (DeviceError, NoDeviceError) as error:
        if not _state["forked"]:
            raise
        raise ForkError(
            f"this process was forked, and a GPU that the parent has used does not work in it ({error.message})",
            remedies=(WAYS_OUT,),
        ) from error


class Parallel:
    """A kernel with parallel loops that is called from Python: asks :func:`require_threads` first.

    Parameters
    ----------
    kernel
        What Numba made of it; everything else that one may ask of it is passed on.
    """

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._kernel = kernel
        self.__name__ = getattr(kernel, "__name__", "kernel")
        self.__doc__ = kernel.__doc__

    def __call__(self, *arguments: Any) -> Any:
        """Run it."""
        if _state["stranded"]:
            require_threads()
        return self._kernel(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name == "_kernel":  # while it is being unpickled
            raise AttributeError(name)
        return getattr(self._kernel, name)


def _in_child() -> None:
    """Note, in a new child, whether the parent had started threads that do not survive a fork."""
    _state["forked"] = True
    _state["stranded"] = _state["stranded"] or _layer_is_lost()


def _layer_is_lost() -> bool:
    numba = sys.modules.get("numba")  # a run on a GPU needs none, and it takes longer to import than to place a graph
    if numba is None:
        return False
    try:
        if numba.threading_layer() != "omp":
            return False
    except ValueError:  # no parallel loop has run yet: the child starts threads of its own
        return False
    return str(import_module("numba.np.ufunc.omppool").openmp_vendor) == "GNU"


os.register_at_fork(after_in_child=_in_child)
