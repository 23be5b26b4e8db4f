"""What a profiler counts while each strategy's kernels run: occupancy, DRAM and L2 traffic, instructions.

    python tools/profile_kernels.py GRAPH.csrbin --output rows.jsonl
    python tools/profile_kernels.py --csv ncu.csv [--launches launches.json] GRAPH.csrbin --output rows.jsonl

One process under Nsight Compute runs every strategy once, warm, and writes down what it launches in which order; the
profiler's lines come in that order too. Clocks are left as they are (``--clock-control none``), caches are emptied
before each pass of a kernel, which is the profiler's default: a kernel's times here are not those of a search. With
``--csv`` nothing is run: a log of an earlier run is read. A run that was cut off leaves no order of launches: its log
is told apart by the kernels that begin and end a search, and strategies that were seen whole are kept. *gather* stands
for the kernels of the study of gathering, on the widest level.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.algorithms.internal import internal_engine
from bigbfs.bench import machine
from bigbfs.errors import BigBfsError, FormatError, NoDeviceError
from bigbfs.graph.graph import Graph

METRICS = {
    "nanoseconds": "gpu__time_duration.sum",
    "registers": "launch__registers_per_thread",
    "theoretical": "sm__maximum_warps_per_active_cycle_pct",
    "achieved": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "dram_read": "dram__bytes_read.sum",
    "dram_write": "dram__bytes_write.sum",
    "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_bytes": "lts__t_bytes.sum",
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "compute": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "instructions": "smsp__inst_executed.sum",
}
"""Name in a row -> the profiler's; shares are in per cent."""

SUMS = ("nanoseconds", "dram_read", "dram_write", "l2_bytes", "instructions")
SHARES = ("achieved", "dram", "l2", "compute")
"""Of the time of all launches: a long one counts for more."""

GATHER = "gather"


def parse(text: str) -> list[dict[str, Any]]:
    """Return one object for each launch in what ``ncu --csv --page raw`` has printed: ``kernel`` and the metrics.

    Lines before the table are the profiler's own and the program's; below its head is a line of units. None is what
    the profiler has not counted.

    Raises
    ------
    FormatError
        There is no table, or it has not these metrics.
    """
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if line.startswith('"ID",')), None)
    if first is None:
        said = next((line for line in lines if line.startswith("==ERROR==")), 'no line that begins with "ID"')
        raise FormatError(f"no table of a profiler: {said}")
    rows = csv.DictReader(line for line in lines[first:] if line.startswith('"'))
    missing = {"Kernel Name", METRICS["nanoseconds"]} - set(rows.fieldnames or ())
    if missing:
        raise FormatError(f"a profiler's table without {', '.join(sorted(missing))}: ask for --page raw")
    return [_launch(row) for row in rows if row["ID"]]  # units have no id


def _launch(row: dict[str, str]) -> dict[str, Any]:
    numbers = {name: _number(row.get(metric) or "") for name, metric in METRICS.items()}
    device = row.get("device__attribute_display_name")
    return {"kernel": row["Kernel Name"].partition("(")[0].split()[-1], "device": device, **numbers}


