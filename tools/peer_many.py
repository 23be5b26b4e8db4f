"""Run one measure of another Python library on a graph: called by ``compare_many.py``, by an interpreter that has it.

In: a graph in the binary format of ECL (n and m, offsets, ids; int32, little-endian), and for ``searches`` a file of
sources (uint32). Out: one JSON object on standard output with the ``seconds`` of the library alone, and the ``answer``:
a number, or the path of a .npy. NumPy and the library are all that is imported.

- ``searches``: the sum of the distances from each source (int64)
- ``closeness``: of every vertex, with the factor of Wasserman and Faust (float64)
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


def igraph_work(indptr: np.ndarray, indices: np.ndarray, sources: np.ndarray, threads: int) -> dict[str, Callable]:
    """Return what igraph is called for; it has one thread."""
    import igraph

    n = len(indptr) - 1
    ends = np.repeat(np.arange(n), np.diff(indptr))
    once = ends <= indices  # each edge is stored in both directions
    graph = igraph.Graph(n=n, edges=np.column_stack([ends[once], indices[once]]))

    def closeness() -> np.ndarray:
        # mean over the vertices reached; the factor is n reached over n
        found = np.nan_to_num(np.array(graph.closeness(normalized=True)))
        sizes = np.array(graph.connected_components().sizes())[graph.connected_components().membership]
        return found * (sizes - 1) / (n - 1)

    def searches() -> np.ndarray:
        return np.rint(1 / np.array(graph.closeness(vertices=sources.tolist(), normalized=False))).astype(np.int64)

    return {"searches": searches, "closeness": closeness, "diameter": lambda: int(graph.diameter())}


def networkit_work(indptr: np.ndarray, indices: np.ndarray, sources: np.ndarray, threads: int) -> dict[str, Callable]:
    """Return what NetworKit is called for."""
    import networkit

    networkit.setNumberOfThreads(threads)
    n = len(indptr) - 1
    ends = np.repeat(np.arange(n), np.diff(indptr))
    once = ends <= indices
    graph = networkit.GraphFromCoo((ends[once], indices[once].astype(np.int64)), n=n, directed=False)

    def closeness() -> np.ndarray:
        found = networkit.centrality.Closeness(graph, False, networkit.centrality.ClosenessVariant.GENERALIZED)
        return np.array(found.run().scores())

    def searches() -> np.ndarray:
        sums = []
        for source in sources.tolist():
            far = np.array(networkit.distance.BFS(graph, source, False).run().getDistances())
            sums.append(int(far[far < n].sum()))
        return np.array(sums)

    def diameter() -> int:
        found = networkit.distance.Diameter(graph, algo=networkit.distance.DiameterAlgo.EXACT)
        return int(found.run().getDiameter()[0])

    return {"searches": searches, "closeness": closeness, "diameter": diameter}


LIBRARIES: dict[str, Any] = {"igraph": igraph_work, "networkit": networkit_work}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("work", choices=("searches", "closeness", "diameter"))
    parser.add_argument("graph", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--answer", type=Path, required=True)
    asked = parser.parse_args()
    sources = np.zeros(0, np.uint32) if asked.sources is None else np.fromfile(asked.sources, "<u4")
    call = LIBRARIES[asked.library](*read(asked.graph), sources, asked.threads)[asked.work]
    start = time.perf_counter()
    found = call()
    seconds = time.perf_counter() - start
    np.save(asked.answer, np.asarray(found))
    print(json.dumps({"seconds": seconds, "answer": str(asked.answer)}))


if __name__ == "__main__":
    main()
