"""Numba kernels that write edges, and numbers, as lines of decimal numbers."""

from __future__ import annotations

import numpy as np
from numba import prange

from bigbfs.jit.njit import njit

LINE_BYTES = 42
"""Longest line: two numbers of 20 digits, a blank and a line end."""
NUMBER_BYTES = 20
"""Longest line of one number, below 2**63, with its end."""


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


@njit(cache=True, parallel=True, nogil=True)
def put_edges(indptr, indices, first_row, bounds, labels, first_id, half, larger_first, text, lengths):
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
    lengths
        int64: filled with the bytes of each run's text.
    """
    for run in prange(len(bounds) - 1):
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
                text[at] = np.uint8(32)
                at = _put_number(two, text, at + 1)
                text[at] = np.uint8(10)
                at += 1
        lengths[run] = at - start


@njit(cache=True, parallel=True, nogil=True)
def put_numbers(numbers, bounds, text, lengths):
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
    for run in prange(len(bounds) - 1):
        start = NUMBER_BYTES * bounds[run]
        at = start
        for i in range(bounds[run], bounds[run + 1]):
            at = _put_number(np.int64(numbers[i]), text, at)
            text[at] = np.uint8(10)
            at += 1
        lengths[run] = at - start
