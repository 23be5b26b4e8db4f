"""What reading rows from the file is predicted to cost, in seconds: the constants behind the direction of a level.

Only their proportions matter, and they are those of a file in the page cache, read by sixteen threads: some 20 GB/s on
the way to the device, and for a row that is copied from the mapping 130 to 240 ns of one thread (one H100, 32 cores;
docs/notebook/start-and-stream.md).
"""

from __future__ import annotations

SECONDS_PER_BYTE = 1 / 20e9
SECONDS_PER_ROW = 12e-9

SECONDS_PER_GROUP = 15e-12
"""Of looking at a group of heads, for each vertex of the graph: 30 ps where nobody finds a parent, 7 on R-MAT 26."""

SWEEP_SECONDS = 200e-6
"""Of what comes with such a sweep: launches, and counters that the host waits for."""


def read_seconds(rows: int, wanted_bytes: int, all_bytes: int) -> float:
    """Return the seconds that reading ``rows`` rows of ``wanted_bytes`` takes: never more than reading
    ``all_bytes``."""
    return min(wanted_bytes * SECONDS_PER_BYTE + rows * SECONDS_PER_ROW, all_bytes * SECONDS_PER_BYTE)


def sweep_seconds(n: int, groups: int) -> float:
    """Return the seconds of a sweep over so many groups of heads of ``n`` vertices."""
    return SWEEP_SECONDS + n * max(1, groups) * SECONDS_PER_GROUP
