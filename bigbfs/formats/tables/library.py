"""pyarrow, imported when a table is read or written and not before; its errors in our words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from bigbfs.errors import InputError, UsageError

_LONGEST = 200
"""Characters of another library's message that are worth showing."""


def pyarrow(what: str) -> Any:
    """Return the module pyarrow, which ``what`` needs.

    Raises
    ------
    UsageError
        It is not installed.
    """
    return library("pyarrow", what)


def library(name: str, what: str) -> Any:
    """Return a module of the extra ``tables``, which ``what`` needs: ``pyarrow.parquet``, for example.

    Raises
    ------
    UsageError
        It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        way = "'bigbfs[tables]'" if package == "pyarrow" else package
        raise UsageError(f"{what} needs {package}, which is not installed: pip install {way}") from error


def release_unused() -> None:
    """Give memory back that pyarrow keeps for its next table: there is none, and other work needs it."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


def brief(error: BaseException) -> str:
    """Return the first line of another library's message."""
    several = len(error.args) > 1 and all(isinstance(each, str) for each in error.args)
    said = ": ".join(error.args) if several else str(error)
    text = (said.strip() or type(error).__name__).splitlines()[0]
    text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


@contextmanager
def reading(name: str, kind: str) -> Iterator[None]:
    """Turn what pyarrow says of a damaged file into an InputError that names it and what it should be.

    Raises
    ------
    InputError
        pyarrow cannot read it.
    """
    arrow = pyarrow(kind)
    try:
        yield
    except (arrow.ArrowException, OSError, EOFError, UnicodeDecodeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        what = f"{name}: is damaged, or no {kind}: {brief(error)}; fetch or write it again"
        raise InputError(what) from error
