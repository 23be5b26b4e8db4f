"""Compare bigbfs with other GPU programs on one graph in one run: same sources, verified counts, medians, ratios.

The other programs are not part of bigbfs: they are built elsewhere and follow the call in ``peer_runs.py``, which takes
a few lines around their kernels. The names that ``--peer`` knows are in ``peer_formats.py``; a name may carry one of
the program's own variants::

    bigbfs generate kronecker --scale 26 --edge-factor 16 -o graph.csrbin
    python tools/compare_peers.py graph.csrbin --peer efg=./efg --peer emogi-bfs/chunk=./emogi-bfs --output rows.jsonl

bigbfs runs before and again after all peers, on the graph as it is and (``--order degree``) stored by descending
degree; a ratio is a peer's median over bigbfs's before it. Its results are verified before they count, and what a peer
reached must equal them: reached vertices, depth and the sum of all levels for each source; components and the largest.
Nobody's time includes reading, placement or checking; each side's is what it times itself (EFG and bigbfs with the
reset of their state, EMOGI and GSWITCH without). Files for peers are written into ``--folder`` and removed again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import peer_runs
from bench_matrix import commit
from peer_formats import PEERS, write_graph
from peer_sides import RESIDENCY, CpuSide, GpuSide

import bigbfs
from bigbfs import api
from bigbfs.conversion.orders.degree import degree_order
from bigbfs.conversion.orders.reorder import renumber
from bigbfs.errors import BigBfsError, UsageError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import thread_count
from bigbfs.record import gteps
from bigbfs.report.table import table
from bigbfs.sizes import parse_size

HEADERS = ("work", "edges in", "system", "median ms", "slowest ms", "median GTEPS", "verified", "times bigbfs")
Orders = list[tuple[str, Graph, np.ndarray | None]]


@dataclass
class Known:
    """What is verified: facts of each source and, for None, of the components; edges of each source's component."""

    truth: dict[int | None, dict[str, int]] = field(default_factory=dict)
    edges: dict[int, int] = field(default_factory=dict)
    verified: set[tuple[str, str]] = field(default_factory=set)
    """(order, place) where every source was verified."""

    def add(self, source: int | None, found: dict[str, Any], names: Sequence[str]) -> None:
        """Take the facts ``names`` of a result of bigbfs as true, or compare it with what is."""
        if source not in self.truth:
            self.truth[source] = {name: found[name] for name in names}
        peer_runs.check("bigbfs", [found | {"source": source}], self.truth)


def orders(graph: Graph, wanted: Sequence[str]) -> Orders:
    """Return (order, graph, rank) of each order: rank[v] is the vertex of that graph for vertex v, None: v itself."""
    found: Orders = [("as given", graph, None)]
    if "degree" in wanted:
        say("the graph by degree")
        plain = graph.adjacency
        assert isinstance(plain, PlainAdjacency)
        indptr, indices = plain.indptr.view(np.int64), plain.indices
        order, rank = degree_order(indptr)
        rows, _ = renumber((indptr, indices), (indptr, indices), order, rank, thread_count())
        adjacency = PlainAdjacency(rows[0].view(np.uint64), rows[1])
        found.append(("degree", Graph(adjacency, replace(graph.flags, relabelled=True)), rank))
    return found


def summary(times: Sequence[Sequence[float]], edges: Sequence[int] = ()) -> dict[str, Any]:
    """Return the figures of ``times``: seconds of the trials of each source; ``edges`` of each for rates."""
    seconds = [median(trials) for trials in times]
    found = {"seconds": median(seconds), "slowest_seconds": max(seconds)}
    if edges:
        rates = [gteps(count, each) for count, each in zip(edges, seconds, strict=True)]
        found |= {"median_gteps": median(rates), "slowest_gteps": min(rates)}
    return found


