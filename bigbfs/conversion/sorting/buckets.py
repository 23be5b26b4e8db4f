"""Edges as numbers, sorted in buckets: the step that the conversions in memory and on disk share.

Within a partition (all rows, in memory) an edge is one number

    K = row in the partition << value_bits | (value - value_low)

and a *bucket* holds the edges with the same ``K >> shift``. A *key* (uint64) is ``(K & mask) << 1 | backward``: one
sort brings the lines of an edge together, those in its row's direction before the others. Buckets fit a core's cache,
so that the random writes of a counting sort stay inside it (Beamer, Asanovic, Patterson: Reducing Pagerank
communication via propagation blocking, IPDPS 2017). Offsets are int64. Kernels are serial over a range, release the
GIL and may run side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bigbfs.conversion.numbering.rules import LABELLED, PRESENT, Rules
from bigbfs.conversion.numbering.table import rank_of
from bigbfs.conversion.sorting.radix import SMALL, insertion_sort, radix_sort
from bigbfs.conversion.sorting.rule import Rule, repeated_of, stored_of, turned_of
from bigbfs.graph.transposing import TASKS_PER_THREAD
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import Workers, balanced_ranges

_ONE = np.uint64(1)


class Layout(NamedTuple):
    """Where the parts of an edge's number are (all uint64); a state tuple.

    ``low`` is the row 0 of the partition, ``value_low`` the least value.
    """

    low: np.uint64
    value_low: np.uint64
    value_bits: np.uint64
    shift: np.uint64


def layout_of(low: int, value_low: int, value_bits: int, shift: int) -> Layout:
    """Return the layout with these numbers."""
    return Layout(np.uint64(low), np.uint64(value_low), np.uint64(value_bits), np.uint64(shift))


class Buckets(NamedTuple):
    """The keys of bucket b: ``keys[starts[b]:starts[b + 1]]``; a state tuple.

    Its values, sorted, go to the front of the same memory (``packed`` is ``keys`` seen as ids), their number to
    ``written[b]``.
    """

    starts: np.ndarray
    keys: np.ndarray
    packed: np.ndarray
    written: np.ndarray


@njit(forceinline=True)
def edge_number(row, value, layout):
    """Return K of an edge."""
    return ((row - layout.low) << layout.value_bits) | (value - layout.value_low)


@njit(cache=True, nogil=True)
def sort_buckets(first, last, buckets, layout, rules, rule, degrees):
    """Sort and thin out the buckets ``first`` to ``last``; return (repeated lines, edges given both ways).

    Their values, as numbers of vertices, go to ``buckets.packed``, and their number is added to the ``degrees`` of
    their rows (empty where the partition is a part of one row), atomically where rows may lie in several buckets.
    """
    starts, keys = buckets.starts, buckets.keys
    ratio = len(buckets.packed) // max(len(keys), 1)
    repeats = turns = 0
    for bucket in range(first, last):
        begin, end = starts[bucket], starts[bucket + 1]
        ordered = keys[begin:end]
        if end - begin <= SMALL:
            insertion_sort(ordered)
        else:
            ordered = radix_sort(ordered, np.empty(end - begin, np.uint64), 1, np.int64(layout.shift))
        high = np.uint64(bucket) << layout.shift
        out = buckets.packed[begin * ratio : end * ratio]
        count, more, both = emit(ordered, high, layout, rules, rule, degrees, out)
        buckets.written[bucket] = count
        repeats += more
        turns += both
    return repeats, turns


@njit(forceinline=True)
def _add(degrees, row, count, alone):
    if alone:
        degrees[row] += count
    else:
        fetch_add(degrees, row, count)


@njit(cache=True, nogil=True)
def emit(ordered, high, layout, rules, rule, degrees, out):
    """Write the values of one bucket's ascending keys to ``out``; return (values, repeated, both ways).

    ``out`` may be the memory of the keys: it is never ahead of what has been read.
    """
    bits, base, present = layout.value_bits, layout.value_low, rules.present
    mask = (_ONE << bits) - _ONE
    ranked = rules.mode == np.uint64(PRESENT)
    labelled = rules.mode == np.uint64(LABELLED)
    loop, first_id = rules.loop, rules.base
    copies, apart = rule.copies, rule.apart
    whole = layout.shift >= bits  # rows lie in one bucket each: nobody else adds to their degrees
    count = repeats = turns = i = row_start = 0
    row = np.int64(-1)
    last_row = np.uint64(2**64 - 1)
    while i < len(ordered):
        low = ordered[i] >> _ONE
        start = i
        backward = 0
        while i < len(ordered) and ordered[i] >> _ONE == low:
            backward += np.int64(ordered[i] & _ONE)
            i += 1
        forward = i - start - backward
        here, value = (high | low) >> bits, ((high | low) & mask) + base
        if len(degrees) and here != last_row:
            if row >= 0:
                _add(degrees, row, count - row_start, whole)
            row = np.int64(rank_of(here + rules.low, present) - first_id if ranked else here)
            last_row, row_start = here, count
        times = 1
        if forward + backward > 1:  # most edges are given once, and stored once by any rule
            times = stored_of(copies, forward, backward)
            if here + loop != value:
                repeats += repeated_of(apart, forward, backward)
                turns += turned_of(forward, backward)
        target = value
        if ranked:
            target = rank_of(value, present)
        elif not labelled:
            target = value - first_id
        for _ in range(times):
            out[count] = target
            count += 1
    if row >= 0:
        _add(degrees, row, count - row_start, whole)
    return count, repeats, turns


@njit(cache=True, nogil=True)
def gather(first, last, buckets, bases, out):
    """Move the values of the buckets close together: those of bucket b to ``out[bases[b]:bases[b + 1]]``."""
    ratio = len(buckets.packed) // max(len(buckets.keys), 1)
    for bucket in range(first, last):
        base, begin = bases[bucket], buckets.starts[bucket] * ratio
        for i in range(bases[bucket + 1] - base):
            out[base + i] = buckets.packed[begin + i]


def buckets_of(starts: np.ndarray, keys: np.ndarray, ids: np.dtype) -> Buckets:
    """Return the buckets of ``keys`` that begin at ``starts``, whose values become ``ids``."""
    return Buckets(starts, keys, keys.view(ids), np.zeros(len(starts) - 1, np.int64))


def sorted_values(
    buckets: Buckets,
    layout: Layout,
    rules: Rules,
    rule: Rule,
    degrees: np.ndarray,
    room: Callable[[int], np.ndarray],
    workers: Workers,
    threads: int,
    advance: Callable[[int], object] = int,
) -> tuple[np.ndarray, np.ndarray]:
    """Sort all buckets, whose keys are used up; return their values, row after row, and what was found.

    That is int64[2]: lines that repeat an earlier one, and edges given in both directions.

    Parameters
    ----------
    degrees
        int64, one for each row: the values of each are added. Empty where the partition is a part of one row.
    room
        Returns an array of as many ids as it is given, for the result.
    advance
        Called with the keys just sorted, by any thread.
    """
    tasks = balanced_ranges(buckets.starts, TASKS_PER_THREAD * threads)
    found = np.zeros((len(tasks), 2), np.int64)

    def sort(i: int) -> None:
        found[i] = sort_buckets(*tasks[i], buckets, layout, rules, rule, degrees)
        first, last = tasks[i]
        advance(int(buckets.starts[last] - buckets.starts[first]))

    workers.each(len(tasks), sort)
    bases = np.zeros(len(buckets.starts), np.int64)
    np.cumsum(buckets.written, out=bases[1:])
    out = room(int(bases[-1]))
    workers.each(len(tasks), lambda i: gather(*tasks[i], buckets, bases, out))
    return out, found.sum(axis=0)
