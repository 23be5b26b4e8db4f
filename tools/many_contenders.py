"""Who takes part in ``compare_many.py``: a turn runs one program once and returns its times and its answer.

``compare_many.py`` says what each of them is given and what its times hold.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench_many import sources_of

import bigbfs
from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.errors import BigBfsError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph

Turn = Callable[[], tuple[float, float, np.ndarray]]
"""Runs once: seconds of the wall and of the processor, and the answer."""

LIBRARIES = {"networkx": "NetworkX", "igraph": "igraph", "networkit": "NetworKit"}
LACKING = {("networkx", "hops"), ("networkit", "hops")}
NO_ANSWER = np.zeros(0)


@dataclass
class Asked:
    """What is compared on one graph: the file for the others, and what they are told."""

    graph: Graph
    file: Path
    folder: Path
    work: str
    threads: int
    width: int
    few: int
    python: Path | None
    libraries: list[str]
    peers: dict[str, Path]
    seconds: float

    @property
    def sources(self) -> np.ndarray:
        """Of ``searches``: as many for each thread as a batch takes."""
        return sources_of(self.graph, self.width * self.threads).astype(np.uint32)


def plain_rows(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and ids."""
    adjacency = graph.decompress().adjacency
    assert isinstance(adjacency, PlainAdjacency)
    return np.asarray(adjacency.indptr), np.asarray(adjacency.indices)


def largest_component(graph: Graph) -> Graph:
    """Return the rows of the largest component, vertices in their order."""
    with CpuEngine(graph) as engine:
        labels = engine.connected_components().labels
    inside = labels == int(np.bincount(labels).argmax())
    _, ids = plain_rows(graph)
    number = np.cumsum(inside) - 1
    ends = np.repeat(inside, graph.degrees())
    indices = number[ids[ends].astype(np.int64)].astype(np.uint32)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(graph.degrees()[inside])])
    made = Graph.from_csr(indptr, indices)
    made.require_valid()
    return made


def call(line: list[str], seconds: float, threads: int) -> str:
    """Return what another program printed.

    Raises
    ------
    BigBfsError
        It fails, or takes longer than ``seconds``.
    """
    about = os.environ | {"OMP_NUM_THREADS": str(threads)}
    about.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(line, stdout=subprocess.PIPE, text=True, timeout=seconds, check=False, env=about)
    except subprocess.TimeoutExpired as error:
        raise BigBfsError(f"{Path(line[0]).name}: more than {seconds:g} s") from error
    if done.returncode:
        raise BigBfsError(f"{line[0]}: ended with exit code {done.returncode}")
    return done.stdout


def our_searches(asked: Asked) -> Turn:
    """Return our turn of ``searches``: the graph is placed, the state allocated."""
    engine = CpuEngine(asked.graph, threads=asked.threads)
    options = ManyOptions(sources=asked.sources, width=asked.width)
    counted = engine.run(ManyOptions(sources=asked.sources, width=asked.width, columns=True))
    sums = np.arange(len(counted.columns)) @ counted.columns
    engine.run(options)

    def turn() -> tuple[float, float, np.ndarray]:
        clock = Clock()
        engine.run(options)
        return *clock.read(), sums

    return turn


def ours(asked: Asked) -> Turn:
    """Return our turn; kernels are compiled by a first one that does not count."""
    if asked.work == "searches":
        return our_searches(asked)
    graph = asked.graph
    how: dict[str, Any] = {"threads": asked.threads, "backend": "cpu"}
    doors: dict[str, Callable[[], Any]] = {
        "closeness": lambda: bigbfs.closeness(graph, **how).values,
        "harmonic": lambda: bigbfs.closeness(graph, kind="harmonic", **how).values,
        "hops": lambda: np.diff(bigbfs.hops(graph, **how).counts),
        "diameter": lambda: bigbfs.diameter(graph, threads=asked.threads),
    }

    def turn() -> tuple[float, float, np.ndarray]:
        clock = Clock()
        found = doors[asked.work]()
        return *clock.read(), np.asarray(found)

    turn()
    return turn


class Clock:
    """Seconds since it was made, of the wall and of this process's threads."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Return both."""
        return time.perf_counter() - self._start[0], time.process_time() - self._start[1]


