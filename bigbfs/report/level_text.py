"""Levels of a search as JSON text, without an object for each: a graph may have a million of them.

Neighbouring levels of which the same is known have the same text but for their numbers, so that one template serves
many at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

import numpy as np

from bigbfs.algorithms.bfs.level_records import COUNTS, DIRECTIONS, UNCOUNTED

PIECE = 1 << 14
"""Levels of a piece of text."""


def level_pieces(table: np.ndarray) -> Iterator[str]:
    """Yield the levels of ``table`` (``TABLE``) as objects with commas between, in pieces.

    The keys are the fields of ``LevelRecord``; what nobody knows is null: ``seconds`` where several levels ran as one.
    """
    for first in range(0, len(table), PIECE):
        part = table[first : first + PIECE]
        known = {"seconds": ~np.isnan(part["seconds"])} | {name: part[name] != UNCOUNTED for name in COUNTS}
        alike = np.ones(max(0, len(part) - 1), np.bool_)
        for column in (part["direction"], part["on_cpu"], *known.values()):
            alike &= column[1:] == column[:-1]
        bounds = [0, *(np.flatnonzero(~alike) + 1).tolist(), len(part)]
        texts = (
            _text(part[begin:end], first + begin, {name: bool(each[begin]) for name, each in known.items()})
            for begin, end in pairwise(bounds)
        )
        yield (", " if first else "") + ", ".join(texts)


def _text(rows: np.ndarray, level: int, known: dict[str, bool]) -> str:
    """Return the text of ``rows``, the first of which is ``level``, that have the same fields ``known``."""
    columns = [range(level, level + len(rows)), rows["frontier"].tolist()]
    columns += [rows[name].tolist() for name in known if known[name]]
    fields = {"level": "%r", "direction": f'"{DIRECTIONS[rows["direction"][0]]}"', "frontier": "%r"}
    fields |= {name: "%r" if counted else "null" for name, counted in known.items()}
    fields["backend"] = '"cpu"' if rows["on_cpu"][0] else "null"
    template = "{" + ", ".join(f'"{name}": {text}' for name, text in fields.items()) + "}"
    return ", ".join([template] * len(rows)) % tuple(chain.from_iterable(zip(*columns, strict=True)))
