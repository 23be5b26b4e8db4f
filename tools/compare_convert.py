"""Time text -> CSR against pandas, polars, DuckDB, pyarrow (each with SciPy) and GAP's converter: same file, in turn.

The peers are not part of bigbfs: install them in an environment of their own, build GAP outside the repository::

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install pandas polars duckdb pyarrow scipy
    git clone https://github.com/sbeamer/gapbs /tmp/gap && make -C /tmp/gap converter
    python tools/compare_convert.py --peers /tmp/peers/bin/python --gap /tmp/gap --scale 20 --scale 22 --road 4000000

Every one reads the same text and makes the same graph: both directions, no duplicates, no self-loops, sorted rows;
n and m must agree (ids without edges count for those that do not renumber). bigbfs and GAP also write their file to
disk; the others stop with the arrays in memory. Each run is a process of its own, and two times are taken:

- *work*: from the call to the last array (or byte) made. Imports of the libraries are not counted, nor is the loading
  of compiled kernels from their cache, which bigbfs does at its first call (a file of three lines is converted before).
- *process*: from the start of the process to its end, imports and loading included.

One run that is not counted, then ``--trials``; figures are medians. ``--table`` writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bigbfs.formats.atomic import replacing
from bigbfs.report.table import markdown

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ("pandas", "polars", "duckdb", "pyarrow")

OURS = """
import sys, time
import bigbfs
path, tiny, output, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
bigbfs.convert(tiny, output, force=True, threads=threads)
start = time.perf_counter()
report = bigbfs.convert(path, output, force=True, threads=threads)
seconds = time.perf_counter() - start
print(report.vertices, report.edges, seconds, seconds, report.peak_rss_bytes)
"""

PEER = """
import resource, sys, time
name, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
import numpy as np
from scipy.sparse import coo_matrix
if name == "pandas":
    import pandas
elif name == "polars":
    import polars
elif name == "duckdb":
    import duckdb
else:
    import pyarrow, pyarrow.csv
start = time.perf_counter()
skipped = 0
with open(path, "rb") as file:
    while file.readline().startswith(b"#"):
        skipped += 1
if name == "pandas":
    table = pandas.read_csv(path, sep=" ", header=None, names=["u", "v"], dtype=np.int32, skiprows=skipped, engine="c")
    u, v = table["u"].to_numpy(), table["v"].to_numpy()
elif name == "polars":
    schema = {"u": polars.Int32, "v": polars.Int32}
    table = polars.read_csv(path, separator=" ", has_header=False, schema=schema, skip_rows=skipped)
    u, v = table["u"].to_numpy(), table["v"].to_numpy()
elif name == "duckdb":
    duckdb.execute(f"SET threads={threads}")
    table = duckdb.sql(
        f"SELECT * FROM read_csv('{path}', delim=' ', header=false, skip={skipped}, auto_detect=false, "
        "columns={'u': 'INTEGER', 'v': 'INTEGER'})"
    ).fetchnumpy()
    u, v = np.asarray(table["u"]), np.asarray(table["v"])
else:
    pyarrow.set_cpu_count(threads)
    table = pyarrow.csv.read_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(skip_rows=skipped, column_names=["u", "v"], block_size=8 << 20),
        parse_options=pyarrow.csv.ParseOptions(delimiter=" "),
        convert_options=pyarrow.csv.ConvertOptions(column_types={"u": pyarrow.int32(), "v": pyarrow.int32()}),
    )
    u, v = table["u"].to_numpy(), table["v"].to_numpy()
