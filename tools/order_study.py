"""What the order of the vertices does: compressed size, and times of BFS and components on the CPU, for every order.

    python tools/order_study.py --table docs/results/orders.md

Graphs: a Kronecker, a uniform and a road-like one, generated with random ids, so that the original order knows nothing;
and real ones from the data folder (``--data``, BIGBFS_DATA, or shared/data beside the repository), in the order that
they came in. Every tree and labelling is verified, and must be the same in original ids whatever the order. The sources
are the same for all orders; a source's time is the median of ``--trials``, the figure the mean over the sources.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.conversion.keywords import convert
from bigbfs.conversion.options import ORDERS
from bigbfs.formats.atomic import replacing
from bigbfs.generate.output import write_graph
from bigbfs.graph.graph import Graph
from bigbfs.report.table import markdown

ROOT = Path(__file__).resolve().parent.parent
REAL = ("cnr-2000.txt.zst", "git-objects.txt.zst")
COLUMNS = (
    *("graph", "vertices", "M edges", "order", "codec B/edge", "file B/edge", "ordering s"),
    *("BFS ms plain", "BFS ms varint", "CC ms plain", "CC ms varint"),
)

TEXT = """\
# Orders of the vertices

`bigbfs convert --order original|degree|bfs|rcm`: bytes for each directed edge (the varints alone, and the whole .ccsr,
where the original ids of a reordered graph take 8 bytes for each vertex), seconds that the ordering adds to the
conversion, milliseconds of BFS and components on the CPU. The generated graphs have random ids; the real ones are as
they came. All verified, and the same in original ids in every order.

Made by `python tools/order_study.py --table docs/results/orders.md` ({options.threads} threads,
{options.sources} sources, median of {options.trials} trials).

{table}
"""


def main() -> int:
    """Study every graph and write the page."""
    options = _options()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, path in _inputs(options, folder):
            rows += _study(name, path, options, folder)
    text = _page(rows, options)
    if options.table:
        with replacing(options.table) as stream:
            stream.write(text.encode())
    print(text, file=sys.stderr)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = os.environ.get("BIGBFS_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder of the real graphs")
    parser.add_argument("--scale", type=int, default=18, help="log2 of the vertices of the generated graphs")
    parser.add_argument("--order", action="append", choices=ORDERS, help="default: all")
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--table", type=Path, help="write the page here")
    return parser.parse_args()


def _inputs(options: argparse.Namespace, folder: Path) -> list[tuple[str, Path]]:
    """Generate what is to be generated; return (name, file) of every graph."""
    kinds: dict[str, dict[str, Any]] = {
        "kronecker": {"edge_factor": 16},
        "uniform": {"edge_factor": 16},
        "road": {"permute": True},
    }
    found = []
    for kind, parameters in kinds.items():
        path = folder / f"{kind}.csrbin"
        write_graph(kind, path, seed=1, scale=options.scale, **parameters)
        found.append((f"{kind} {options.scale}", path))
    return found + [(name.partition(".")[0], options.data / name) for name in REAL if (options.data / name).exists()]


def _study(name: str, path: Path, options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Return one row for each order of one graph."""
    rows = []
    first: dict[str, np.ndarray] = {}
    output = folder / "studied.csrbin"
    for order in ORDERS:  # once unmeasured, so that every kernel is compiled
        built = convert(path, output, order=order, force=True, threads=options.threads).phases["build"]
    built = convert(path, output, force=True, threads=options.threads).phases["build"]
    for order in options.order or ORDERS:
        report = convert(path, output, order=order, compressed=True, force=True, threads=options.threads)
        row = {"graph": name, "order": order, "vertices": report.vertices, "edges": report.edges}
        row |= {"bytes_per_edge": report.compressed_bytes / report.edges}
        row["ordering_seconds"] = report.phases["build"] - built if order != "original" else 0.0
        for codec, suffix in (("plain", ".csrbin"), ("varint", ".ccsr")):
            with Graph.open(output.with_suffix(suffix)) as graph:
                row["codec_bytes_per_edge"] = len(getattr(graph.adjacency, "blob", ())) / graph.m
                row |= {f"{key}_{codec}": value for key, value in _times(graph, options, first).items()}
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


def _times(graph: Graph, options: argparse.Namespace, first: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the milliseconds of BFS and components, verified and compared with those of the first order."""
    degrees = graph.in_original_order(graph.degrees())
    ids = graph.original_ids()[np.flatnonzero(degrees)]
    chosen = np.random.default_rng(1).choice(ids, options.sources, replace=False)
    with CpuEngine(graph, threads=options.threads) as engine:
        times = []
        for source in chosen.tolist():
            vertex = graph.vertex(source)
            results = [engine.bfs(vertex) for _ in range(options.trials + 1)]
            validate_tree(graph, vertex, results[-1].levels, results[-1].parents)
            _require_same(first, f"levels from {source}", graph.in_original_order(results[-1].levels))
            times.append(statistics.median(result.record.seconds for result in results[1:]))
        labelled = [engine.connected_components() for _ in range(options.trials + 1)]
        validate_labels(graph, labelled[-1].labels)
        _require_same(first, "labels", labelled[-1].original(graph).labels)
    return {
        "bfs_ms": 1e3 * statistics.mean(times),
        "cc_ms": 1e3 * statistics.median(result.record.seconds for result in labelled[1:]),
    }


def _require_same(first: dict[str, np.ndarray], what: str, found: np.ndarray) -> None:
    if not np.array_equal(first.setdefault(what, found), found):
        raise SystemExit(f"order_study: the {what} differ between orders")


def _page(rows: list[dict[str, Any]], options: argparse.Namespace) -> str:
    """Return the Markdown page."""
    times = ("bfs_ms_plain", "bfs_ms_varint", "cc_ms_plain", "cc_ms_varint")
    cells = []
    for row in rows:
        ordering = f"{row['ordering_seconds']:.2f}" if row["order"] != "original" else "-"
        sizes = [f"{row[key]:.2f}" for key in ("codec_bytes_per_edge", "bytes_per_edge")]
        about = [row["graph"], f"{row['vertices']:,}", f"{row['edges'] / 1e6:.1f}", row["order"]]
        cells.append([*about, *sizes, ordering, *(f"{row[key]:.2f}" for key in times)])
    return TEXT.format(options=options, table=markdown(COLUMNS, cells))


if __name__ == "__main__":
    sys.exit(main())
