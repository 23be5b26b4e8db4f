"""What ranks tell one another of components, before one is started: bits of own vertices, whatever the diameter.

The same of ranks on CPUs that send messages and of GPUs whose hosts carry what is told. Pairs come on top, a few where
one component holds nearly all: of Kronecker graphs of scale 16 to 20 at most some hundred a rank. Of what lies outside
the largest component, and along long paths, they are as many as the vertices that ranks see of one another.
"""

from __future__ import annotations

CALLS = 5
"""Calls that move something: bits, how many pairs, pairs, how many names, names."""


def told(n: int, ranks: int, call: float, bytes_per_second: float) -> tuple[float, float]:
    """Return the bytes of bits into a rank, and the seconds of the exchange.

    Parameters
    ----------
    n, ranks
        Vertices, and among how many ranks they are shared.
    call, bytes_per_second
        Seconds of a call however small, and the rate into a rank.
    """
    if ranks == 1:
        return 0.0, 0.0
    moved = n / 8 * (ranks - 1) / ranks
    return moved, CALLS * call + moved / bytes_per_second
