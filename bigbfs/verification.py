"""Check every algorithm x backend x encoding x residency against the reference, on any set of graphs.

A case is one run of one algorithm on one graph. A BFS is right when its levels equal the reference's and its parents
pass the Graph500 rules; components are right when the labels equal the reference's; both only with the right counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bigbfs import api
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.errors import DoesNotFitError, VerificationError
from bigbfs.graph.graph import Graph

CODECS = ("plain", "varint")


@dataclass(frozen=True)
class Setting:
    """One way to run: a backend, where its edges live, an encoding, a strategy."""

    backend: str
    residency: str
    codec: str
    strategy: str


@dataclass
class Tally:
    """What was found for one algorithm under one setting."""

    algorithm: str
    setting: Setting
    graphs: int = 0
    runs: int = 0
    differences: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def settings(backends: tuple[str, ...], strategies: tuple[str, ...]) -> Iterator[Setting]:
    """Yield every setting of the ``backends`` present."""
    for backend in backends:
        for residency in ("vram", "mapped", "streamed") if backend == "gpu" else ("auto",):
            for codec in CODECS:
                for strategy in strategies:
                    yield Setting(backend, residency, codec, strategy)


def sources_of(graph: Graph, count: int, seed: int = 1) -> list[int]:
    """Return up to ``count`` different internal vertices: first, last, the largest hub, then random ones."""
    if graph.n == 0:
        return []
    first = [0, graph.n - 1, int(np.argmax(graph.degrees()))]
    random = np.random.default_rng(seed).integers(0, graph.n, count).tolist()
    return list(dict.fromkeys(first + random))[:count]


class Expected:
    """What the reference says of one graph; computed once, compared with every setting."""

    def __init__(self, name: str, graph: Graph, sources: int) -> None:
        self.name = name
        self.graphs = {"plain": graph.decompress(), "varint": graph.compress()}
        plain = self.graphs["plain"]
        self.levels = {source: reference_bfs(plain, source)[0] for source in sources_of(plain, sources)}
        self.labels = reference_components(plain)

    def check(self, setting: Setting) -> tuple[Tally, Tally]:
        """Run BFS from every source and the components under ``setting``; return what was found."""
        graph = self.graphs[setting.codec]
        bfs, cc = Tally("bfs", setting, graphs=1), Tally("cc", setting, graphs=1)
        try:
            with api.engine(
                graph, backend=setting.backend, residency=setting.residency, strategy=setting.strategy
            ) as engine:
                for source, levels in self.levels.items():
                    bfs.runs += 1
                    bfs.differences += self._check_bfs(engine, graph, source, levels)
                cc.runs += 1
                cc.differences += self._check_components(engine)
        except DoesNotFitError as error:
            for tally in (bfs, cc):
                tally.left_out.append(f"{self.name}: {str(error).splitlines()[0]}")
        return bfs, cc

    def _check_bfs(self, engine: api.Engine, graph: Graph, source: int, expected: np.ndarray) -> list[str]:
        result = engine.bfs(source)
        where = f"{self.name}, source {source}"
        wrong = np.flatnonzero(result.levels != expected)
        if len(wrong):
            return [_first(where, "level", wrong, result.levels, expected)]
        try:
            validate_tree(graph, source, result.levels, result.parents)
        except VerificationError as error:
            return [f"{where}: {error}"]
        record = result.record
        have = (record.source, record.reached, record.depth, record.edges)
        want = (source, int((expected >= 0).sum()), int(expected.max()), int(graph.degrees()[expected >= 0].sum()))
        return [] if have == want else [f"{where}: source, reached, depth, edges are {have}, reference {want}"]

    def _check_components(self, engine: api.Engine) -> list[str]:
        result = engine.connected_components()
        wrong = np.flatnonzero(result.labels != self.labels)
        if len(wrong):
            return [_first(self.name, "label", wrong, result.labels, self.labels)]
        sizes = np.unique(self.labels, return_counts=True)[1]
        have, want = (result.record.components, result.record.largest), (len(sizes), int(sizes.max(initial=0)))
        return [] if have == want else [f"{self.name}: components and largest are {have}, reference {want}"]


def _first(where: str, what: str, wrong: np.ndarray, have: np.ndarray, want: np.ndarray) -> str:
    at = int(wrong[0])
    return f"{where}: {len(wrong)} {what}s differ, first at vertex {at}: have {have[at]}, reference {want[at]}"


def merge(tallies: list[Tally]) -> list[Tally]:
    """Add up the tallies of many graphs: one for each algorithm and setting, in order of first appearance."""
    merged: dict[tuple[str, Setting], Tally] = {}
    for tally in tallies:
        total = merged.setdefault((tally.algorithm, tally.setting), Tally(tally.algorithm, tally.setting))
        total.graphs += tally.graphs
        total.runs += tally.runs
        total.differences += tally.differences
        total.left_out += tally.left_out
    return list(merged.values())
