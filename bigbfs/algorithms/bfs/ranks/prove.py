"""Graph500's rules proved by ranks: each proves the vertices and edges of its own rows, knowing the levels of all.

Levels travel as one byte each, as four where the tree is deeper than 254. That a tree edge is an edge of the graph is
looked up in the vertex's own in-row. A directed graph without in-rows has it in the parent's row alone, on another
rank: there parents travel too, and a bit comes back for each vertex whose tree edge was met.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.ranks.common import CommonSearch
from bigbfs.algorithms.bfs.ranks.search import RankSearch
from bigbfs.algorithms.rules import fail, name_of
from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_of
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.engines.ranks.numbering import global_vertex, whole
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit

DEEPEST_BYTE = 254
"""Levels up to this fit a byte; the value above stands for "unreached"."""


def prove(graph: Graph, search: RankSearch | CommonSearch, source: int, depth: int, limit: int) -> None:
    """Prove the tree of the last search from ``source``, of ``depth`` levels; it was to stop at level ``limit``.

    Raises
    ------
    VerificationError
        On every rank: names a rank, its rule, and the vertex or edge that breaks it.
    """
    said = None
    try:
        _prove(graph, search, source, depth, limit)
    except VerificationError as error:
        said = str(error)
    for rank, each in enumerate(search.group.objects(said)):
        if each is not None:
            raise VerificationError(f"rank {rank} (host {search.group.hosts[rank]}): {each}", names_ranks=True)


def _prove(graph: Graph, search: RankSearch | CommonSearch, source: int, depth: int, limit: int) -> None:
    group, own, part, n = search.group, search.own, search.part, search.n
    deep = depth > DEEPEST_BYTE
    own_levels = own.levels if deep else own.levels.astype(np.uint8)  # -1 becomes 255
    owns = [search.partition.own(rank) for rank in range(group.size)]
    counts = [64 * count for count in search.partition.counts()]
    gathered = whole(group.gather(own_levels, counts), owns, n)
    levels = gathered.astype(np.int32)
    if not deep:
        levels[gathered == 255] = -1
    joined, above = np.empty(0, np.uint64), np.empty(0, own.parents.dtype)
    if search.proof_rows is None:
        above = whole(group.gather(own.parents, counts), owns, n)
        joined = np.zeros(search.partition.words, np.uint64)
        mark_joined(search.out_rows, part, levels, above, joined)
        met = group.exchange([np.ascontiguousarray(joined[each]).view(np.uint8) for each in owns])
        joined = np.bitwise_or.reduce([each.view(np.uint64) for each in met])
    place = int(own_vertices(part, own.levels, own.parents, levels, source, search.nobody, limit))
    if place >= 0:
        vertex, parent = int(global_vertex(part, np.uint64(place))), int(own.parents[place])
        _explain_vertex(graph, source, vertex, int(own.levels[place]), parent, levels, limit)
    u, v = own_edges(search.out_rows, part, levels, limit)
    if int(u) < n:
        if int(v) >= n:
            fail("an edge leads to a vertex", f"the row of vertex {name_of(graph, int(u))} holds {v}, of {n} vertices")
        edge = f"edge {name_of(graph, int(u))} -> {name_of(graph, int(v))} leads from level {levels[u]}"
        if levels[v] < 0:
            fail("what an edge leads to from a reached vertex is reached", f"{edge} to an unreached vertex")
        fail("an edge leads down one level at most", f"{edge} to level {levels[v]}")
    if search.proof_rows is not None:
        lonely = int(own_tree_edges(search.proof_rows, part, own.levels, own.parents))
    else:
        places = np.arange(len(own.levels), dtype=np.uint64)
        bits = (joined[places >> SHIFT] >> (places & np.uint64(63))) & ONE
        found = np.flatnonzero((bits == 0) & (own.levels > 0))
        lonely = int(found[0]) if len(found) else -1
    if lonely >= 0:
        vertex, parent = int(global_vertex(part, np.uint64(lonely))), int(own.parents[lonely])
        here = f"vertex {name_of(graph, vertex)} (level {own.levels[lonely]})"
        said = name_of(graph, parent)
        fail("a tree edge is an edge of the graph", f"{here} has parent {said}, but there is no edge {said} -> it")


def _explain_vertex(
    graph: Graph, source: int, vertex: int, level: int, parent: int, levels: np.ndarray, limit: int
) -> None:
    """Raise the error that says which rule of the tree ``vertex`` breaks."""
    here = f"vertex {name_of(graph, vertex)} has level {level}"
    if vertex == source:
        fail("the source has level 0 and no parent", f"source {name_of(graph, vertex)}: level {level}, parent {parent}")
    if level < -1 or level > limit:
        fail(f"levels run from -1 to {limit}", here)
    if level == 0:
        fail("only the source has level 0", here)
    if not 0 <= parent < graph.n:
        fail("a vertex has a parent if it has a level", f"{here} and no parent")
    if level == -1:
        fail("a vertex has a parent if it has a level", f"{here} and parent {name_of(graph, parent)}")
    fail(
        "a parent is one level up", f"{here} and parent {name_of(graph, parent)}, which has level {int(levels[parent])}"
    )


@njit(nogil=True, cache=True)
def own_vertices(part, own_levels, own_parents, levels, source, nobody, limit):
    """Return the local number of an own vertex whose level and parent belong to no tree from ``source``, or -1."""
    for local in range(np.uint64(len(own_levels))):
        v = global_vertex(part, local)
        if v >= part.n:
            continue
        level, parent = np.int64(own_levels[local]), own_parents[local]
        if v == np.uint64(source):
            right = level == 0 and parent == nobody
        elif level == -1:
            right = parent == nobody
        else:
            above = np.uint64(parent)
            right = 0 < level <= limit and above < part.n and np.int64(levels[above]) == level - 1
        if not right:
            return np.int64(local)
    return np.int64(-1)


@njit(nogil=True, cache=True)
def own_edges(rows, part, levels, limit):
    """Return the ends of an edge of own rows that leads too far down; n and n where there is none."""
    for i in range(part.words):
        for b in range(np.uint64(64)):
            u = ((part.first + i * part.stride) << SHIFT) + b
            if u >= part.n or levels[u] < 0:
                continue
            level = np.int64(levels[u])
            position = seek(rows, u, ZERO)
            v = ZERO
            for k in range(degree(rows, u)):
                v, position = step(rows, position, k, v)
                if v >= part.n:
                    return u, v
                below = np.int64(levels[v])
                if below > level + 1 or (below < 0 and level < limit):
                    return u, v
    return part.n, part.n


@njit(nogil=True, cache=True)
def own_tree_edges(rows, part, own_levels, own_parents):
    """Return the local number of an own vertex whose in-row, of ``rows``, lacks its parent; -1 where there is none."""
    for local in range(np.uint64(len(own_levels))):
        if own_levels[local] <= 0:
            continue
        u, parent = global_vertex(part, local), np.uint64(own_parents[local])
        position = seek(rows, u, ZERO)
        v, met = ZERO, False
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            if v == parent:
                met = True
                break
        if not met:
            return np.int64(local)
    return np.int64(-1)


@njit(nogil=True, cache=True)
def mark_joined(rows, part, levels, parents, joined):
    """Set the bit in ``joined`` of every vertex whose parent is own and has it in its row."""
    for i in range(part.words):
        for b in range(np.uint64(64)):
            u = ((part.first + i * part.stride) << SHIFT) + b
            if u >= part.n or levels[u] < 0:
                continue
            position = seek(rows, u, ZERO)
            v = ZERO
            for k in range(degree(rows, u)):
                v, position = step(rows, position, k, v)
                if v < part.n and levels[v] > 0 and np.uint64(parents[v]) == u:
                    joined[v >> SHIFT] |= bit_of(v)
