"""Where a search leaves its tree on the device: levels and parents, made when they are first wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import LEVELS, PARENTS
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.level_records import LevelRecords
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.placement.hot import by_degree
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.graph.adjacency import CompressedAdjacency
from bigbfs.graph.graph import Graph

SPECS = {"levels": LEVELS, "parents": PARENTS}

NEVER = 2**63
"""A threshold that nothing reaches."""

LOCAL_IDS = 8
"""Longest row of local levels that are read from heads alone, as local_rows.cuh says."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run measured (as in ``RunRecord``); ``slots``: the device's own records of its last levels; ``traffic``:
    what each level read from the file, where rows are streamed; ``launches``, ``reads``: the host's, on the clock."""

    reached: int
    depth: int
    edges: int
    seconds: float
    level_records: LevelRecords
    invalid_ids: int
    slots: np.ndarray
    traffic: tuple[Any, ...] = ()
    launches: int | None = None
    reads: int | None = None


class TreeArrays:
    """Levels and parents of the last search, in memory that other programs may use between two searches.

    Parameters
    ----------
    placed
        The graph.
    """

    def __init__(self, placed: PlacedGraph) -> None:
        self._placed = placed
        self._runtime = placed.runtime
        self.n, self.ids = placed.n, placed.ids
        self._lent: dict[str, Array] = {}
        self._right: set[str] = set()

    def borrow(self, spec: ArraySpec) -> Array:
        """Return the array of ``spec``; what it holds is anybody's."""
        return self._placed.pool.lend(spec, self)[0]

    def take(self, name: str) -> bool:
        """Get ``"levels"`` or ``"parents"``; return whether they are as the last search left them."""
        self._lent[name], untouched = self._placed.pool.lend(SPECS[name], self)
        return untouched and name in self._right

    def spoil(self, *names: str) -> None:
        """Say that a search begins, which an interrupt may end half-way."""
        self._right -= set(names)

    def keep(self, *names: str) -> None:
        """Say that a search is over."""
        self._right |= set(names)

    def array(self, name: str) -> Array:
        """Return the device's ``"levels"`` (int32) or ``"parents"`` (id), taken before."""
        return self._lent[name]

    def levels(self) -> np.ndarray:
        """Copy the levels of the last run that wanted them to host memory: int32, shape (n,), -1 unreached."""
        return self._runtime.download(self._lent["levels"])

    def parents(self) -> np.ndarray:
        """Copy the parents of the last run that wanted them: id, shape (n,), all bits set where there is none."""
        return self._runtime.download(self._lent["parents"])


def row_length(graph: Graph, vertex: int) -> int:
    """Return the degree of ``vertex`` without counting those of others."""
    rows = graph.adjacency
    if isinstance(rows, CompressedAdjacency):
        return int(rows.degree[vertex])
    return int(rows.indptr[vertex + 1]) - int(rows.indptr[vertex])


def wanted_names(want_levels: bool, want_parents: bool) -> tuple[str, ...]:
    """Return the names of the arrays that are wanted."""
    return (*(["levels"] if want_levels else []), *(["parents"] if want_parents else []))


def wide_from(placed: PlacedGraph, tuning: Tuning) -> int:
    """Return the edges of the smallest top-down level that may be wide (wide.cuh), which the strategy must allow.

    By degree the long rows are hot, those of a mapped graph too, and their ends near each other: narrow levels are
    a fifth quicker then (Kronecker 26, a level of 170 M edges: 3.3 ms, wide 4.0), and bottom-up twice.
    """
    near = placed.residency == "mapped" and by_degree(placed.graph)
    if placed.graph.codec != "plain" or not tuning.wide or near:
        return NEVER
    return placed.n // tuning.wide


def local_rows(placed: PlacedGraph, tuning: Tuning) -> int:
    """Return which rows levels may have that are local (local.cuh): 0 none, 1 those in heads, 2 longer ones, too.

    Longer ones are read by a few lanes, for which the link is too far (random geometric: 16.8 ms, so read 19.3). So of
    mapped graphs only those that have as many heads as hold nearly all rows.
    """
    held = placed.residency == "mapped" and placed.out.held_to > LOCAL_IDS
    return tuning.local * (2 if (held or placed.residency == "vram") and placed.graph.codec == "plain" else 1)


def held(out: PlacedAdjacency, mapped: bool) -> dict[str, int]:
    """Return which rows top-down reads from the head table of ``out`` because they are ``mapped``."""
    if not mapped:
        return {"held_to": 0, "far_rows": 1024}
    return {"held_to": out.held_to, "far_rows": round(1024 * (1 - out.held_share))}
