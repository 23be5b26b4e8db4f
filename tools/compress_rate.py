"""Time .csrbin -> .ccsr, and the same step of a conversion from text; two versions of the package in turn, if asked.

    bigbfs generate kronecker --scale 22 -o k22.csrbin
    bigbfs generate kronecker --scale 22 -o k22.txt
    python tools/compress_rate.py k22.csrbin --text k22.txt --trials 7 --against OTHER_CHECKOUT

Every trial is a process of its own, and three times are taken of it: *work*, from the call to the file synced and in
its place (imports, and the loading of compiled kernels from their cache, are not counted: a graph of two edges is
compressed before); *cpu*, user and system seconds from the call to its end; *process*, of its whole life. The ways:

- ``twin``: the .ccsr beside a .csrbin, as ``bigbfs bfs --compressed`` makes it;
- ``convert``: ``bigbfs convert k22.csrbin -o k22.ccsr``;
- ``text``: the phase ``compress`` of ``bigbfs convert k22.txt --compressed``.

One run that is not counted, then ``--trials``; figures are medians.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bigbfs.report.table import markdown

ROOT = Path(__file__).resolve().parent.parent

CHILD = """
import resource, sys, time
from pathlib import Path
import bigbfs
from bigbfs.conversion import ConvertOptions, convert, ensure_compressed
way, source, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
def work(path):
    output = folder / (path.stem + (".csrbin" if way == "text" else ".ccsr"))
    if way == "twin":
        path.with_suffix(".ccsr").unlink(missing_ok=True)
        start, used = time.perf_counter(), cpu()
        ensure_compressed(path)
    else:
        start, used = time.perf_counter(), cpu()
        report = convert([path], output, ConvertOptions(compressed=way == "text", force=True))
    seconds, used = time.perf_counter() - start, cpu() - used
    with bigbfs.open(path.with_suffix(".ccsr") if way == "twin" else output) as graph:
        return graph.m, report.phases["compress"] if way == "text" else seconds, used
tiny = folder / "tiny.csrbin"
bigbfs.Graph.from_csr([0, 1, 2], [1, 0]).save(tiny)
if way == "text":
    tiny = folder / "tiny.txt"
    tiny.write_text("0 1\\n")
work(tiny)
print(*work(source))
"""


def trial(way: str, source: Path, checkout: Path, folder: Path, before: list[str]) -> tuple[int, float, float, float]:
    """Run one process; return edges and the seconds of work, cpu and process."""
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    start = time.perf_counter()
    done = subprocess.run(
        [*before, sys.executable, "-c", CHILD, way, str(source), str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    edges, work, used = done.stdout.split()
    return int(edges), float(work), float(used), seconds


def main() -> None:
    """Time everything and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("graph", type=Path, metavar="GRAPH.csrbin")
    parser.add_argument("--text", type=Path, help="the same graph as text: times the phase compress")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout, timed in turn with this one")
    parser.add_argument("--before", default="", help="a command to run each process under, e.g. 'chrt -f 5'")
    options = parser.parse_args()
    versions = {"this": ROOT} | ({"other": options.against.resolve()} if options.against else {})
    rows = []
    with tempfile.TemporaryDirectory(dir=options.graph.resolve().parent) as name:
        folder = Path(name)
        (folder / "in").mkdir()
        linked = folder / "in" / "g.csrbin"  # the twin is made beside it
        os.link(options.graph, linked)
        for way in ("twin", "convert", *(("text",) if options.text else ())):
            source = options.text.resolve() if way == "text" else linked
            found: dict[str, list[tuple[int, float, float, float]]] = {version: [] for version in versions}
            for turn in range(options.trials + 1):
                for version, checkout in versions.items():
                    out = folder / "out"
                    out.mkdir()
                    measured = trial(way, source, checkout, out, options.before.split())
                    shutil.rmtree(out)
                    if turn:
                        found[version].append(measured)
            for version, trials in found.items():
                edges = trials[0][0]
                work, used, process = (statistics.median(column) for column in list(zip(*trials, strict=True))[1:])
                spread = f"{min(t[1] for t in trials):.2f} to {max(t[1] for t in trials):.2f}"
                rate = f"{edges / work / 1e6:.0f}"
                rows.append([way, version, f"{work:.2f}", spread, f"{used:.2f}", f"{process:.2f}", rate])
    print(markdown(["way", "version", "work s", "least to most", "cpu s", "process s", "M edges/s"], rows))


if __name__ == "__main__":
    main()
