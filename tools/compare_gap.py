"""Compare the CPU engine with the GAP benchmark suite's C++ programs: same graph, same sources, turn about.

GAP is not part of bigbfs. Get it and build it outside the repository, then point ``--gap`` at it::

    git clone https://github.com/sbeamer/gapbs /tmp/gap && make -C /tmp/gap bfs cc converter
    python tools/compare_gap.py --gap /tmp/gap --scale 20 --scale 22

GAP's converter makes the graph (Kronecker, or uniform with ``--uniform``) as an .sg file, which both sides read. For
each source GAP runs, then bigbfs (plain, then compressed rows if asked), each ``--trials`` times after one that is
not counted; components likewise. The time of a source is the median of its trials, the figure of a side the mean over
the sources. Both sides time the same thing: reset of the state and traversal; GAP makes parents only, bigbfs parents
and levels.

Each result of bigbfs is verified, and reached vertices, edges and components must equal what GAP prints. One JSON
object a line goes to standard output, the table of ratios to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.graph.graph import Graph

KERNELS = ("bfs", "cc")
HEADER = "| graph | m | kernel | rows | GAP ms | bigbfs ms | ratio | place ms |"


def main() -> int:
    """Run the comparison that the command line asks for; exit 1 where a bar given is missed."""
    options = _options()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        for path in [*options.graph, *(_make_graph(options, scale, work) for scale in options.scale)]:
            rows += _compare(options, path)
    _print_table(rows)
    if options.markdown:
        write_table(options.markdown, rows)
    missed = [
        row for row in rows if row["codec"] == "plain" and row["ratio"] < getattr(options, f"{row['kernel']}_bar")
    ]
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gap", type=Path, required=True, help="folder with GAP's programs bfs, cc and converter")
    parser.add_argument("--scale", type=int, action="append", default=[], help="log2 of the vertices; repeatable")
    parser.add_argument("--graph", type=Path, action="append", default=[], help="a symmetric .sg file; repeatable")
    parser.add_argument("--uniform", action="store_true", help="uniform random instead of Kronecker")
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--kernel", choices=KERNELS, action="append", help="repeatable; default: both")
    parser.add_argument("--markdown", type=Path, help="page whose table gets the rows; others there stay as they are")
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--trials", type=int, default=3, help="trials counted for each source")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sources")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--compressed", action="store_true", help="run bigbfs on compressed rows too")
    parser.add_argument("--work", type=Path, help="folder that keeps the graphs for the next time")
    parser.add_argument("--bfs-bar", type=float, default=0.0, help="exit 1 if BFS is not this many times as fast")
    parser.add_argument(
        "--cc-bar", type=float, default=0.0, help="exit 1 if components are not this many times as fast"
    )
    return parser.parse_args()


def _make_graph(options: argparse.Namespace, scale: int, work: Path) -> Path:
    kind = "uniform" if options.uniform else "kronecker"
    path = work / f"{kind}-{scale}-{options.edge_factor}.sg"
    if not path.exists():
        generator = "-u" if options.uniform else "-g"
        command = [options.gap / "converter", generator, str(scale), "-k", str(options.edge_factor), "-b", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def _compare(options: argparse.Namespace, path: Path) -> list[dict[str, Any]]:
    """Print the JSON lines of one graph and return its rows of the table."""
    graph = Graph.open(path)
    graphs = {"plain": graph} | ({"varint": graph.compress()} if options.compressed else {})
    engines = {codec: CpuEngine(each, threads=options.threads) for codec, each in graphs.items()}
    about = {"graph": path.stem, "vertices": graph.n, "edges": graph.m, "threads": options.threads}
    connected = np.flatnonzero(graph.degrees())
    sources = np.random.default_rng(options.seed).choice(connected, options.sources, replace=False).tolist()
    times: dict[tuple[str, str], list[float]] = {}
    kernels = options.kernel or KERNELS
    for source in sources if "bfs" in kernels else ():
        seconds, text = _run_gap(options, "bfs", path, "-r", str(source))
        times.setdefault(("bfs", "gap"), []).append(seconds)
        line = about | {"kernel": "bfs", "source": source, "gap_seconds": seconds}
        for codec, engine in engines.items():
            line[f"{codec}_seconds"] = _run_bfs(engine, graph, source, options.trials, text)
            times.setdefault(("bfs", codec), []).append(line[f"{codec}_seconds"])
        print(json.dumps(line), flush=True)
    for _ in range(max(1, options.sources // 4) if "cc" in kernels else 0):
        seconds, text = _run_gap(options, "cc", path)
        times.setdefault(("cc", "gap"), []).append(seconds)
        line = about | {"kernel": "cc", "gap_seconds": seconds}
        for codec, engine in engines.items():
            line[f"{codec}_seconds"] = _run_components(engine, graph, options.trials, text)
            times.setdefault(("cc", codec), []).append(line[f"{codec}_seconds"])
        print(json.dumps(line), flush=True)
    return [
        {
            "graph": path.stem,
            "m": graph.m,
            "kernel": kernel,
            "codec": codec,
            "gap": statistics.mean(times[kernel, "gap"]),
            "bigbfs": statistics.mean(times[kernel, codec]),
            "ratio": statistics.mean(times[kernel, "gap"]) / statistics.mean(times[kernel, codec]),
            "place": engine.setup.place,
        }
        for kernel in kernels
        for codec, engine in engines.items()
    ]


def _run_gap(options: argparse.Namespace, program: str, path: Path, *more: str) -> tuple[float, str]:
    """Return the median seconds of a GAP program's trials, and what it printed about its last result."""
    command = [options.gap / program, "-f", path, "-n", str(options.trials + 1), "-a", *more]
    environment = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    trials = [float(found) for found in re.findall(r"Trial Time:\s+([0-9.]+)", text)]
    return statistics.median(trials[1:]), text


