"""Vectors of the CPU kernels that sort: compiled and as Python, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from bigbfs.jit import interpreted, vectors
from bigbfs.jit.njit import njit

RNG = np.random.default_rng(5)


def _kernel(lanes):
    from bigbfs.jit.vectors import any_pair, ascending, first_lanes, halved, load_vector, store_vector

    @njit
    def kernel(items, count, out):
        none = ~items.dtype.type(0)
        found = ascending(first_lanes(halved(load_vector(items, 1, lanes)), items.dtype.type(count), none))
        store_vector(out, 1, found)
        return any_pair(found, none)

    return kernel


@pytest.mark.parametrize(("lanes", "kind"), [(16, np.uint32), (64, np.uint32), (16, np.uint64)])
def test_a_vector_is_sorted(lanes, kind):
    """Of as many items as are wanted; and two equal ones are seen."""
    kernel = _kernel((0,) * lanes).real()
    top = np.iinfo(kind).max
    for count in range(lanes + 1):
        for high in (3, 2 * lanes * lanes, int(top)):
            items = RNG.integers(0, high, lanes + 2, kind, endpoint=True)
            items[1 : 1 + lanes // 2] |= kind(top >> 1) ^ kind(top >> 2)  # the highest bit that halves have
            out = np.full(lanes + 2, 7, kind)
            pair = kernel(items, count, out)
            halves = np.sort(items[1 : 1 + count] >> kind(1))
            assert out[1 : 1 + count].tolist() == halves.tolist()
            assert (out[1 + count : -1] == top).all() and out[0] == out[-1] == 7
            assert pair == (len(set(halves.tolist())) < count)


def test_as_python():
    given = np.array([9, 4, 4, 30], np.uint32)
    assert interpreted.ascending(given).tolist() == [4, 4, 9, 30]
    assert interpreted.halved(given).tolist() == [4, 2, 2, 15]
    assert interpreted.first_lanes(given, 3, 77).tolist() == [9, 4, 4, 77]
    assert interpreted.any_pair(given, np.uint32(9)) and not interpreted.any_pair(given, np.uint32(4))
    for name in ("ascending", "halved", "first_lanes", "any_pair"):
        assert getattr(interpreted, name).__name__ == getattr(vectors, name).__name__
