"""Bytes that ranks take beside the graph, summed over those of a machine, and refusing what would not fit there.

A rank keeps state of its own vertices, and bitmaps and a few bytes for each vertex of all: ranks of one machine each
have these for themselves. Rank 0 receives the result of all. The pages of the graph file, which ranks of a machine
share, do not count, and neither do names of components outside the largest, whose number nobody knows before.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.memory import BIT
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DoesNotFitError
from bigbfs.sizes import counted, free_memory, size_allowed, size_needed

BITMAPS = 5
"""Of all vertices, a search has: what is set aside, the start, what is visited, and those of an exchange twice."""


CLAIMS = 2**17
"""Claims that a thread writes down before they are settled, at most half of what it has room for."""


def survey_bytes(n: int, mine: int, ids: np.dtype) -> int:
    """Return the bytes of a survey of ``mine`` of ``n`` vertices: heads of these, a byte and a bit for all."""
    return memory.survey_bytes(mine, ids) + int(n * (1 + BIT))


def search_bytes(n: int, mine: int, ids: np.dtype, group: Group) -> int:
    """Return the bytes of a search's state; the first rank of a machine counts the memory that all of it see."""
    window = window_bytes(n) if group.size > 1 and group.host_rank == 0 else 0
    return state_bytes(n, mine, ids) + window


def state_bytes(n: int, mine: int, ids: np.dtype) -> int:
    """Return the bytes of a search's state on one rank."""
    return memory.search_bytes(mine, ids) + int(BITMAPS * n * BIT)


def common_bytes(n: int, ids: np.dtype, *, first: bool) -> int:
    """Return the bytes of a search's state that ranks of one machine share: its first rank counts it."""
    kept = int(n * BIT)
    return kept + (memory.search_bytes(n, ids) if first else 0)


def common_survey_bytes(n: int, ids: np.dtype, *, first: bool) -> int:
    """Return the bytes of a survey that ranks of one machine share, which its first counts, and of a byte a vertex."""
    return n + (memory.survey_bytes(n, ids) if first else 0)


def common_forest_bytes(n: int, ids: np.dtype, *, first: bool) -> int:
    """Return the bytes of the forest that ranks of one machine share: its first rank counts it."""
    return 2 * (n + 64) * ids.itemsize if first else 0


def window_bytes(n: int) -> int:
    """Return the bytes of the two bitmaps that ranks of a machine share."""
    return int(2 * n * BIT)


def buffer_bytes(threads: int, ids: np.dtype) -> int:
    """Return the bytes in which the threads of a rank claim vertices, whatever the graph."""
    return threads * 2 * 2 * CLAIMS * ids.itemsize


def tree_bytes(n: int, mine: int, ids: np.dtype, *, first: bool, levels: bool, parents: bool) -> int:
    """Return the bytes of fetching a BFS result: what is sent, and on the ``first`` rank all that comes and is made.

    Arrays come one after the other: at its widest, parents as received, put in order, and as int64 with a mask.
    """
    if not first:
        return mine * max(4 * levels, ids.itemsize * parents)
    return n * (4 * levels + max(4 * levels, (ids.itemsize + max(ids.itemsize, 9)) * parents))


def forest_bytes(n: int, mine: int, ids: np.dtype) -> int:
    """Return the bytes of the state of components, with six bitmaps.

    Trees and labels are of all vertices; of others, and of their roots, it keeps at most as many as own ones.
    """
    return (2 * n + 2 * mine) * ids.itemsize + int(6 * n * BIT)


def labels_bytes(n: int, mine: int, ids: np.dtype, *, first: bool) -> int:
    """Return the bytes of fetching labels; on the ``first`` rank they are counted as int64 too."""
    return n * (2 * ids.itemsize + 16) if first else mine * ids.itemsize


def require(group: Group, need: int, n: int, advice: str) -> None:
    """Refuse work on ``n`` vertices of which this rank takes ``need`` bytes; all ranks make this call together.

    Raises
    ------
    DoesNotFitError
        On every rank: names the machine on which there is less than its ranks take, with both figures and ``advice``.
    """
    told = group.objects((need, free_memory()))
    for first in sorted(set(group.machines)):
        there = [rank for rank in range(group.size) if group.machines[rank] == first]
        total, free = sum(told[rank][0] for rank in there), min(told[rank][1] for rank in there)
        if total > free:
            raise DoesNotFitError(
                f"{n:,} vertices take {size_needed(total)} of memory on host {group.hosts[first]}, for "
                f"{counted(len(there), 'rank')} beside the graph, and {size_allowed(free)} are free; {advice}"
            )
