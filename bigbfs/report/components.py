"""The sizes of components as a histogram of powers of two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class SizeClass:
    """``components`` of ``smallest`` to ``largest`` vertices each (2^k to 2^(k+1) - 1), ``vertices`` in all."""

    smallest: int
    largest: int
    components: int
    vertices: int


def size_histogram(labels: np.ndarray) -> list[SizeClass]:
    """Return the classes that occur, smallest sizes first.

    Parameters
    ----------
    labels
        int64, one per vertex: any vertex of its component, the same for all of it.
    """
    sizes = np.bincount(labels) if len(labels) else np.zeros(0, np.int64)
    sizes = sizes[sizes > 0]
    # frexp is exact for whole numbers below 2^53: the exponent is the number of bits
    bits = np.frexp(sizes.astype(np.float64))[1]
    counts = np.bincount(bits)
    vertices = np.bincount(bits, weights=sizes)
    return [
        SizeClass(1 << (int(bit) - 1), (1 << int(bit)) - 1, int(counts[bit]), int(vertices[bit]))
        for bit in np.flatnonzero(counts)
    ]