def run_bigbfs(
    graphs: Orders, options: argparse.Namespace, sources: list[int], known: Known
) -> Iterator[dict[str, Any]]:
    """Yield a row for each order, place and work; results are verified once, counts compared every time."""
    side_of = GpuSide if api.choose_backend(options.backend) == "gpu" else CpuSide
    for order, stored, rank in graphs:
        for place in options.place:
            say(f"bigbfs, {order}, {place}")
            common: dict[str, Any] = {"system": f"bigbfs {order}", "order": order, "place": place, "verified": True}
            with closing(side_of(stored, place, options.vram_budget)) as side:
                common |= side.about
                if "bfs" in options.work:
                    times = []
                    for source in sources:
                        vertex = source if rank is None else int(rank[source])
                        found = side.bfs(vertex, verify=(order, place) not in known.verified)
                        known.edges.setdefault(source, found["edges"])
                        known.add(source, found, ("reached", "depth", "level_sum"))
                        times.append([side.bfs(vertex, verify=False)["seconds"] for _ in range(options.trials)])
                    known.verified.add((order, place))
                    edges = [known.edges[source] for source in sources]
                    yield common | {"work": "bfs"} | summary(times, edges)
                    if options.levels_only:
                        times = [levels_only(side, rank, source, options.trials, known) for source in sources]
                        name = {"system": f"{common['system']}, levels only", "order": f"{order}, levels only"}
                        yield common | name | {"work": "bfs"} | summary(times, edges)
                if "cc" in options.work:
                    known.add(None, side.cc(verify=True), ("components", "largest"))
                    times = [[side.cc(verify=False)["seconds"] for _ in range(options.trials)]]
                    yield common | {"work": "cc"} | summary(times)


def levels_only(
    side: CpuSide | GpuSide, rank: np.ndarray | None, source: int, trials: int, known: Known
) -> list[float]:
    """Return the seconds of ``trials`` searches without parents; what they find is compared with what is known."""
    runs = [side.levels(source if rank is None else int(rank[source])) for _ in range(trials)]
    for run in runs:
        known.add(source, run, ())
    return [run["seconds"] for run in runs]


def run_peers(graph: Graph, options: argparse.Namespace, sources: list[int], known: Known) -> Iterator[dict[str, Any]]:
    """Yield a row for each peer and place; one that fails or is wrong has ``error`` and no figures."""
    plain = graph.adjacency
    assert isinstance(plain, PlainAdjacency)
    for name in dict.fromkeys(PEERS[name].format for name, _, _ in options.peer):
        mine = [wanted for wanted in options.peer if PEERS[wanted[0]].format == name]
        with tempfile.TemporaryDirectory(dir=options.folder, prefix="bigbfs-peers-") as folder:
            say(f"files for {name}")
            path = write_graph(name, Path(folder), plain.indptr, plain.indices)
            for peer, variant, program in mine:
                work = PEERS[peer].work
                system = f"{peer}/{variant}" if variant else peer
                asked = sources if work == "bfs" else []
                for place in (place for place in PEERS[peer].places if place in options.place and work in options.work):
                    say(f"{system}, {place}")
                    row = {"system": system, "place": place, "work": work, "verified": False}
                    line = peer_runs.command_line(program, path, place, options.trials, asked, variant)
                    try:
                        text = peer_runs.run(system, line, options.timeout)
                        runs = peer_runs.parse(system, text, work, asked, options.trials)
                        peer_runs.check(system, runs, known.truth)
                    except BigBfsError as error:
                        say(f"FAILED: {error}")
                        yield row | {"error": str(error), "exit_code": error.exit_code}
                        continue
                    seconds = [run["ms"] / 1e3 for run in runs]
                    times = [seconds[at : at + options.trials] for at in range(0, len(seconds), options.trials)]
                    yield row | {"verified": True} | summary(times, [known.edges[source] for source in asked])


