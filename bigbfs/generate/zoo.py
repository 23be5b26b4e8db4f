"""The zoo: small graphs that are hard in one way each, for tests and for ``bigbfs verify``.

Every graph is made in memory from a few lines of NumPy, with a fixed seed, independently of the reader, the builder
and the generators that the same tests examine. ``zoo`` returns them by name; ``sources`` picks the vertices worth
starting from. ``BIG`` names the graphs that are slow on an emulated GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph

BIG = frozenset({"star", "long-deltas"})
"""Graphs of more than 10^5 vertices."""

Pairs = tuple[Any, ...]
"""Sources and targets of some edges, one direction."""


def zoo(*, big: bool = True) -> dict[str, Graph]:
    """Return the graphs by name; without those in ``BIG`` where ``big`` is False. Takes well under a second."""
    return {name: make() for name, make in _makers() if big or name not in BIG}


def sources(graph: Graph, count: int = 6) -> list[int]:
    """Return up to ``count`` different vertices (internal) to start from.

    The first, the last, the largest hub, an isolated vertex if there is one, then random ones, always the same.
    """
    if graph.n == 0:
        return []
    degrees = graph.degrees()
    chosen = [0, graph.n - 1, int(degrees.argmax())]
    chosen += np.flatnonzero(degrees == 0)[:1].tolist()
    chosen += np.random.default_rng(graph.n).integers(0, graph.n, count).tolist()
    return list(dict.fromkeys(chosen))[:count]


def _once(ascending: np.ndarray) -> np.ndarray:
    """Return each number once; np.unique hashes what is sorted already."""
    return ascending[np.diff(ascending, prepend=~ascending[:1]) != 0]


def build(
    n: int,
    pairs: Pairs,
    *,
    directed: bool = False,
    keep: bool = False,
    ids: type = np.uint32,
    in_rows: bool = True,
    **extra: Any,
) -> Graph:
    """Return the graph of ``n`` vertices and the edges ``pairs`` (arrays of sources and targets).

    Parameters
    ----------
    directed
        Store each edge once; else both ways (a self-loop once).
    keep
        Keep self-loops and duplicates.
    ids
        uint32 or uint64.
    in_rows
        Give a directed graph its in-neighbours.
    **extra
        For :class:`Graph`: ``labels``, ``first_id``.
    """
    u, v = (np.asarray(side).astype(np.uint64) for side in pairs)
    if not directed:
        once = u != v
        u, v = np.concatenate([u, v[once]]), np.concatenate([v, u[once]])
    if not keep:
        u, v = u[u != v], v[u != v]
    forward, backward = np.sort(u * np.uint64(n) + v), np.sort(v * np.uint64(n) + u)
    if not keep:
        forward, backward = _once(forward), _once(backward)
    relabelled = "labels" in extra and bool((np.diff(extra["labels"]) < 0).any())
    flags = GraphFlags(
        directed=directed,
        symmetric=np.array_equal(forward, backward),
        deduplicated=not (forward[1:] == forward[:-1]).any(),
        loops_removed=not (u == v).any(),
        relabelled=relabelled,
    )
    twin = _rows(n, backward, ids) if directed and in_rows else None
    return Graph(_rows(n, forward, ids), flags, in_adjacency=twin, **extra)


def _rows(n: int, keys: np.ndarray, ids: type) -> PlainAdjacency:
    """Return the rows of the ascending ``keys`` (source * n + target)."""
    counts = np.bincount((keys // np.uint64(max(n, 1))).astype(np.int64), minlength=n)
    indptr = np.zeros(n + 1, np.uint64)
    indptr[1:] = np.cumsum(counts)
    return PlainAdjacency(indptr, (keys % np.uint64(max(n, 1))).astype(ids))


def _makers() -> Iterator[tuple[str, Callable[[], Graph]]]:
    """Yield name and maker of every graph, the small shapes first."""
    none = (np.empty(0), np.empty(0))
    yield "empty", lambda: build(0, none)
    yield "one-vertex", lambda: build(1, none)
    yield "one-self-loop", lambda: build(1, ([0], [0]), keep=True)
    yield "one-edge", lambda: build(2, ([0], [1]))
    yield "isolated", lambda: build(70, none)
    yield "path", lambda: build(257, path(257))
    yield "cycle", lambda: build(100, join(path(100), ([99], [0])))
    yield "clique", lambda: build(65, np.nonzero(np.ones((65, 65))))
    yield "bipartite", lambda: build(97, np.nonzero(_block(97, 33)))
    yield "binary-tree", lambda: build(511, (np.arange(1, 511), (np.arange(1, 511) - 1) // 2))
    yield "grid-2d", lambda: build(31 * 33, grid(31, 33))
    yield "grid-3d", lambda: build(7 * 8 * 9, grid(7, 8, 9))
    yield "comb", lambda: build(40 * 25, _comb(40, 25))
    yield "lollipop", lambda: build(150, join(np.nonzero(np.ones((50, 50))), path(150, first=49)))
    yield "star", lambda: build(131_075, star(131_075, hub=70_001))
    yield "two-hubs", lambda: build(3_001, join(star(3_000, hub=5), star(3_001, hub=3_000)))
    for sizes in ((31, 32, 33), (63, 64, 65), (1023, 1024, 1025), (2047, 2048, 2049)):
        yield f"degree-{sizes[1]}", partial(_hubs, sizes)
    for n in (31, 32, 33, 63, 64, 65, 127, 128, 129):
        yield f"vertices-{n}", partial(build, n, random(n, 2 * n, seed=n))
    yield "two-components", lambda: build(300, join(random(150, 400, seed=1), random(150, 300, seed=2, first=150)))
    yield (
        "two-giants",
        lambda: build(2_000, join(random(1_000, 4_000, seed=3), random(1_000, 4_000, seed=3, first=1_000))),
    )
    yield "tiny-components", lambda: build(999, (np.arange(999), np.arange(999) // 3 * 3))
    yield "late-isolated", lambda: build(200, random(90, 300, seed=4))
    yield "early-isolated", lambda: build(200, random(90, 300, seed=4, first=110))
    yield "full-last-row", lambda: build(1_100, join(star(1_100, hub=1_099), path(40)))
    yield "long-deltas", lambda: build(200_003, join(_sparse_hub(200_003, 131), path(64, first=40)))
    yield "random", lambda: build(1_000, random(1_000, 5_000, seed=5))
    yield "random-sparse", lambda: build(1_500, random(1_500, 800, seed=6))
    yield "kronecker", lambda: build(1_024, _kronecker(10, 8, seed=7))
    yield "kronecker-dense", lambda: build(512, _kronecker(9, 40, seed=8))
    yield from _unusual_makers()


def _unusual_makers() -> Iterator[tuple[str, Callable[[], Graph]]]:
    """Yield the graphs with loops, duplicates, wide ids, names of their own, or one-way edges."""
    multi = join(random(120, 2_500, seed=9), ([3] * 1_500, [77] * 1_500))
    loops = join(random(200, 400, seed=10), (np.arange(200), np.arange(200)))
    forward = random(700, 2_500, seed=13)
    ascending = tuple(np.sort(np.stack(forward), axis=0))
    yield "duplicates-kept", lambda: build(120, multi, keep=True)
    yield "self-loops-kept", lambda: build(200, loops, keep=True)
    yield "wide-ids", lambda: build(1_000, random(1_000, 5_000, seed=5), ids=np.uint64)
    yield "wide-ids-hub", lambda: build(2_500, join(star(2_500, hub=1_200), path(300)), ids=np.uint64)
    yield "sparse-labels", lambda: build(300, random(300, 900, seed=11), labels=_gaps(300))
    yield "relabelled", lambda: build(300, random(300, 900, seed=12), labels=_gaps(300)[::-1].copy())
    yield "first-id-1", lambda: build(300, random(300, 500, seed=14), first_id=1)
    yield "directed-in-rows", lambda: build(700, forward, directed=True)
    yield "directed-out-only", lambda: build(700, forward, directed=True, in_rows=False)
    yield "directed-symmetric", lambda: build(700, join(forward, forward[::-1]), directed=True)
    yield "directed-cycle", lambda: build(90, join(path(90), ([89], [0])), directed=True)
    # bottom-up trap: back edges skip many levels, so an in-neighbour of any level may be met first
    yield "directed-back-edges", lambda: build(400, join(path(400), _back(400)), directed=True)
    yield "dag", lambda: build(700, ascending, directed=True)
    yield "directed-star-in", lambda: build(1_300, star(1_300, hub=600)[::-1], directed=True)
    yield "directed-multi", lambda: build(120, multi, directed=True, keep=True)
    yield "directed-wide-ids", lambda: build(700, forward, directed=True, ids=np.uint64)


# --- shapes: each returns sources and targets, one direction ----------------------------------------------------


def join(*parts: Any) -> Pairs:
    """Return the edges of all ``parts``."""
    sides = [np.concatenate([np.asarray(part[side], np.int64) for part in parts]) for side in (0, 1)]
    return sides[0], sides[1]


def path(stop: int, *, first: int = 0) -> Pairs:
    """Return the path first, first + 1, ..., stop - 1."""
    return np.arange(first, stop - 1), np.arange(first + 1, stop)


def star(n: int, *, hub: int) -> Pairs:
    """Return the edges from ``hub`` to every other of ``n`` vertices."""
    leaves = np.delete(np.arange(n), hub)
    return np.full(n - 1, hub), leaves


def random(n: int, edges: int, *, seed: int, first: int = 0) -> Pairs:
    """Return ``edges`` uniformly random pairs of the vertices first..first + n - 1."""
    pairs = np.random.default_rng(seed).integers(first, first + n, (2, edges))
    return pairs[0], pairs[1]


def grid(*shape: int) -> Pairs:
    """Return the edges between neighbours of a grid of any dimension."""
    number = np.arange(np.prod(shape)).reshape(shape)
    ends = [(np.delete(number, -1, axis).ravel(), np.delete(number, 0, axis).ravel()) for axis in range(len(shape))]
    return join(*ends)


def _comb(teeth: int, length: int) -> Pairs:
    """Return a path of ``teeth`` vertices, each the head of a path of ``length`` vertices."""
    number = np.arange(teeth * length).reshape(teeth, length)
    along = (number[:, :-1].ravel(), number[:, 1:].ravel())
    return join(along, (number[:-1, 0], number[1:, 0]))


def _block(n: int, left: int) -> np.ndarray:
    matrix = np.zeros((n, n), bool)
    matrix[:left, left:] = True
    return matrix


def _hubs(sizes: tuple[int, ...]) -> Graph:
    """Return one hub for each of ``sizes`` with exactly that degree; they share a leaf, and no other.

    Nothing else leads to the leaves of a hub: whoever loses its row, or an end of it, loses vertices.
    """
    shared = len(sizes)
    own = np.split(np.arange(shared + 1, shared + 1 + sum(sizes) - len(sizes)), np.cumsum(np.array(sizes) - 1)[:-1])
    parts = [(np.full(size, hub), np.append(own[hub], shared)) for hub, size in enumerate(sizes)]
    return build(shared + 1 + sum(sizes) - len(sizes), join(*parts))


def _sparse_hub(n: int, step: int) -> Pairs:
    """Return a hub in the middle joined to the last vertex and to every ``step``-th: gaps of two bytes and more."""
    leaves = np.append(np.arange(0, n - 1, step), n - 1)
    return np.full(len(leaves), n // 2), leaves


def _back(n: int) -> Pairs:
    late = np.arange(n // 2, n)
    return late, late * 7 % (n // 3)


def _gaps(n: int) -> np.ndarray:
    """Return ``n`` ascending ids with gaps, the last ones beyond 32 bits."""
    labels = np.cumsum(np.arange(n, dtype=np.int64) % 7 + 1)
    labels[n // 2 :] += 5_000_000_000
    return labels


def _kronecker(scale: int, edge_factor: int, *, seed: int) -> Pairs:
    """Return R-MAT edges with the Graph500 probabilities 0.57, 0.19, 0.19, 0.05, vertices shuffled."""
    rng = np.random.default_rng(seed)
    quadrant = rng.choice(4, size=(scale, edge_factor << scale), p=[0.57, 0.19, 0.19, 0.05])
    weight = (1 << np.arange(scale))[:, None]
    shuffle = rng.permutation(1 << scale)
    return shuffle[((quadrant >> 1) * weight).sum(axis=0)], shuffle[((quadrant & 1) * weight).sum(axis=0)]
