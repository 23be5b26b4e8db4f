"""Time tables to .csrbin against what people put together: polars or DuckDB, with SciPy; same files, in turn.

The peers are not part of bigbfs: install them in an environment of their own::

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install polars duckdb pyarrow scipy
    python tools/bench_tables.py --peers /tmp/peers/bin/python --trials 5 --work /tmp/tables

Two files of edges drawn at random, in 20 row groups: ``integers`` (int64, snappy; polars reads it), and ``names``
(UUIDs of 36 bytes, zstd, a tenth as many as edges; DuckDB numbers them in their order). Every one makes the same
graph: both directions, no duplicates, no self-loops, rows sorted; vertices and edges must agree. bigbfs also writes its
file to disk; the others stop with the arrays in memory. Each run is a process of its own, and imports are not counted,
nor is the loading of compiled kernels from their cache (a small table is converted before). One round is not counted.
Figures are medians: seconds of the clock, and of the processor, all threads together, which other programs lengthen
less.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bigbfs.report.table import markdown

ROOT = Path(__file__).resolve().parent.parent
GROUPS = 20
VERTICES = 10
"""Edges for each vertex, of both kinds."""

OURS = """
import sys, time
import bigbfs
path, tiny, output, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
bigbfs.convert(tiny, output, force=True, threads=threads)
wall, cpu = time.perf_counter(), time.process_time()
report = bigbfs.convert(path, output, force=True, threads=threads)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(report.vertices, report.edges, wall, cpu)
"""

PEER = """
import sys, time
kind, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
import numpy as np
from scipy.sparse import coo_matrix
if kind == "integers":
    import polars
else:
    import duckdb
    duckdb.execute(f"SET threads={threads}; SET enable_progress_bar=false")
wall, cpu = time.perf_counter(), time.process_time()
if kind == "integers":
    frame = polars.read_parquet(path)
    u, v = frame["source"].to_numpy(), frame["target"].to_numpy()
    n = int(max(u.max(), v.max())) + 1
else:
    duckdb.sql(f"CREATE VIEW e AS SELECT * FROM read_parquet('{path}')")
    duckdb.sql(
        "CREATE TABLE names AS SELECT name, row_number() OVER (ORDER BY name) - 1 AS id FROM "
        "(SELECT source AS name FROM e UNION SELECT target FROM e)"
    )
    found = duckdb.sql(
        "SELECT a.id AS u, b.id AS v FROM e JOIN names a ON e.source = a.name JOIN names b ON e.target = b.name"
    ).fetchnumpy()
    u, v = np.asarray(found["u"]), np.asarray(found["v"])
    n = duckdb.sql("SELECT count(*) FROM names").fetchall()[0][0]
keep = u != v
u, v = u[keep], v[keep]
half = coo_matrix((np.ones(len(u), np.int8), (u, v)), shape=(n, n)).tocsr()
half.data[:] = 1
graph = half + half.T.tocsr()
graph.sort_indices()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(n if kind == "names" else int((np.diff(graph.indptr) > 0).sum()), graph.nnz, wall, cpu)
"""


class Run(NamedTuple):
    """What a run made, and its seconds: of the clock, of the processor."""

    vertices: int
    edges: int
    wall: float
    cpu: float


def main() -> int:
    """Measure both kinds, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="a Python that has polars, duckdb and scipy")
    parser.add_argument("--kind", choices=("integers", "names"), action="append", help="one of the two alone")
    parser.add_argument("--edges", type=int, help="else 2 x 10^7 of integers, 10^7 of names")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--work", type=Path, help="folder that keeps the tables for the next time")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        for kind in options.kind or ("integers", "names"):
            edges = options.edges or (20_000_000 if kind == "integers" else 10_000_000)
            rows.append(compared(kind, edges, work, options))
    print(f"medians of {options.trials}, {options.threads} threads, seconds (of the processor)")
    print(markdown(["table", "edges", "bigbfs", "the other", "times", "times, processor"], rows))
    return 0


def compared(kind: str, edges: int, work: Path, options: argparse.Namespace) -> list[str]:
    """Return the row of one kind of table."""
    tiny, path = made(kind, 1000, work), made(kind, edges, work)
    with path.open("rb", buffering=0) as file:  # into the page cache
        while file.read(1 << 20):
            pass
    threads = str(options.threads)
    ours = [sys.executable, "-c", OURS, str(path), str(tiny), str(work / f"{kind}.csrbin"), threads]
    theirs = [str(options.peers), "-c", PEER, kind, str(path), threads]
    runs: tuple[list[Run], list[Run]] = ([], [])
    for _ in range(options.trials + 1):
        for command, found in zip((ours, theirs), runs, strict=True):
            found.append(_run(command, threads))
        if runs[0][-1][:2] != runs[1][-1][:2]:
            sys.exit(f"{kind}: bigbfs makes {runs[0][-1]}, the other {runs[1][-1]}")
        print(kind, *(f"{each[-1].wall:.2f} ({each[-1].cpu:.2f})" for each in runs), file=sys.stderr, flush=True)
    wall, cpu = ([statistics.median(run[at] for run in each[1:]) for each in runs] for at in (2, 3))
    told = [f"{a:.2f} ({b:.2f})" for a, b in zip(wall, cpu, strict=True)]
    return [kind, f"{edges:,}", *told, f"{wall[1] / wall[0]:.2f}", f"{cpu[1] / cpu[0]:.2f}"]


def _run(command: list[str], threads: str) -> Run:
    settings = {"OMP_NUM_THREADS": threads, "POLARS_MAX_THREADS": threads}
    settings["PYTHONPATH"] = str(ROOT) if command[0] == sys.executable else ""
    done = subprocess.run(command, env=os.environ | settings, check=True, stdout=subprocess.PIPE, text=True)
    vertices, edges, wall, cpu = done.stdout.split()[-4:]
    return Run(int(vertices), int(edges), float(wall), float(cpu))


def made(kind: str, edges: int, work: Path) -> Path:
    """Return the table of one kind, written where it is not there yet."""
    import pyarrow
    from pyarrow import parquet

    path = work / f"{kind}-{edges}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(1)
    n = max(2, edges // VERTICES)
    ends = rng.integers(0, n, (2, edges))
    if kind == "integers":
        columns = [pyarrow.array(side) for side in ends]
    else:
        digits = np.frombuffer(rng.bytes(16 * n).hex().encode(), np.uint8).reshape(n, 32)
        text = np.insert(digits, [8, 12, 16, 20], ord("-"), axis=1)
        names = pyarrow.array(text.view("S36").ravel(), pyarrow.binary()).cast(pyarrow.string())
        columns = [names.take(pyarrow.array(side)) for side in ends]
    table = pyarrow.table(dict(zip(("source", "target"), columns, strict=True)))
    packing = "snappy" if kind == "integers" else "zstd"
    parquet.write_table(table, path, compression=packing, row_group_size=-(-edges // GROUPS))
    return path


if __name__ == "__main__":
    sys.exit(main())
