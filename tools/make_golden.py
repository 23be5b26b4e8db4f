"""Write the golden files: small graph files of format version 1 that every later bigbfs must read (and write) the same.

    python tools/make_golden.py tests/golden

Each holds something that the others lack. expected.json has what a reader must find in them, with the arrays as lists.
Run it once for each format version; the files of an older version are never written again.
"""

import json
import sys
from pathlib import Path

import numpy as np

from bigbfs.formats.container import csrbin
from bigbfs.graph import varint
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.graph.rows import transpose


def adjacency(lists: list[list[int]], ids: type) -> PlainAdjacency:
    """Return the rows ``lists``."""
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.uint64)
    return PlainAdjacency(indptr, np.array([v for row in lists for v in row], ids))


def symmetric(n: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """Return rows that hold every edge both ways, a loop once."""
    lists: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        lists[u].append(v)
        if u != v:
            lists[v].append(u)
    return [sorted(row) for row in lists]


def graphs() -> dict[str, tuple[Graph, dict | None]]:
    """Return name -> (graph, provenance)."""
    path = symmetric(5, [(0, 1), (1, 2), (1, 4)])
    kept = GraphFlags(deduplicated=False, loops_removed=False)
    hub = symmetric(300, [(7, v) for v in range(300) for _ in range(4)] + [(0, 299), (128, 256)])
    arcs = [[1, 2, 299], [], [0], *([] for _ in range(296)), [0]]
    directed = GraphFlags(directed=True, symmetric=False)
    one_way = adjacency(arcs, np.uint32)
    wide = adjacency(arcs, np.uint64)
    return {
        "plain.csrbin": (
            Graph(adjacency(path, np.uint32), first_id=1),
            {"sources": [{"path": "graph.txt", "size": 14, "mtime_ns": 1}], "options": {"directed": False}},
        ),
        "hub.ccsr": (Graph(varint.encode(adjacency(hub, np.uint32)), kept), None),
        "labels.csrbin": (
            Graph(
                adjacency(path, np.uint64),
                GraphFlags(relabelled=True),
                labels=np.array([40, 7, 2**62, 9, 0], np.int64),
            ),
            None,
        ),
        "directed.csrbin": (Graph(one_way, directed, in_adjacency=transpose(one_way)), None),
        "wide.ccsr": (Graph(varint.encode(wide), directed, in_adjacency=varint.encode(transpose(wide))), None),
    }


def expected(graph: Graph, provenance: dict | None) -> dict:
    """Return what a reader must find, in types of JSON."""
    plain = graph.decompress()
    backward = plain.in_adjacency if graph.flags.directed else None
    return {
        "n": graph.n,
        "m": graph.m,
        "codec": graph.codec,
        "id_bytes": graph.ids.itemsize,
        "first_id": graph.first_id,
        "flags": {name: getattr(graph.flags, name) for name in GraphFlags.__slots__},
        "labels": None if graph.labels is None else graph.labels.tolist(),
        "provenance": provenance,
        "indptr": plain.adjacency.edge_offsets().tolist(),
        "indices": plain.adjacency.arrays()["indices"].tolist(),
        "in_indptr": None if backward is None else backward.edge_offsets().tolist(),
        "in_indices": None if backward is None else backward.arrays()["indices"].tolist(),
    }


def main(folder: Path) -> None:
    """Write all files to ``folder``."""
    found = {}
    for name, (graph, provenance) in graphs().items():
        csrbin.save_graph(graph, folder / name, provenance)
        found[name] = expected(graph, provenance)
    (folder / "expected.json").write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "tests/golden"))