read = time.perf_counter() - start
keep = u != v
u, v = u[keep], v[keep]
n = int(max(u.max(), v.max())) + 1
ones = np.ones(len(u), np.int8)
half = coo_matrix((ones, (u, v)), shape=(n, n)).tocsr()
half.data[:] = 1
graph = half + half.T.tocsr()
graph.sort_indices()
seconds = time.perf_counter() - start
used = int((np.diff(graph.indptr) > 0).sum())
print(used, graph.nnz, seconds, read, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""

Run = dict[str, Any]


def main() -> int:
    """Compare on every graph asked for; 1 where bigbfs is not ``--bar`` times as fast as the fastest."""
    options = _options()
    rows: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        for path in [*options.file, *_made(options, work)]:
            rows += _compare(options, path, work)
    text = _page(rows, options)
    print(text, file=sys.stderr)
    if options.table:
        with replacing(options.table) as stream:
            stream.write(text.encode())
    return 1 if any(row["ratio"] < options.bar for row in rows if row["tool"] != "bigbfs") else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peers", type=Path, help="a Python that has pandas, polars, duckdb, pyarrow and scipy")
    parser.add_argument("--gap", type=Path, help="folder with GAP's program converter")
    parser.add_argument(
        "--scale", type=int, action="append", default=[], help="Kronecker, 2^SCALE vertices; repeatable"
    )
    parser.add_argument("--road", type=int, action="append", default=[], help="road-like, vertices; repeatable")
    parser.add_argument(
        "--file", type=Path, action="append", default=[], help="text, two ids and one blank; repeatable"
    )
    parser.add_argument("--tool", action="append", help="only these; default: all that are there")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--before", default="", help="command put before each run (chrt -f 5)")
    parser.add_argument("--bar", type=float, default=0.0, help="exit 1 if bigbfs is not this many times as fast")
    parser.add_argument("--work", type=Path, help="folder that keeps the texts for the next time")
    parser.add_argument("--table", type=Path, help="write the page here (docs/results/convert.md)")
    return parser.parse_args()


def _made(options: argparse.Namespace, work: Path) -> list[Path]:
    """Generate the texts that are not in ``work`` yet."""
    wanted = [(f"kronecker-{s}", ["kronecker", "--scale", str(s), "--edge-factor", "16"]) for s in options.scale]
    wanted += [(f"road-{n}", ["road", "--vertices", str(n), "--permute"]) for n in options.road]
    paths = []
    for name, arguments in wanted:
        path = work / f"{name}.txt"
        if not path.exists():
            command = [sys.executable, "-m", "bigbfs", "generate", *arguments, "--seed", "1", "-o", str(path)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        paths.append(path)
    return paths


def _compare(options: argparse.Namespace, path: Path, work: Path) -> list[Run]:
    tools = ["bigbfs"] + list(LIBRARIES if options.peers else ()) + (["gap"] if options.gap else [])
    tools = [tool for tool in tools if not options.tool or tool in options.tool or tool == "bigbfs"]
    _warm(path)
    runs: dict[str, list[Run]] = {tool: [] for tool in tools}
    for trial in range(options.trials + 1):
        for tool in tools:
            found = _run(tool, options, path, work)
            if trial:
                runs[tool].append(found)
            print(f"{path.stem} {tool}: {found['seconds']:.2f} s", file=sys.stderr, flush=True)
    rows = []
    ours = statistics.median(run["seconds"] for run in runs["bigbfs"])
    for tool in tools:
        first = runs[tool][0]
        if first["edges"] != runs["bigbfs"][0]["edges"] or first["vertices"] not in (
            runs["bigbfs"][0]["vertices"],
            None,
        ):
            raise SystemExit(f"{tool} finds {first}, bigbfs {runs['bigbfs'][0]}")
        seconds = statistics.median(run["seconds"] for run in runs[tool])
        row = {"graph": path.stem, "bytes": path.stat().st_size, "tool": tool, "ratio": seconds / ours}
        process = statistics.median(run["process"] for run in runs[tool])
        row |= first | {"seconds": seconds, "process": process, "peak": max(run["peak"] for run in runs[tool])}
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


def _warm(path: Path) -> None:
    """Read the file into the page cache, piece by piece: a child inherits the largest memory of who started it."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def _run(tool: str, options: argparse.Namespace, path: Path, work: Path) -> Run:
    """Run one tool once; return vertices (with an edge; None: not told), edges, seconds, and peak memory."""
    environment = os.environ | {"OMP_NUM_THREADS": str(options.threads), "POLARS_MAX_THREADS": str(options.threads)}
    before = options.before.split()
    threads = str(options.threads)
    start = time.perf_counter()
    if tool == "gap":
        return _run_gap(options, path, work, environment)
    if tool == "bigbfs":
        output = work / "compared.csrbin"
        command = [sys.executable, "-m", "bigbfs", "convert", str(path), "-o", str(output), "--force"]
        _output([*before, *command, "--threads", threads], environment, cwd=ROOT)
        process = time.perf_counter() - start
        tiny = work / "tiny.txt"
        tiny.write_text("0 1\n5 7\n1 5\n")
        text = _output([*before, sys.executable, "-c", OURS, path, tiny, output, threads], environment, cwd=ROOT)
        output.unlink()
    else:
        text = _output([*before, options.peers, "-c", PEER, tool, path, threads], environment)
        process = time.perf_counter() - start
    vertices, edges, seconds, _, peak = text.split()
    return {"vertices": int(vertices), "edges": int(edges), "seconds": float(seconds), "process": process} | {
        "peak": int(peak)
    }


def _run_gap(options: argparse.Namespace, path: Path, work: Path, environment: dict[str, str]) -> Run:
    """Run GAP's converter: text to .sg, both directions. It takes no comment lines: those are cut off before."""
    bare = work / f"{path.stem}.el"
    if not bare.exists():
        with path.open("rb") as lines, bare.open("wb") as copy:
            copy.writelines(line for line in lines if not line.startswith(b"#"))
    output = work / "compared.sg"
    command = ["/usr/bin/time", "-f", "%M", options.gap / "converter", "-f", bare, "-s", "-b", output]
    start_time = time.perf_counter()
    done = subprocess.run(
        [*options.before.split(), *command], check=True, capture_output=True, text=True, env=environment
    )
    seconds = time.perf_counter() - start_time
    with output.open("rb") as file:
        edges = int.from_bytes(file.read(9)[1:], "little")
    output.unlink()
    return {
        "vertices": None,
        "edges": edges,
        "seconds": seconds,
        "process": seconds,
        "peak": int(done.stderr.split()[-1]) * 1024,
    }


def _output(command: list[Any], environment: dict[str, str], **more: Any) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment, **more).stdout


def _page(rows: list[Run], options: argparse.Namespace) -> str:
    """Return the Markdown page."""
    cells = [
        [
            row["graph"],
            f"{row['bytes'] / 1e6:,.0f}",
            f"{row['edges'] / 1e6:.1f}",
            row["tool"],
            f"{row['seconds']:.2f}",
            f"{row['process']:.2f}",
            f"{row['edges'] / row['seconds'] / 1e6:.1f}",
            f"{row['peak'] / 1e6:,.0f}",
            f"{row['ratio']:.2f}",
        ]
        for row in rows
    ]
    header = (
        "graph",
        "MB of text",
        "M edges stored",
        "tool",
        "work s",
        "process s",
        "M edges/s",
        "peak MB",
        "work / bigbfs",
    )
    return (
        "# Text to CSR, against others\n\n"
        f"Made by `tools/compare_convert.py` ({options.threads} threads, {platform.machine()}, median of "
        f"{options.trials}, page cache warm).\n"
        "The same graph everywhere: both directions, no duplicates, no self-loops, sorted rows; n and m compared.\n"
        "bigbfs and GAP write their file (bigbfs with checksums, synced); the others end with arrays in memory:\n"
        "pandas, polars, DuckDB and pyarrow read the text, SciPy builds the CSR. `work` counts no imports and no\n"
        "loading of compiled kernels, `process` is the whole life of the process.\n\n"
        f"{markdown(header, cells)}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
