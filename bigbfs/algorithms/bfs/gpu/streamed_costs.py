"""What reading rows from the file is predicted to cost, in seconds: the constants behind the direction of a level.

Only their proportions matter: a file in the page cache, read by sixteen threads, gives some 20 GB/s, and a call of
``pread`` takes 1 us of one thread.
"""

from __future__ import annotations

SECONDS_PER_BYTE = 1 / 20e9
SECONDS_PER_ROW = 1e-6 / 16

SECONDS_PER_VERTEX = 30e-12
"""Of looking at the heads of every unvisited vertex."""

SWEEP_SECONDS = 200e-6
"""Of what comes with such a sweep: launches, and counters that the host waits for."""


def read_seconds(rows: int, wanted_bytes: int, all_bytes: int) -> float:
    """Return the seconds that reading ``rows`` rows of ``wanted_bytes`` takes: never more than reading
    ``all_bytes``."""
    return min(wanted_bytes * SECONDS_PER_BYTE + rows * SECONDS_PER_ROW, all_bytes * SECONDS_PER_BYTE)


def sweep_seconds(n: int) -> float:
    """Return the seconds of a sweep over the heads of ``n`` vertices."""
    return SWEEP_SECONDS + n * SECONDS_PER_VERTEX