def single(asked: Asked) -> Turn:
    """Return our single searches from the same sources, one after the other; the first of them alone."""
    engine = CpuEngine(asked.graph, threads=asked.threads)
    few = asked.sources[: asked.few].tolist()
    engine.traverse(few[0])
    scale = len(asked.sources) / len(few)

    def turn() -> tuple[float, float, np.ndarray]:
        clock = Clock()
        for source in few:
            engine.traverse(source)
        seconds, cpu = clock.read()
        return scale * seconds, scale * cpu, NO_ANSWER

    return turn


def ms_bfs(asked: Asked) -> Turn:
    """Return the turn of ms-bfs; closeness is that of all sources."""
    sources, answer = asked.folder / "sources", asked.folder / "answer"
    line = [str(part) for part in (asked.peers["ms-bfs"], asked.file, asked.width, asked.threads, sources, answer)]
    n, centrality = asked.graph.n, asked.work == "closeness"
    wanted = np.arange(n, dtype=np.uint32) if centrality else asked.sources
    with CpuEngine(asked.graph) as engine:
        labels = engine.connected_components().labels
    others = np.bincount(labels, minlength=n)[labels] - 1.0

    def turn() -> tuple[float, float, np.ndarray]:
        wanted.tofile(sources)
        said = json.loads(call(line, asked.seconds, asked.threads).strip().splitlines()[-1])
        sums = np.fromfile(answer, "<u8")[: len(wanted)].astype(np.int64)
        if centrality:
            sums = np.divide(others * (others / (n - 1)), sums, out=np.zeros(n), where=sums > 0)
        return said["seconds"], said["cpu"], sums

    return turn


def f_diam(asked: Asked) -> Turn:
    """Return the turn of F-Diam; the seconds of the processor are those of its other build."""

    def run(name: str) -> dict[str, float]:
        said = call([str(asked.peers[name]), str(asked.file)], asked.seconds, asked.threads)
        found = {key: re.search(rf"{key}: ([0-9.]+)", said) for key in ("runtime", "final diameter")}
        if not all(found.values()):
            raise BigBfsError(f"F-Diam said no {' or '.join(key for key, value in found.items() if not value)}")
        return {key: float(value[1]) for key, value in found.items() if value}

    def turn() -> tuple[float, float, np.ndarray]:
        found = run("f-diam")
        return found["runtime"], run("f-diam-cpu")["runtime"], np.asarray(int(found["final diameter"]))

    return turn


def library(name: str, asked: Asked) -> Turn:
    """Return the turn of a library of another interpreter; ``searches`` from the first few sources alone."""
    sources, answer = asked.folder / "few", asked.folder / f"{name}.npy"
    script = Path(__file__).with_name("peer_many.py")
    line = [str(asked.python), str(script), name, asked.work, str(asked.file), "--threads", str(asked.threads)]
    line += ["--sources", str(sources), "--answer", str(answer)]
    line += ["--directed"] * asked.graph.flags.directed
    scale = len(asked.sources) / asked.few if asked.work == "searches" else 1.0

    def turn() -> tuple[float, float, np.ndarray]:
        asked.sources[: asked.few].tofile(sources)
        said = json.loads(call(line, asked.seconds, asked.threads).strip().splitlines()[-1])
        return scale * said["seconds"], scale * said["cpu"], np.load(answer)

    return turn


def contenders(asked: Asked) -> dict[str, Turn]:
    """Return everyone's turn by name, ours first."""
    found = {"bigbfs": ours(asked)}
    if asked.work == "searches":
        found["bigbfs, single"] = single(asked)
    if "ms-bfs" in asked.peers and asked.work in ("searches", "closeness") and asked.graph.flags.symmetric:
        found["ms-bfs"] = ms_bfs(asked)
    if "f-diam" in asked.peers and asked.work == "diameter":
        found["F-Diam"] = f_diam(asked)
    for name in asked.libraries if asked.python is not None else ():
        if (name, asked.work) not in LACKING and (asked.threads == 1 or name == "networkit"):  # others have one thread
            found[LIBRARIES[name]] = library(name, asked)
    return found
