"""Rows sorted one by one: of every length at which the way changes, against Python's sets and NumPy."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bigbfs.conversion.numbering.rules import NUMBERED
from bigbfs.conversion.sorting import in_rows
from bigbfs.conversion.sorting import lines as sorting
from bigbfs.conversion.sorting.buckets import layout_of
from bigbfs.conversion.sorting.lines import Lines, rows_from_lines
from bigbfs.conversion.sorting.rule import AS_GIVEN, ONCE, Rule
from bigbfs.graph import pages
from bigbfs.graph.transposing import Loose, transpose
from bigbfs.graph.views import frozen

LENGTHS = [0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 200, 1023, 1024, 1500]
SMALL, LARGE = 4_000, 1 << 22
"""Vertices for which keys take 32 and 64 bits."""


def lines_of(n, repeats):
    """Lines, shuffled: the row of vertex ``n - 1 - i`` has the i-th length; ``repeats`` of each are there twice.

    One of each is there in the other direction too, and up to two self-loops.
    """
    rng = np.random.default_rng(n + repeats)
    found = []
    for i, length in enumerate(LENGTHS):
        row = n - 1 - i
        values = rng.choice(2_000, length, replace=False)
        found += [(row, value) for value in values.tolist()]
        found += [(row, value) for value in values[:repeats].tolist()] + [(value, row) for value in values[:1].tolist()]
        found += [(row, row)] * (length % 3)
    return rng.permutation(np.array(found, np.uint32))


def oracle(pairs, n, copies, *, keep_loops, undirected):
    times = Counter()
    for u, v in pairs.tolist():
        if u != v or keep_loops:
            times[(max(u, v), min(u, v)) if undirected else (u, v)] += 1
    if copies == ONCE:
        times = Counter(dict.fromkeys(times, 1))
    return sorted(times.elements())


def listed(rows):
    if isinstance(rows, Loose):
        spans = zip(rows.begins.tolist(), rows.ends.tolist(), strict=False)
        return [(row, v) for row, (a, b) in enumerate(spans) for v in rows.indices[a:b].tolist()]
    indptr, indices = rows
    return list(zip(np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)).tolist(), indices.tolist(), strict=True))


@pytest.mark.covered
@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("undirected", [False, True])
def test_rows_of_every_length(n, undirected):
    for repeats, copies, keep_loops in ((0, ONCE, False), (2, ONCE, True), (2, AS_GIVEN, True)):
        pairs = lines_of(n, repeats)
        lines = Lines(pairs[:, 0].copy(), pairs[:, 1].copy(), n)
        how = {"undirected": undirected, "copies": copies, "keep_loops": keep_loops, "reuse": repeats == 2}
        rows, counts, spare = rows_from_lines(lines, 2, **how)
        assert spare.dtype == (np.uint32 if n == SMALL else np.uint64)
        half = oracle(pairs, n, copies, keep_loops=keep_loops, undirected=undirected)
        assert listed(rows) == half
        assert counts.self_loops == sum(length % 3 for length in LENGTHS)
        assert counts.reversed == (len(LENGTHS) - 1 if undirected else 0)
        assert counts.duplicates == sum(min(repeats, length) for length in LENGTHS)
        if undirected:
            both = sorted(half + [(v, u) for u, v in half if u != v])
            assert listed(transpose(rows, 2, head=True, spare=spare)) == both


@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize("rest", [500, 3_000, 40_000])
def test_keys_over_the_lines(monkeypatch, undirected, rest):
    """Where there is room behind the targets, nothing else is touched; the rows are those of memory of its own."""
    pairs = lines_of(SMALL, 2)
    monkeypatch.setattr(sorting, "_LARGE", 0)
    how = {"undirected": undirected, "copies": ONCE, "keep_loops": False, "reuse": True}
    src, dst = pages.empty(len(pairs), np.uint32), pages.empty(len(pairs) + rest, np.uint32)
    src[:], dst[: len(pairs)] = pairs.T
    rows, counts, spare = rows_from_lines(Lines(src, dst[: len(pairs)], SMALL), 2, **how)
    assert np.shares_memory(spare, dst), "memory of its own"
    own = {**how, "reuse": False}
    others, expected, apart = rows_from_lines(Lines(*(side.copy() for side in pairs.T), SMALL), 2, **own)
    assert not np.shares_memory(apart, dst)
    assert (listed(rows), counts) == (listed(others), expected)


def test_lines_that_are_not_to_be_overwritten_stay(monkeypatch):
    pairs = lines_of(SMALL, 0)
    monkeypatch.setattr(sorting, "_LARGE", 0)
    src, dst = pages.empty(len(pairs), np.uint32), pages.empty(2 * len(pairs), np.uint32)[: len(pairs)]
    src[:], dst[:] = pairs.T
    rows_from_lines(Lines(src, dst, SMALL), 2, undirected=True, copies=ONCE, keep_loops=False)
    assert np.array_equal(np.stack((src, dst)), pairs.T)


def test_ids_of_more_than_31_bits():
    """A value and its direction take 64 bits then; such a graph is no thing for a test, its rows are."""
    rng = np.random.default_rng(3)
    bits, n = 33, 4
    values = [np.unique(rng.integers(0, 2**bits, count, np.uint64)) for count in (5, 40, 0, 300)]
    keys = np.concatenate([(np.uint64(row << bits) | each) << np.uint64(1) for row, each in enumerate(values)])
    keys = rng.permutation(np.concatenate([keys, keys[:3]]))
    rows = in_rows.Rows(np.zeros(n + 1, np.int64), np.zeros(n, np.int64), np.zeros(len(keys), np.uint64))
    starts, written = np.array([0, len(keys)]), np.zeros(1, np.int64)
    shape = (layout_of(0, 0, bits, bits + 2), NUMBERED, Rule(ONCE, apart=True), rows, written, written[:0])
    assert in_rows.sort_rows(
        0, 1, in_rows.Keys(starts, starts[np.newaxis], frozen(keys)), *shape, np.empty(0, np.uint64)
    ) == (3, 0)
    for row, each in enumerate(values):
        assert rows.values[rows.begins[row] : rows.ends[row]].tolist() == each.tolist()
    assert written[0] == sum(map(len, values))
