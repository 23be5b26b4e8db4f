"""What overlapping work and exchange gives a BFS over GPUs of several machines, by the model of bfs/gpu/hosts.

    python tools/overlap_model.py rmat 17 26 vram
    python tools/overlap_model.py uniform 16 26 mapped
    python tools/overlap_model.py rmat 16 26 mapped --top-down

A graph of a small scale is searched; what its levels count is scaled up to the larger one, and each level is priced as
the search prices it: rows, heads, claims, bits, calls. R-MAT graphs are stored by degree. Nothing is run on a GPU.
Uniform graphs keep their shape where both scales are apart by a multiple of five (their degree is 2^5).

Printed for each number of GPUs, one to a machine, and each link: the milliseconds of a search with nothing overlapped;
how much less it is if heads are searched with a rank's own bits while those of others travel; and if top-down levels go
in parts, the claims of one travelling while the rows of the next are read.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from bigbfs import generate
from bigbfs.algorithms.bfs.gpu.costs import costs
from bigbfs.algorithms.bfs.gpu.hosts.costs import (
    MOST_PARTS,
    NCCL_BETWEEN,
    PICO,
    Model,
    choose,
    link_of,
    rows_seconds,
    saved_seconds,
)
from bigbfs.algorithms.bfs.ranks.costs import OTHER_HOST, Choice, Forced, Frontier, Link
from bigbfs.graph.adjacency import PlainAdjacency

HEADS = 8
LINKS = {"nccl, 20 GB/s": NCCL_BETWEEN, "mpi, 10 GB/s": Link(60e-6, 10e9), "mpi, 1.9 GB/s": link_of("mpi", False)}


@dataclass(frozen=True)
class Small:
    """The small graph: where rows begin, their ids, the heads of each vertex (-1: none)."""

    indptr: np.ndarray
    indices: np.ndarray
    heads: np.ndarray

    @property
    def degrees(self) -> np.ndarray:
        """Edges of each row."""
        return np.diff(self.indptr)

    def levels(self, source: int) -> np.ndarray:
        """Return the level of each vertex, -1 where it is not reached."""
        rows = np.repeat(np.arange(len(self.degrees)), self.degrees)
        found = np.full(len(self.degrees), -1)
        found[source], depth = 0, 0
        while (found == depth).any():
            ends = self.indices[found[rows] == depth]
            depth += 1
            found[ends[found[ends] < 0]] = depth
        return found


def small(kind: str, scale: int) -> Small:
    """Make a graph; R-MAT by degree."""
    graph = generate.graph(kind, scale=scale, edge_factor=16, seed=1)
    plain = graph.adjacency
    assert isinstance(plain, PlainAdjacency)
    n, degrees, ends = graph.n, np.asarray(graph.degrees()), np.asarray(plain.indices)
    ids = np.arange(n)
    if kind != "uniform":
        ids[np.argsort(-degrees, kind="stable")] = np.arange(n)
    keys = np.sort(ids[np.repeat(np.arange(n), degrees)] * n + ids[ends])
    rows, indices = keys // n, keys % n
    degrees = np.bincount(rows, minlength=n)
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    strongest = indices[np.lexsort((-degrees[indices], rows))]
    heads = np.full((n, HEADS), -1)
    for place in range(HEADS):
        has = degrees > place
        heads[has, place] = strongest[indptr[:-1][has] + place]
    return Small(indptr, indices, heads)


@dataclass(frozen=True)
class Search:
    """A search of a small graph, with the graph that it stands for."""

    graph: Small
    levels: np.ndarray
    times: float
    model: Model

    def frontier(self, depth: int, before: Frontier | None, told: bool) -> Frontier:
        """Return what all ranks know before the level that expands ``depth``."""
        here = self.levels == depth
        vertices, edges = int(here.sum() * self.times), int(self.graph.degrees[here].sum() * self.times)
        if before is None:
            reached = int((self.graph.degrees > 0).sum() * self.times)
            return Frontier(0, 1, int(edges / self.times), reached - 1, self.model.m, 0, 0)
        stale, stale_edges = (0, 0) if told else (before.stale, before.stale_edges)
        left = max(0, before.unvisited - vertices), max(0, before.unexplored - edges)
        return Frontier(depth, vertices, edges, *left, stale + vertices, stale_edges + edges)

    def upward(self, depth: int, choice: Choice, frontier: Frontier) -> tuple[float, float, int]:
        """Return the seconds of a bottom-up level, what own bits first would save, and who is left to rows."""
        model, levels, owner = self.model, self.levels, (np.arange(len(self.levels)) >> 6) % self.model.ranks
        todo = ((levels < 0) | (levels > depth)) & (self.graph.degrees > 0)
        hit = (levels[self.graph.heads] == depth) & (self.graph.heads >= 0)
        own = (hit & (owner[self.graph.heads] == owner[:, None])).any(1) & todo
        left = int((todo & ~hit.any(1) & (self.graph.degrees > HEADS)).sum() * self.times)
        heads = PICO * frontier.unvisited * model.unit.vertex / model.ranks
        rows = PICO * (2 * left * model.unit.line / model.ranks + model.unit.sweep)
        told = 0.0 if choice.sync is None else model.told(choice.sync, frontier.vertices)
        saved = own.sum() / max(1, todo.sum()) * min(max(0.0, told - model.link.call), heads)
        return heads + rows + told + model.control.call, saved, left

    def downward(self, depth: int, choice: Choice, frontier: Frontier) -> tuple[float, float]:
        """Return the seconds of a top-down level, and what parts would save."""
        model, levels, degrees = self.model, self.levels, self.graph.degrees
        owner = (np.arange(len(levels)) >> 6) % model.ranks
        most = 0
        for rank in range(model.ranks):
            ends = np.unique(self.graph.indices[np.repeat((levels == depth) & (owner == rank), degrees)])
            ends = ends[owner[ends] != rank]
            told = choice.sync is not None or frontier.stale == 0
            most = max(most, int((levels[ends] > depth).sum()) if told else len(ends))
        claims = 2 * model.id_bytes * most * self.times / model.link.bytes_per_second
        rows, calls = rows_seconds(model, frontier), 2 * model.control.call + model.link.call
        bits = 0.0 if choice.sync is None else model.told("bitmap", 0)
        saved = max(saved_seconds(model, rows, claims, parts) for parts in range(1, MOST_PARTS + 1))
        return rows + claims + calls + bits, saved

    def seconds(self, down: bool) -> np.ndarray:
        """Return the seconds of the search, and what each way to overlap would save."""
        total, missed, before, told = np.zeros(3), None, None, False
        forced = Forced(up=(False,) if down else None)
        for depth in range(int(self.levels.max()) + 1):
            frontier = before = self.frontier(depth, before, told)
            choice = choose(self.model, frontier, forced, pulls=True, missed=missed)
            told = not choice.up and choice.sync is not None
            if choice.up:
                spent, saved, missed = self.upward(depth, choice, frontier)
                total += (spent, saved, 0)
            else:
                missed = None
                spent, saved = self.downward(depth, choice, frontier)
                total += (spent, 0, saved)
        return total


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=("rmat", "kronecker", "uniform"))
    parser.add_argument("scale", type=int, help="of the graph that is searched")
    parser.add_argument("target", type=int, help="of the graph that it stands for")
    parser.add_argument("residency", choices=("vram", "mapped"))
    parser.add_argument("--top-down", action="store_true", help="no level goes bottom-up")
    asked = parser.parse_args()
    graph = small(asked.kind, asked.scale)
    n, times = 1 << asked.target, 2.0 ** (asked.target - asked.scale)
    sources = np.random.default_rng(3).choice(np.flatnonzero(graph.degrees), 4, replace=False)
    levels = [graph.levels(int(source)) for source in sources]
    for ranks in (2, 4, 8):
        for name, link in LINKS.items():
            edges = int(len(graph.indices) * times)
            unit = costs(n, asked.residency)
            model = Model(n, edges, ranks, 4, link, OTHER_HOST, unit, HEADS, n // 32, 1 << 17)
            each = [Search(graph, found, times, model).seconds(asked.top_down) for found in levels]
            spent, bits, parts = np.sum(each, axis=0)
            print(
                f"{ranks} GPUs, {name:<13}  {1e3 * spent / 4:7.2f} ms  own bits first -{bits / spent:.0%}"
                f"  claims in parts -{parts / spent:.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