def _run_bfs(engine: CpuEngine, graph: Graph, source: int, trials: int, gap_text: str) -> float:
    """Return the median seconds of ``trials`` searches, verified and compared with what GAP printed."""
    results = [engine.bfs(source) for _ in range(trials + 1)]
    validate_tree(graph, source, results[-1].levels, results[-1].parents)
    record = results[-1].record
    _require(gap_text, r"BFS Tree has (\d+) nodes and (\d+) edges", (record.reached, record.edges))
    return statistics.median(result.record.seconds for result in results[1:])


def _run_components(engine: CpuEngine, graph: Graph, trials: int, gap_text: str) -> float:
    """Return the median seconds of ``trials`` runs, verified and compared with what GAP printed."""
    results = [engine.connected_components() for _ in range(trials + 1)]
    validate_labels(graph, results[-1].labels)
    _require(gap_text, r"There are (\d+) components", (results[-1].record.components,))
    return statistics.median(result.record.seconds for result in results[1:])


def _require(text: str, pattern: str, values: tuple[int, ...]) -> None:
    found = re.search(pattern, text)
    if found is None or tuple(map(int, found.groups())) != values:
        raise SystemExit(f"GAP says {found.group() if found else 'nothing'}, bigbfs found {values}")


def write_table(page: Path, rows: list[dict[str, Any]]) -> None:
    """Put ``rows`` into the table of the Markdown ``page``: in the place of those for the same work, or at its end.

    A page without such a table gets one at its end.
    """
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    if HEADER not in lines:
        lines += [HEADER, "|" + "---|" * HEADER.count(" | ") + "---|"]
    start = lines.index(HEADER) + 2
    end = next((i for i in range(start, len(lines)) if not lines[i].startswith("|")), len(lines))
    table = {_key(line): line for line in lines[start:end]}
    for row in rows:
        line = (
            f"| {row['graph']} | {row['m'] / 1e6:.3g} M | {row['kernel']} | {row['codec']} | {row['gap'] * 1e3:.3g} | "
            f"{row['bigbfs'] * 1e3:.3g} | {row['ratio']:.1f} | {row['place'] * 1e3:.0f} |"
        )
        table[_key(line)] = line
    page.write_text("\n".join([*lines[:start], *table.values(), *lines[end:]]) + "\n", encoding="utf-8")


def _key(line: str) -> tuple[str, ...]:
    """Return graph, kernel and rows of a line of the table; of a graph made by GAP, what its file is called."""
    graph, _, kernel, rows = (cell.strip() for cell in line.split("|")[1:5])
    return re.sub(r"^(\w+) (\d+)$", r"\1-\2-16", graph.lower()), kernel, rows


def _print_table(rows: list[dict[str, Any]]) -> None:
    print(
        f"{'graph':<18}{'kernel':<8}{'rows':<8}{'GAP ms':>9}{'bigbfs ms':>11}{'ratio':>8}{'place ms':>10}",
        file=sys.stderr,
    )
    for row in rows:
        print(
            f"{row['graph']:<18}{row['kernel']:<8}{row['codec']:<8}{row['gap'] * 1e3:>9.2f}{row['bigbfs'] * 1e3:>11.2f}"
            f"{row['ratio']:>8.2f}{row['place'] * 1e3:>10.1f}",
            file=sys.stderr,
        )


if __name__ == "__main__":
    sys.exit(main())
