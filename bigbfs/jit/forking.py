"""In a forked process: threads are made anew, and a GPU that does not answer says why.

A process that ``fork`` makes (multiprocessing's default on Linux up to Python 3.13) has a copy of the memory of its
parent but none of its threads. The threads of :mod:`bigbfs.jit.workers` and :mod:`bigbfs.jit.team` are made anew in
the child; a GPU that the parent has used does not work there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from bigbfs.errors import DeviceError, ForkError, NoDeviceError

_state = {"forked": False}

WAYS_OUT = (
    'start processes by multiprocessing.get_context("spawn") or "forkserver", or fork before the first use of bigbfs'
)
"""What works on a GPU."""


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


def _in_child() -> None:
    """Note, in a new child, that it is one."""
    _state["forked"] = True


os.register_at_fork(after_in_child=_in_child)