def _number(text: str) -> float | None:
    """Return the value of a cell, written with commas between thousands; None where there is none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def attribute(launches: Iterable[dict[str, Any]], order: Sequence[tuple[str, str]]) -> list[tuple[str, dict[str, Any]]]:
    """Return (strategy, launch): ``order`` holds strategy and kernel of every launch, in the order of the launches.

    Other kernels between them (a library's) are left out.

    Raises
    ------
    FormatError
        The profiler has not seen every launch.
    """
    found, waiting = [], list(order)
    for launch in launches:
        if waiting and launch["kernel"] == waiting[0][1]:
            found.append((waiting.pop(0)[0], launch))
    if waiting:
        raise FormatError(f"the profiler has not seen {len(waiting)} of {len(order)} launches, first {waiting[0]}")
    return found


FIRST, LAST = ("begin_levels", "bfs_traverse"), ("count_levels", "bfs_count")
"""Kernels that begin and end a search."""


def inferred(launches: Iterable[dict[str, Any]], strategies: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return (strategy, launch) of a log without an order: ``strategies`` ran in turn. One that has no end is left out.

    Raises
    ------
    FormatError
        A search has a kernel that its strategy does not launch.
    """
    found: list[tuple[str, dict[str, Any]]] = []
    own: list[dict[str, Any]] = []
    waiting = [name for name in strategies if name != GATHER]
    for launch in launches:
        kernel = launch["kernel"]
        if kernel in FIRST:
            own = []
        own.append(launch)
        if kernel not in LAST or not waiting:
            continue
        name = waiting.pop(0)
        known = {step.kernel for step in STRATEGIES[name].steps} | {*FIRST, *LAST}
        if other := [each["kernel"] for each in own if each["kernel"] not in known]:
            raise FormatError(f"{other[0]} is no kernel of {name}; name the strategies of this log with --strategy")
        found += [(name, each) for each in own]
        own = []
    return found


def summed(pairs: Iterable[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return one row for each kernel of each strategy: sums of what adds up, means over time of shares."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for strategy, launch in pairs:
        groups.setdefault((strategy, launch["kernel"]), []).append(launch)
    rows = []
    for (strategy, kernel), each in groups.items():
        row: dict[str, Any] = {"strategy": strategy, "kernel": kernel, "launches": len(each)}
        row |= {name: _sum(each, name) for name in SUMS}
        row |= {name: each[0][name] for name in ("registers", "theoretical")}
        times = [launch["nanoseconds"] or 0.0 for launch in each]
        for name in SHARES:
            known = None not in [launch[name] for launch in each] and sum(times) > 0
            parts = (t * launch[name] for t, launch in zip(times, each, strict=True)) if known else ()
            row[name] = sum(parts) / sum(times) if known else None
        rows.append(row)
    return rows


def _sum(launches: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [launch[name] for launch in launches]
    return None if None in values else sum(values)


def profiler() -> str:
    """Return the path of Nsight Compute.

    Raises
    ------
    NoDeviceError
        It is not here.
    """
    folders = [*Path("/usr/local").glob("cuda*/bin"), *sorted(Path("/opt/nvidia/nsight-compute").glob("*"))]
    found = shutil.which("ncu") or shutil.which("ncu", path=os.pathsep.join(map(str, folders)))
    if found is None:
        raise NoDeviceError("ncu is not on the PATH; install Nsight Compute, which comes with the CUDA toolkit")
    return found


def run_all(graph: Graph, strategies: Sequence[str], source: int) -> list[tuple[str, str]]:
    """Run every strategy once under the profiler, warm; return (strategy, kernel) of each launch."""
    import cupy
    from studies import gather
    from studies.bed import Bed, specs
    from studies.tree import tree_of

    from bigbfs.engines.gpu.runtime import cuda, cuda_kernel

    order: list[tuple[str, str]] = []
    running: list[str] = []
    plain = cuda_kernel.CudaKernel.__call__

    def noted(kernel: Any, *arguments: Any, **more: Any) -> None:
        order.extend((name, kernel.name) for name in running)
        plain(kernel, *arguments, **more)

    def watched(name: str, work: Any) -> None:
        work()
        running.append(name)
        cupy.cuda.profiler.start()
        work()
        cupy.cuda.runtime.deviceSynchronize()
        cupy.cuda.profiler.stop()
        running.clear()

    mock.patch.object(cuda_kernel.CudaKernel, "__call__", noted).start()
    for strategy in (name for name in strategies if name != GATHER):
        work = BfsOptions(source, strategy=strategy, fetch=False)
        with internal_engine(graph, backend="gpu", work=(work,), strategy=strategy, residency="vram") as engine:
            watched(strategy, lambda engine=engine, work=work: engine.run(work))
    if GATHER in strategies:
        runtime, tree = cuda.CudaRuntime(), tree_of(graph, source)
        level = int(np.argmax(np.add.reduceat(graph.degrees()[tree.order].astype(np.int64), tree.begins[:-1])))
        with Bed(runtime, graph, tree) as bed:
            kernels = {spec.name: bed.kernel(spec) for spec in specs("gather.cu", *gather.WAYS)}
            bed.begin()
            for name, launch in kernels.items():
                threads = int(tree.sizes[level]) * gather.WAYS[name]
                watched(GATHER, lambda launch=launch, threads=threads: launch(level, threads))
        runtime.close()
    return order


def profile(graph: Path, strategies: Sequence[str], source: int, folder: Path) -> str:
    """Run this tool on ``graph`` under the profiler; leave ``launches.json`` in ``folder``, and return its log.

    Raises
    ------
    NoDeviceError
        The profiler is not here, or cannot count.
    """
    log = folder / "ncu.csv"
    (folder / "launches.json").unlink(missing_ok=True)
    tool = [sys.executable, __file__, str(graph), "--run", str(folder / "launches.json"), "--source", str(source)]
    tool += [word for name in strategies for word in ("--strategy", name)]
    line = [profiler(), "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    line += ["--profile-from-start", "off", "--target-processes", "all", "--log-file", str(log)]
    with subprocess.Popen([*line, "--metrics", ",".join(METRICS.values()), *tool]) as work:
        try:
            work.wait()
        except KeyboardInterrupt:  # the profiler has got it too, and writes down what it has
            work.wait()
    text = log.read_text() if log.exists() else ""
    cut_off = "Trying to shutdown target application" in text
    if not cut_off and (work.returncode or not (folder / "launches.json").exists()):
        said = next((line for line in text.splitlines() if line.startswith("==ERROR==")), f"exit {work.returncode}")
        raise NoDeviceError(f"the profiler cannot count here: {said}")
    return text


def main() -> None:
    """Profile, or read a log, and write a row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("graph", type=Path)
    parser.add_argument("--strategy", choices=[*STRATEGIES, GATHER], action="append", help="repeatable; default: all")
    parser.add_argument("--source", type=int, help="internal; default: the vertex of the largest degree")
    parser.add_argument("--output", type=Path, help="JSON lines, appended")
    parser.add_argument("--commit", default="")
    parser.add_argument("--csv", type=Path, help="a log of the profiler, instead of a run")
    parser.add_argument("--launches", type=Path, help="that run's launches; default: from the kernels")
    parser.add_argument("--keep", type=Path, help="folder for log and launches")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    strategies = asked.strategy or [*(name for name in STRATEGIES if "gpu" in STRATEGIES[name].backends), GATHER]
    with Graph.open(asked.graph) as graph:
        graph.require_valid()
        source = int(graph.degrees().argmax()) if asked.source is None else asked.source
        if asked.run:
            asked.run.write_text(json.dumps(run_all(graph, strategies, source)))
            return
        about = {"graph": asked.graph.stem, "vertices": graph.n, "edges": graph.m}
        about["sources"] = [int(graph.original(source))]
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        text = asked.csv.read_text() if asked.csv else profile(asked.graph, strategies, source, folder)
        listed = asked.launches or (Path() if asked.csv else folder / "launches.json")
        order = json.loads(listed.read_text()) if listed.is_file() else None
    launches = parse(text)
    pairs = inferred(launches, strategies) if order is None else attribute(launches, [(s, k) for s, k in order])
    kernels = summed(pairs)
    about["device"] = next((each["device"] for each in launches if each["device"]), None)
    row = {"study": "profile", "commit": asked.commit or machine.commit(), **about, "found": {"kernels": kernels}}
    if asked.output:
        with asked.output.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row, separators=(",", ":")) + "\n")
    for line in kernels:
        print(line["strategy"], line["kernel"], line["launches"], line["nanoseconds"], line["achieved"], line["dram"])


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"profile_kernels: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
