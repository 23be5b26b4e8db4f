"""Numba kernels that write edges, and numbers, as lines of decimal numbers."""

from __future__ import annotations

import numpy as np

from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

LINE_BYTES = 42
"""Longest line: two numbers of 20 digits, a blank and a line end."""
NUMBER_BYTES = 20
"""Longest line of one number, below 2**63, with its end."""

_ONE = np.uint64(1)
_PIECE = np.uint64(512)
"""Lines that take about 10 us."""


@njit(cache=True, nogil=True)
def _put_number(value, text, at):
    """Write ``value`` (int64, not negative) in decimal at ``text[at]``; return the place after it."""
    digits = np.int64(1)
    rest = value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    place = at + digits
    end = place
    for _ in range(digits):
        place -= 1
        text[place] = np.uint8(48 + value % 10)
        value //= 10
    return end


@njit(cache=True, nogil=True)
def put_edges(team, indptr, indices, first_row, bounds, labels, first_id, half, larger_first, separator, text, lengths):
    """Write a line "u v" for every edge of some rows; each run of rows fills its own part of ``text``.

    Parameters
    ----------
    indptr, indices
        int64 offsets from 0 on, ids; row i is vertex ``first_row + i``.
    bounds
        int64: cuts the rows into runs; the text of run r starts at ``LINE_BYTES * indptr[bounds[r]]``.
    labels, first_id
        Name of vertex v: ``labels[v]``, or ``v + first_id`` where ``labels`` is empty.
    half
        Only edges u -> v with u <= v.
    larger_first
        Write "v u".
    separator
        The byte between the two.
    lengths
        int64: filled with the bytes of each run's text.
    """
    claim = np.zeros(1, np.uint64)
    share(
        team,
        np.uint64(len(indptr) + len(indices)) // _PIECE + _ONE,
        _put_edges,
        (indptr, indices, first_row, bounds, labels, first_id, half, larger_first, separator, text, lengths, claim),
    )


@member
def _put_edges(
    indptr, indices, first_row, bounds, labels, first_id, half, larger_first, separator, text, lengths, claim, t
):
    """Take runs for :func:`put_edges` until there are no more."""
    while True:
        run = np.int64(fetch_add(claim, 0, _ONE))
        if run >= len(bounds) - 1:
            break
        start = LINE_BYTES * indptr[bounds[run]]
        at = start
        for row in range(bounds[run], bounds[run + 1]):
            u = first_row + np.int64(row)
            for edge in range(indptr[row], indptr[row + 1]):
                v = np.int64(indices[edge])
                if half and v < u:
                    continue
                one, two = (v, u) if larger_first else (u, v)
                if len(labels) > 0:
                    one, two = labels[one], labels[two]
                else:
                    one, two = one + first_id, two + first_id
                at = _put_number(one, text, at)
                text[at] = np.uint8(separator)
                at = _put_number(two, text, at + 1)
                text[at] = np.uint8(10)
                at += 1
        lengths[run] = at - start


@njit(cache=True, nogil=True)
def put_numbers(team, numbers, bounds, text, lengths):
    """Write each of ``numbers`` (integers from 0 on) on a line of its own; each run fills its own part of ``text``.

    Parameters
    ----------
    numbers
        int64, uint32 or uint64 below 2**63.
    bounds
        int64: cuts them into runs; the text of run r starts at ``NUMBER_BYTES * bounds[r]``.
    lengths
        int64: filled with the bytes of each run's text.
    """
    claim = np.zeros(1, np.uint64)
    share(team, np.uint64(len(numbers)) // _PIECE + _ONE, _put_numbers, (numbers, bounds, text, lengths, claim))


@member
def _put_numbers(numbers, bounds, text, lengths, claim, t):
    """Take runs for :func:`put_numbers` until there are no more."""
    while True:
        run = np.int64(fetch_add(claim, 0, _ONE))
        if run >= len(bounds) - 1:
            break
        start = NUMBER_BYTES * bounds[run]
        at = start
        for i in range(bounds[run], bounds[run + 1]):
            at = _put_number(np.int64(numbers[i]), text, at)
            text[at] = np.uint8(10)
            at += 1
        lengths[run] = at - start
