"""A limit on the length of files inside this process, as a full disk is one."""

from __future__ import annotations

import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def files_of(size: int) -> Iterator[None]:
    """Let no file grow beyond ``size`` bytes inside.

    Nor is byte code written: Python, before 3.12.8, leaves a module's cut off at the limit where it is imported for the
    first time, and fails whenever it reads it again.
    """
    limit, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limit[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
        sys.dont_write_bytecode = written
