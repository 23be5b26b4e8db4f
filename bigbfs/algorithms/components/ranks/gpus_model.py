"""What components on one GPU or over several will take, before they are run: work shared, passes that are not, and what
ranks tell one another.

Seconds for each vertex are those of one H200 (docs/results): graphs of 24 to 67 M vertices, plain, most of whose edges
nobody reads. Where there are no heads every row is read, and where edges stay in the file the disk decides: of neither
is anything said.
"""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.algorithms.components.ranks import exchange
from bigbfs.config import DeviceProfile, GpuLinks

BASE = 0.15e-3
"""Seconds of launches, however small the graph."""

BY_DEGREE, ELSE = 25e-12, 108e-12
"""Seconds for each vertex with edges, of a forest: roots are hubs, which lie side by side, or anywhere (R-MAT 26 by
degree 0.97 ms; in its own order 3.3, uniform 7.4, a road of 24 M 2.8)."""

PASSES = 3.5e-12
"""Seconds for each vertex of the graph, whoever owns it, of passes that every GPU makes for itself."""

ROOT = 10e-12
"""The same where vertices are not stored by degree: all point at roots that lie anywhere."""

ONE_PASS, ONE_BASE = 12.5e-12, 0.36e-3
"""Seconds for each vertex with edges where a GPU has all rows of a graph by degree, so that roots are found without a
forest; and, of several such GPUs, of launches and their meeting (R-MAT 26, H200: one 0.566 ms, two 0.571)."""

MEETINGS, MEETING = 8, 40e-6
"""Meetings of GPUs that reach each other's memory, and the seconds of one with launches and waiting."""

MEMORY_RATE, SOFT = 4.3e12, 0.5
"""Bytes per second in device memory where that was measured; the power of the rate with which it goes."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """Seconds of the ``work`` of a GPU and of the ``exchange``; ``bytes`` into a GPU."""

    work: float
    exchange: float
    bytes: float

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.work + self.exchange


def components(
    n: int,
    busy: float,
    id_bytes: int,
    ranks: int,
    profile: DeviceProfile,
    *,
    by_degree: bool,
    call: tuple[float, float] | None = None,
    whole: bool = False,
) -> Predicted:
    """Return what components will take.

    Parameters
    ----------
    n, busy, id_bytes
        Vertices, those with edges, bytes of an id.
    ranks
        GPUs.
    profile
        Rates of the device, and of links.
    by_degree
        Whether vertices are stored by degree.
    call
        Seconds of a call, and its bytes per second, where hosts carry what is told; None: GPUs reach each other's
        memory.
    whole
        Whether each has all rows.
    """
    slower = (MEMORY_RATE / profile.memory_bytes_per_second) ** SOFT
    work = BASE + slower * busy * (BY_DEGREE if by_degree else ELSE) / ranks
    if by_degree and (whole or ranks == 1):
        base = BASE if ranks == 1 else ONE_BASE
        return Predicted(base + slower * busy * ONE_PASS / ranks, 0.0, 0.0)
    if ranks == 1:
        return Predicted(work, 0.0, 0.0)
    work += slower * n * PASSES
    if call is not None:
        moved, seconds = exchange.told(n, ranks, *call)
        return Predicted(work, seconds, moved)
    seconds, moved = MEETINGS * MEETING, 0.0
    if not by_degree:
        work += slower * n * ROOT
        moved = n * id_bytes * (ranks - 1) / ranks
        seconds += moved / (profile.gpus or GpuLinks()).peer_read_bytes_per_second
    return Predicted(work, seconds, moved)
