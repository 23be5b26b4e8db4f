"""What ranks and the links between them can do, measured by all of them together: a second or two.

A call is a sum of a few numbers; a long one is a gather of some MiB from each. Searches are those of one rank that has
a small Kronecker graph for itself, while the others do the same: they share the machine's memory as in a real run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

import numpy as np

from bigbfs import generate
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.config import RankRates
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.threads import alone

CALLS, LONG_CALLS = 200, 9
LONG_BYTES = 2**22
"""Of each rank; so much at least comes into one."""

SCALE = 18
"""Of the graph searched: its vertices' state is larger than the cache of a core."""

SOURCES, TRIALS = 7, 3


def measure(group: Group, before: RankRates, scale: int = SCALE) -> RankRates:
    """Return ``before`` with what was measured now: ranks of one machine say nothing of the link between several."""
    call = best(group, CALLS, lambda: group.sum([1, 2, 3, 4]))
    mine = np.zeros(LONG_BYTES, np.uint8)
    counts = [LONG_BYTES] * group.size
    long = best(group, LONG_CALLS, lambda: group.gather(mine, counts))
    rate = (group.size - 1) * LONG_BYTES / max(long, 1e-9)
    searched = max(group.objects(_vertex_seconds(scale)))
    found = replace(
        before, name="ranks of " + ", ".join(dict.fromkeys(group.hosts)), ranks=group.size,
        hosts=len(set(group.machines)), vertex_seconds=searched,
    )  # fmt: skip
    if group.size == 1:
        return found
    if group.one_host:
        return replace(found, call_seconds=call, bytes_per_second=rate)
    # what a machine's ranks receive shares its link: the rate is that of the machine
    return replace(found, host_call_seconds=call, host_bytes_per_second=rate * group.host_size)


def best(group: Group, count: int, work: Callable[[], object]) -> float:
    """Return the seconds of ``work`` at best, of the rank that took longest: others wait for a core now and then."""
    group.barrier()
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return float(max(group.objects(min(taken))))


def _vertex_seconds(scale: int) -> float:
    """Return what a search by one thread takes for each vertex with edges."""
    graph = generate.graph("kronecker", scale=scale, seed=1)
    degrees = graph.degrees()
    busy = np.flatnonzero(degrees)
    sources = busy[np.linspace(0, len(busy) - 1, SOURCES).astype(np.int64)]
    with RankedEngine(graph, group=alone(), threads=1) as engine:
        taken = [
            [engine.run(BfsOptions(int(source), fetch=False)).record.seconds for _ in range(TRIALS)]
            for source in sources
        ]
    return float(median(min(each) for each in taken)) / max(1, len(busy))
