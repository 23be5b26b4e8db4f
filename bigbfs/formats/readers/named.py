"""Inputs whose ids are names: which ones they are, and their edges as pairs of texts, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bigbfs.errors import InputError, UsageError
from bigbfs.formats.readers import formats
from bigbfs.formats.readers.detect import checked_format, detect_format
from bigbfs.formats.readers.estimates import HEAD_BYTES
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.read import default_ahead, require_use
from bigbfs.formats.streams.sources import STANDARD_INPUT, Source
from bigbfs.formats.tables.columns import choose
from bigbfs.formats.tables.csvfile import Head, has_separators, is_name
from bigbfs.formats.tables.texts import texts_of

Text = tuple[np.ndarray, np.ndarray]
"""Names: bytes (uint8), and where each begins (int64, one more than names)."""


def holds_names(inputs: Sequence[str | Path], format: str | None, rules: Rules) -> bool:
    """Return whether the ids of the inputs are names; standard input and pipes are not touched.

    Raises
    ------
    InputError
        Some hold names, others integers, and nobody said that all are to be names.
    FileAccessError, UsageError
        An input cannot be read; there is no such format.
    """
    if rules.names is False:
        return False
    found = {str(path): rules.names or _has_names(path, format, rules) for path in inputs}
    if len(set(found.values())) > 1:
        one, other = (next(path for path, named in found.items() if named is kind) for kind in (True, False))
        what = f"{one} holds names, and {other} does not"
        raise InputError(what, remedies=(("names", True, "read every id as a name with {}"),))
    return any(found.values())


def _has_names(path: str | Path, format: str | None, rules: Rules) -> bool:
    wanted = None if format is None else checked_format(format)
    if str(path) == STANDARD_INPUT or (Path(path).exists() and not Path(path).is_file()):
        return False
    with Source(path) as source:
        try:
            found = formats()[wanted or detect_format(source.name, source.peek(HEAD_BYTES))]
        except InputError:
            return False  # whoever reads it says so
        return found.named is not None and found.named(source, rules)


def looks_named(source: Source, rules: Rules) -> bool:
    """Return whether a CSV or TSV file has ids in its first record that are no numbers of ours."""
    if not has_separators(source.name):
        return False
    head = Head(source.peek(HEAD_BYTES))
    try:
        first, second, _ = choose(source.name, head.names, rules.columns)
    except InputError:
        return False
    values = [head.values[place - 1] for place in (first, second) if place <= len(head.values)]
    headers = (head.names[first - 1], head.names[second - 1])
    ids_in_front = rules.header is not False and not all(map(is_name, headers))
    return len(values) == 2 and all(map(is_name, values)) and not ids_in_front


def read_names(
    path: str | Path,
    *,
    format: str | None,
    rules: Rules,
    threads: int,
    take: Callable[[Text, Text], object],
    progress: Callable[[int], object],
) -> tuple[int, tuple[str, ...]]:
    """Hand the edges of one input to ``take``, batch by batch; return the bytes read and what to tell of the input.

    Raises
    ------
    InputError
        It is damaged, or holds a name that is missing, empty, or no UTF-8; it changed while it was read.
    UsageError
        Its format has no names; pyarrow is not installed.
    """
    wanted = None if format is None else checked_format(format)
    with Source(path) as source:
        found = formats()[wanted or detect_format(source.name, source.peek(HEAD_BYTES))]
        if rules.skip_bad_lines:
            about = (("skip_bad_lines", rules.skip_bad_lines),)
            raise UsageError(f"the ids of {source.name} are names, and every record of them is read", about=about)
        require_use(source.name, found, Rules(columns=rules.columns, bipartite=rules.bipartite, names=True))
        source.unpack_ahead(threads, default_ahead(threads))
        assert found.table is not None
        rows = told = 0
        try:
            with found.table(source, rules) as table:
                for batch in table.batches(threads):
                    sides = (batch.first, batch.second)
                    if not len(sides[0]):
                        continue
                    take(*(texts_of(side, lambda i: table.place(batch, i), table.recode) for side in sides))
                    rows += len(sides[0])
                    now = source.consumed
                    if table.rows:
                        now = (source.size or 0) * rows // table.rows
                    progress(max(0, now - told))
                    told = max(told, now)
        except InputError as error:
            if source.changed():
                raise InputError(f"{source.name}: changed while it was read; convert it again") from error
            raise
        if not rows:
            raise InputError(f"{source.name}: no edge in it{table.only}; a graph without vertices is not made")
        notes = () if table.note is None else (table.note,)
        return source.consumed or source.size or 0, notes
