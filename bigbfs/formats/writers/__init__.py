"""Graphs in the formats of other tools: one file a format, and the registry that ``bigbfs export`` is made of.

A format is a line in ``NAMES`` and a module of that name in this folder with ``WRITER``, the entry. The names alone
cost no import, the entries none of Numba, which is loaded when something is written.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bigbfs.formats.writers.writer import Writer

NAMES = (
    "el",
    "mtx",
    "sg",
    "raw",
    "adj",
    "parquet",
    "csv",
    "arrow",
)
"""Names that ``--to`` takes."""


@cache
def writers() -> dict[str, Writer]:
    """Return the entry of every format that is written, by name."""
    return {name: import_module(f"bigbfs.formats.writers.{name}").WRITER for name in NAMES}
