"""Which items of a graph file's sections belong to a range of its rows, and what turns them into a shard's own.

A shard counts from its own beginning: its ``indptr`` and ``hub_ptr`` begin with 0, its ``block_ptr`` points into its
own ``blob``. Ids of vertices (``indices``, ``hubs``, what ``blob`` encodes) stay those of the graph.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.formats.container.csrbin import Container

WORD = 64
"""A shard begins with a multiple of so many rows: the words of a bitmap are what ranks deal in."""
VERTEX_WORK = 8
"""A row costs as much as so many edges (plain) or bytes (varint), where rows are shared out."""

OVERLAPPING = ("indptr", "hub_ptr")
"""Sections whose last item in one shard is the first in the next."""

_PLAIN = ("indptr", "indices")
_VARINT = ("indptr", "degree", "blob", "hubs", "hub_ptr", "block_ptr")


@dataclass(frozen=True)
class Extent:
    """The items ``first`` to ``last - 1`` of a section; ``base`` is taken from each of them."""

    first: int
    last: int
    base: int = 0


def kind_of(section: str) -> str:
    """Return the name of a section without what says that it is of the in-neighbours."""
    return section.removeprefix("in_")


def row_sections(names: Iterable[str], codec: str) -> list[str]:
    """Return those of ``names`` (the sections of a graph file) that have something for each row."""
    wanted = {"labels", *(_PLAIN if codec == "plain" else _VARINT)}
    return [name for name in names if kind_of(name) in wanted]


def counted_by(section: str, codec: str) -> str | None:
    """Return the section whose items the values of ``section`` count; None: they count nothing."""
    prefix = section.removesuffix(kind_of(section))
    target = {
        "indptr": "indices" if codec == "plain" else "blob",
        "hub_ptr": "block_ptr",
        "block_ptr": "blob",
    }.get(kind_of(section))
    return None if target is None else prefix + target


def cut_rows(container: Container, parts: int) -> list[int]:
    """Return the first row of each of ``parts`` ranges of about equal work, and n; a range may be empty.

    Reads a few items of the offsets, whatever their number.
    """
    n = container.header.n
    pointers = [container.array(name) for name in container.sections if kind_of(name) == "indptr"]
    words = -(-n // WORD)

    def work(word: int) -> int:
        row = min(word * WORD, n)
        return VERTEX_WORK * row + sum(int(array[row]) for array in pointers)

    whole = work(words)
    inner = [bisect_left(range(words + 1), whole * k // parts, key=work) for k in range(1, parts)]
    return [0, *(min(word * WORD, n) for word in inner), n]


def extents(container: Container, first: int, last: int) -> dict[str, Extent]:
    """Return what of each section with rows belongs to the rows ``first`` to ``last - 1``.

    Raises
    ------
    FormatError
        Offsets descend or lead out of their section.
    """
    found: dict[str, Extent] = {}
    for name in row_sections(container.sections, container.header.codec):
        kind, prefix = kind_of(name), name.removesuffix(kind_of(name))
        if kind in ("labels", "degree"):
            found[name] = Extent(first, last)
            continue
        start, stop = _between(container, prefix + "indptr", first, last)
        if kind == "indptr":
            found[name] = Extent(first, last + 1, start)
        elif kind in ("indices", "blob"):
            found[name] = Extent(start, stop)
        else:
            hubs = container.array(prefix + "hubs")
            low, high = (int(np.searchsorted(hubs, hubs.dtype.type(row))) for row in (first, last))
            if kind == "hubs":
                found[name] = Extent(low, high)
                continue
            blocks = _between(container, prefix + "hub_ptr", low, high)
            found[name] = Extent(low, high + 1, blocks[0]) if kind == "hub_ptr" else Extent(*blocks, start)
    return found


def _between(container: Container, pointers: str, first: int, last: int) -> tuple[int, int]:
    """Return what two items of a section of offsets say, if that can be."""
    array = container.array(pointers)
    target = counted_by(pointers, container.header.codec)
    assert target is not None
    start, stop = int(array[first]), int(array[last])
    if not 0 <= start <= stop <= container.sections[target].count:
        raise FormatError(
            f"{container.mapped.path}: {pointers} leads from {start} to {stop} in {target}, which has "
            f"{container.sections[target].count} items; `bigbfs check` names the place"
        )
    return start, stop
