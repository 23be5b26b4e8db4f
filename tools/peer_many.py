"""Run one measure of another Python library on a graph: called by ``compare_many.py``, by an interpreter that has it.

In: a graph in the binary format of ECL (n and m, offsets, ids; int32, little-endian), and for ``searches`` a file of
sources (uint32). Out: one JSON object on standard output with the ``seconds`` of the library alone, of the wall and of
the processor (``cpu``), and the ``answer``: the path of a .npy. NumPy and the library are all that is imported.

- ``searches``: the sum of the distances from each source (int64)
- ``closeness``: of every vertex, with the factor of Wasserman and Faust, in-distances of a directed graph (float64)
- ``harmonic``: the sum of the reciprocals of these distances (float64)
- ``hops``: pairs at distance 1, 2, ... (int64)
- ``diameter``: of a connected graph
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets (n + 1) and ids (m)."""
    words = np.fromfile(path, "<i4")
    n, m = int(words[0]), int(words[1])
    return words[2 : n + 3].astype(np.int64), words[n + 3 : n + 3 + m]


def ends_of(indptr: np.ndarray, indices: np.ndarray, directed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return sources and targets of every edge; of an undirected graph, which stores both directions, of one each."""
    ends = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    once = slice(None) if directed else ends <= indices
    return ends[once], indices[once].astype(np.int64)


def igraph_work(indptr: np.ndarray, indices: np.ndarray, asked: argparse.Namespace) -> dict[str, Callable]:
    """Return what igraph is called for; it has one thread."""
    import igraph

    n = len(indptr) - 1
    graph = igraph.Graph(n=n, edges=np.column_stack(ends_of(indptr, indices, asked.directed)), directed=asked.directed)

    def closeness() -> np.ndarray:
        # mean over the vertices reached, and one over the sum: their ratio is how many these are
        found = np.array(graph.closeness(mode="in", normalized=True))
        sums = np.array(graph.closeness(mode="in", normalized=False))
        return np.nan_to_num(found * np.rint(found / sums) / (n - 1))

    def harmonic() -> np.ndarray:
        return np.array(graph.harmonic_centrality(mode="in", normalized=False))

    def hops() -> np.ndarray:
        counts = [int(count) for _, _, count in graph.path_length_hist().bins()]
        return np.array(counts, np.int64) * (1 if asked.directed else 2)

    def searches() -> np.ndarray:
        found = graph.closeness(vertices=sources_of(asked).tolist(), normalized=False)
        return np.rint(1 / np.array(found)).astype(np.int64)

    works = {"searches": searches, "closeness": closeness, "harmonic": harmonic, "hops": hops}
    return works | {"diameter": lambda: np.array(int(graph.diameter()))}


def networkit_work(indptr: np.ndarray, indices: np.ndarray, asked: argparse.Namespace) -> dict[str, Callable]:
    """Return what NetworKit is called for; in a directed graph it counts distances from a vertex, so edges turn."""
    import networkit

    networkit.setNumberOfThreads(asked.threads)
    n = len(indptr) - 1
    ends = ends_of(indptr, indices, asked.directed)
    graph = networkit.GraphFromCoo(ends[::-1] if asked.directed else ends, n=n, directed=asked.directed)

    def closeness() -> np.ndarray:
        found = networkit.centrality.Closeness(graph, False, networkit.centrality.ClosenessVariant.GENERALIZED)
        return np.array(found.run().scores())

    def harmonic() -> np.ndarray:
        return np.array(networkit.centrality.HarmonicCloseness(graph, False).run().scores())

    def searches() -> np.ndarray:
        sums = []
        for source in sources_of(asked).tolist():
            far = np.array(networkit.distance.BFS(graph, source, False).run().getDistances())
            sums.append(int(far[far < n].sum()))
        return np.array(sums)

    def diameter() -> np.ndarray:
        found = networkit.distance.Diameter(graph, algo=networkit.distance.DiameterAlgo.EXACT)
        return np.array(int(found.run().getDiameter()[0]))

    return {"searches": searches, "closeness": closeness, "harmonic": harmonic, "diameter": diameter}


def networkx_work(indptr: np.ndarray, indices: np.ndarray, asked: argparse.Namespace) -> dict[str, Callable]:
    """Return what NetworkX is called for; it has one thread."""
    import networkx

    n = len(indptr) - 1
    graph = networkx.DiGraph() if asked.directed else networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip(*(ends.tolist() for ends in ends_of(indptr, indices, asked.directed)), strict=True))

    def values(found: dict[int, float]) -> np.ndarray:
        return np.array([found[vertex] for vertex in range(n)])

    def searches() -> np.ndarray:
        found = (networkx.single_source_shortest_path_length(graph, source) for source in sources_of(asked).tolist())
        return np.array([sum(far.values()) for far in found])

    return {
        "searches": searches,
        "closeness": lambda: values(networkx.closeness_centrality(graph)),
        "harmonic": lambda: values(networkx.harmonic_centrality(graph)),
        "diameter": lambda: np.array(networkx.diameter(graph)),
    }


def sources_of(asked: argparse.Namespace) -> np.ndarray:
    """Return the sources of ``searches``."""
    return np.fromfile(asked.sources, "<u4")


LIBRARIES: dict[str, Any] = {"igraph": igraph_work, "networkit": networkit_work, "networkx": networkx_work}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("work", choices=("searches", "closeness", "harmonic", "hops", "diameter"))
    parser.add_argument("graph", type=Path)
    parser.add_argument("--directed", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--answer", type=Path, required=True)
    asked = parser.parse_args()
    call = LIBRARIES[asked.library](*read(asked.graph), asked)[asked.work]
    start, used = time.perf_counter(), time.process_time()
    found = call()
    seconds, cpu = time.perf_counter() - start, time.process_time() - used
    np.save(asked.answer, found)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "answer": str(asked.answer)}))


if __name__ == "__main__":
    main()
