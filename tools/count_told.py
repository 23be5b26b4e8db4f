"""Count what GPUs of several machines tell one another of components, in the emulation: a table for the docs.

python tools/count_told.py              # graphs of 65,536 vertices on 2 and 8 devices, about a minute
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import zoo
from emulated.peers import Peers, label

from bigbfs.algorithms.components.gpu.hosts.loop import HostForest
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components
from bigbfs.engines.gpu.ranks.transport import HostTransport
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.report.table import table

SCALE = 16
N = 1 << SCALE


def kronecker(drawn: np.random.Generator) -> Graph:
    """Return an R-MAT graph (0.57, 0.19, 0.19, 0.05) of 16 edges a vertex with random ids."""
    ends = np.zeros((2, 16 * N), np.int64)
    for _ in range(SCALE):
        chance = drawn.random(16 * N)
        ends = 2 * ends + np.stack([chance >= 0.76, ((chance >= 0.57) & (chance < 0.76)) | (chance >= 0.95)])
    ids = drawn.permutation(N)
    return zoo.build(N, (ids[ends[0]], ids[ends[1]]))


def by_degree(graph: Graph) -> Graph:
    """Return ``graph`` with its vertices in descending order of degree."""
    degrees = graph.degrees()
    new = np.empty(N, np.int64)
    new[np.argsort(-degrees, kind="stable")] = np.arange(N)
    sources = np.repeat(np.arange(N), degrees)
    assert isinstance(graph.adjacency, PlainAdjacency)
    ends = graph.adjacency.indices.astype(np.int64)
    once = sources < ends
    return zoo.build(N, (new[sources[once]], new[ends[once]]))


def graphs() -> dict[str, tuple[Graph, bool]]:
    """Return the graphs, and whether they are stored by degree."""
    drawn = np.random.default_rng(3)
    skewed = kronecker(drawn)
    side = int(N**0.5)
    at = np.arange(N).reshape(side, side)
    lines = zoo.join((at[:, :-1].ravel(), at[:, 1:].ravel()), (at[:-1].ravel(), at[1:].ravel()))
    return {
        "Kronecker, random ids": (skewed, False),
        "Kronecker, by degree": (by_degree(skewed), True),
        "uniform": (zoo.build(N, (drawn.integers(0, N, 8 * N), drawn.integers(0, N, 8 * N))), False),
        "grid": (zoo.build(N, lines), False),
    }


def main() -> None:
    """Print the table."""
    rows = []
    for name, (graph, ranked) in graphs().items():
        expected = components(graph)
        for size in (2, 8):
            for heads in (1, 0):
                made: list[HostForest] = []
                peers = Peers(size, ranked=ranked, head_groups=heads, carry=HostTransport, touch=made.append)
                ((labels, joined),) = label(graph, "plain", peers, [ComponentsOptions()], prove=False)
                assert np.array_equal(labels, expected)
                sent = max(rank.sent for rank in joined[0].ranks)
                bits = (size - 1) * 8 * -(-(N // 64) // size)
                most = [max(each) for each in zip(*(forest.told for forest in made), strict=True)]
                rows.append((name, size, 4 * heads, sent, bits, *most, joined[0].edges_read))
    headers = ("graph", "GPUs", "heads", "most bytes of a rank", "of these bits", "pairs", "names", "edges read")
    print(table(headers, rows))


if __name__ == "__main__":
    main()
