"""Power-law degrees with a given mean and a maximum that no vertex exceeds (Friendster: 5,214).

The share of vertices of degree d is proportional to ``(d + shift) ** -exponent`` for 1 <= d <= max_degree, the shift
chosen so that the mean is right. Degrees are dealt in exact numbers, vertex 0 the smallest, at least one vertex the
maximum; then the ends of edges ("stubs") are paired by a random permutation (the configuration model). Self-loops and
repeated pairs are in the list, so the stored graph, which drops them, has degrees that are a little lower, never
higher. Source: Molloy and Reed, Random Structures and Algorithms 6 (1995).

Everything that decides the graph is integer arithmetic or correctly rounded (+ - * / sqrt, frexp), because library
functions such as pow differ in the last bit between machines.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bigbfs.errors import UsageError
from bigbfs.generate.arrays import Drawn
from bigbfs.generate.rng import make_key, permuted
from bigbfs.jit.njit import njit

GUIDE_BITS = 16
_LN2 = 0.6931471805599453


def powerlaw(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return the edges of a configuration model of ``vertices`` with the mean ``degree``."""
    counts = degree_counts(p["vertices"], p["degree"], p["exponent"], p["max_degree"])
    degrees = np.flatnonzero(counts)
    members = counts[degrees]
    first_vertex = np.concatenate([np.zeros(1, np.int64), np.cumsum(members)]).astype(np.uint64)
    first_stub = np.concatenate([np.zeros(1, np.int64), np.cumsum(members * degrees)]).astype(np.uint64)
    stubs = int(first_stub[-1])
    bits = max(stubs - 1, 0).bit_length()
    shift = max(0, bits - GUIDE_BITS)
    places = np.arange(((stubs - 1) >> shift) + 1 if stubs else 0, dtype=np.uint64) << np.uint64(shift)
    guide = np.searchsorted(first_stub, places, side="right") - 1
    tables = (degrees.astype(np.uint64), first_vertex, first_stub, guide, np.uint64(shift))
    shape = (*tables, np.uint64(stubs), np.uint64(bits), make_key(seed, 0))
    return Drawn(p["vertices"], stubs // 2, _fill, shape)


def degree_counts(n: int, mean: float, exponent: float, maximum: int) -> np.ndarray:
    """Return how many of ``n`` vertices have each degree: int64, shape (maximum + 1,), an even number of stubs.

    Raises
    ------
    UsageError
        No shift gives that mean.
    """
    degrees = np.arange(1, maximum + 1, dtype=np.float64)
    weights = _weights(degrees, mean, exponent)
    shares = np.rint(weights / weights.max() * 2.0**40).astype(np.int64).tolist()
    whole, seen, dealt = sum(shares), 0, 0
    counts = [0]
    for share in shares:
        seen += share
        counts.append(n * seen // whole - dealt)
        dealt += counts[-1]
    if counts[maximum] == 0:
        most = counts.index(max(counts))
        counts[most] -= 1
        counts[maximum] += 1
    if sum(degree * count for degree, count in enumerate(counts)) % 2:
        _move_one_up(counts)
    return np.array(counts, np.int64)


def _move_one_up(counts: list[int]) -> None:
    """Give one vertex one stub more, or, where all have the maximum already, one less."""
    for degree in range(len(counts) - 1):
        if counts[degree]:
            counts[degree] -= 1
            counts[degree + 1] += 1
            return
    counts[-1] -= 1
    counts[-2] += 1


def _weights(degrees: np.ndarray, mean: float, exponent: float) -> np.ndarray:
    """Return ``(degree + shift) ** -exponent`` with the shift that gives the ``mean``, by bisection."""
    low, high = 2.0**-12, 2.0**44  # of 1 + shift: from "nearly all have degree 1" to "all degrees alike"

    def weigh(start: float) -> np.ndarray:
        return _power(degrees - 1.0 + start, exponent)

    reach = [_mean(degrees, weigh(start)) for start in (low, high)]
    if not reach[0] * (1 - 1e-9) <= mean <= reach[1] * (1 + 1e-9):
        raise UsageError(
            f"powerlaw: no degrees up to {len(degrees)} with exponent {exponent:g} have the mean {mean:g}; "
            f"it can be {reach[0]:.3g} to {reach[1]:.6g}"
        )
    for _ in range(60):
        middle = math.sqrt(low * high)
        if _mean(degrees, weigh(middle)) < mean:
            low = middle
        else:
            high = middle
    return weigh(high)


def _mean(degrees: np.ndarray, weights: np.ndarray) -> float:
    return float(np.cumsum(degrees * weights)[-1] / np.cumsum(weights)[-1])  # cumsum adds in order, sum does not


def _power(base: np.ndarray, exponent: float) -> np.ndarray:
    """Return ``(base / base[0]) ** -exponent`` to about 14 digits, the same on every machine."""
    fraction, binary = np.frexp(base / base[0])
    ratio = (fraction - 0.75) / (fraction + 0.75)  # ln(fraction / 0.75) = 2 atanh(ratio), |ratio| <= 0.2
    square, series = ratio * ratio, np.zeros_like(ratio)
    for term in range(23, 0, -2):
        series = series * square + 1.0 / term
    logarithm = 2.0 * ratio * series + binary * _LN2 - 0.2876820724517809  # ln 0.75
    power = -exponent * logarithm / _LN2
    whole = np.rint(power)
    rest, result = (power - whole) * _LN2, np.ones_like(power)
    for term in range(18, 0, -1):
        result = 1.0 + result * rest / term
    return np.ldexp(result, np.maximum(whole, -1000).astype(np.int32))


@njit(cache=True, nogil=True, inline="always")
def _owner(stub, degrees, first_vertex, first_stub, guide, shift):
    """Return the vertex that ``stub`` belongs to: its degree's class is found near the guide's entry."""
    group = guide[stub >> shift]
    while stub >= first_stub[group + 1]:
        group += 1
    return first_vertex[group] + (stub - first_stub[group]) // degrees[group]


@njit(cache=True, nogil=True)
def _fill(first, last, src, dst, degrees, first_vertex, first_stub, guide, shift, stubs, bits, key):
    for edge in range(first, last):
        one = permuted(np.uint64(2 * edge), stubs, bits, key)
        other = permuted(np.uint64(2 * edge + 1), stubs, bits, key)
        src[edge - first] = _owner(one, degrees, first_vertex, first_stub, guide, shift)
        dst[edge - first] = _owner(other, degrees, first_vertex, first_stub, guide, shift)
