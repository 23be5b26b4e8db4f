"""The formats of other tools, as edges: one file a format, and the registry that everything about formats comes from.

A format is a line in ``NAMES`` and a module of that name in this folder with its reader and ``FORMAT``, the entry.
Detection, ``--format``, help, estimates, samples, the names of outputs, fuzz seeds and the table in docs/formats.md
walk the registry. The names alone cost no import.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bigbfs.formats.readers.format import Format

NAMES = (
    "text",
    "adjlist",
    "mtx",
    "metis",
    "dimacs",
    "adj",
    "npy",
    "npz",
    "parquet",
    "arrow",
    "csrbin",
    "sg",
    "bvgraph",
)
"""Names that ``format=`` and ``--format`` take; detection by content asks in this order."""


@cache
def formats() -> dict[str, Format]:
    """Return the entry of every format, by name; loads all readers."""
    return {name: import_module(f"bigbfs.formats.readers.{name}").FORMAT for name in NAMES}