def ratios(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return, for each order of bigbfs in ``rows``, how many times its median the median of ``row`` is."""
    if "seconds" not in row:
        return {}
    mine = [
        other for other in rows if "order" in other and (other["work"], other["place"]) == (row["work"], row["place"])
    ]
    return {other["order"]: row["seconds"] / other["seconds"] for other in mine}


def cells(row: dict[str, Any]) -> list[Any]:
    """Return the cells of a row of the table."""
    ms = [1e3 * row[key] if key in row else None for key in ("seconds", "slowest_seconds")]
    times = ", ".join(f"{ratio:,.1f} ({order})" for order, ratio in row.get("ratio", {}).items())
    return [row["work"], row["place"], row["system"], *ms, row.get("median_gteps"), row["verified"], times]


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def peer_option(text: str) -> tuple[str, str, Path]:
    """Return (name, variant, program) of NAME[/VARIANT]=PROGRAM."""
    named, _, program = text.partition("=")
    name, _, variant = named.partition("/")
    if name not in PEERS or not program:
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME[/VARIANT]=PROGRAM with NAME one of {', '.join(PEERS)}")
    return name, variant, Path(program).resolve()


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument("graph", type=Path, help="a symmetric .csrbin with 32-bit ids")
    found.add_argument("--peer", type=peer_option, action="append", default=[], help="NAME[/VARIANT]=PROGRAM")
    found.add_argument("--place", choices=list(RESIDENCY), action="append", help="where edges lie; default: both")
    found.add_argument("--work", choices=["bfs", "cc"], action="append", help="what to run; default: both")
    found.add_argument("--order", choices=["degree"], action="append", default=[], help="bigbfs in this order too")
    found.add_argument("--levels-only", action="store_true", help="bigbfs without parents too, as some peers search")
    found.add_argument("--backend", choices=["auto", "cpu", "gpu"], default="auto", help="what runs bigbfs")
    found.add_argument("--vram-budget", type=parse_size, help="device memory of bigbfs with edges in host memory")
    found.add_argument("--sources", type=int, default=16, help="vertices with edges to start from")
    found.add_argument("--seed", type=int, default=1, help="seed of the sources")
    found.add_argument("--trials", type=int, default=3, help="runs that count, for each source")
    found.add_argument("--timeout", type=float, default=300, help="seconds that a peer may take for one place")
    found.add_argument("--folder", type=Path, help="where to write the peers' files; default: the system's")
    found.add_argument("--output", type=Path, help="append the rows as JSON lines")
    found.add_argument("--commit", help="what is measured, where that is no checkout")
    return found


def compare(graph: Graph, options: argparse.Namespace, sources: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the rows: bigbfs, its peers with ratios, bigbfs again."""
    known = Known()
    graphs = orders(graph, options.order)
    before = []
    for row in run_bigbfs(graphs, options, sources, known):
        before.append(row)
        yield row
    if options.peer:
        for row in run_peers(graph, options, sources, known):
            yield row | {"ratio": ratios(row, before)}
        for row in run_bigbfs(graphs, options, sources, known):
            yield row | {"system": row["system"] + ", again"}


def keep(rows: Iterator[dict[str, Any]], about: dict[str, Any], output: Path | None) -> list[dict[str, Any]]:
    """Return the rows; each is appended to ``output`` as soon as it is there."""
    kept = []
    for row in rows:
        kept.append(row)
        if output:
            with output.open("a") as stream:
                stream.write(json.dumps(about | row, allow_nan=False) + "\n")
    return kept


def main() -> int:
    """Run the comparison; the exit code is the highest of what failed."""
    options = parser().parse_args()
    options.place, options.work = options.place or list(RESIDENCY), options.work or ["bfs", "cc"]
    if options.trials < 1 or options.sources < 1:
        raise UsageError("--trials and --sources are at least 1")
    with Graph.open(options.graph) as graph:
        if graph.codec != "plain" or not graph.flags.symmetric or graph.ids.itemsize != 4:
            raise UsageError(f"{options.graph}: peers take symmetric graphs of plain rows and 32-bit ids only")
        connected = np.flatnonzero(graph.degrees())
        if len(connected) == 0:
            raise UsageError(f"{options.graph}: no vertex has an edge")
        count = min(options.sources, len(connected))
        sources = np.random.default_rng(options.seed).choice(connected, count, replace=False).tolist()
        about = {"bigbfs": bigbfs.__version__, "commit": options.commit or commit(), "graph": options.graph.name}
        about |= {"n": graph.n, "m": graph.m, "sources": count, "seed": options.seed, "trials": options.trials}
        about |= {
            "vram_budget": options.vram_budget,
            "backend": api.choose_backend(options.backend),
            "command": " ".join(sys.argv),
        }
        rows = keep(compare(graph, options, sources), about, options.output)
    rows.sort(key=lambda row: (row["work"], row["place"], "order" not in row))
    print(table(HEADERS, [cells(row) for row in rows]))
    return max((row.get("exit_code", 0) for row in rows), default=0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BigBfsError as error:
        print(f"compare_peers: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
