"""Check every algorithm x backend x encoding x residency x strategy against the reference, on any set of graphs.

A case is one run of one algorithm on one graph. What is right is for the oracle of the algorithm to say, beside it in
its folder. Algorithms and strategies come from their registries; where one cannot run is left out by its own
declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bigbfs import api
from bigbfs.algorithms import ALGORITHMS
from bigbfs.algorithms.registry import Algorithm, Oracle
from bigbfs.errors import DoesNotFitError, UsageError
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


class Expected:
    """What the references say of one graph; computed once, compared with every setting."""

    def __init__(self, name: str, graph: Graph, runs: int, algorithms: Sequence[Algorithm] = ()) -> None:
        self.name = name
        self.graphs = {"plain": graph.decompress(), "varint": graph.compress()}
        self.oracles: dict[str, Oracle] = {}
        for algorithm in algorithms or ALGORITHMS.values():
            if algorithm.fits(graph):
                self.oracles[algorithm.name] = algorithm.part("oracle")(self.graphs["plain"], runs)

    def check(self, setting: Setting) -> tuple[Tally, ...]:
        """Run every algorithm under ``setting``; return what was found."""
        graph = self.graphs[setting.codec]
        work = {name: list(oracle.work(setting.strategy)) for name, oracle in self.oracles.items()}
        usable = {name: items for name, items in work.items() if items and runs_there(items[0], setting)}
        tallies = {name: Tally(name, setting, graphs=1) for name in usable}
        if not usable:
            return ()
        first = [items[0] for items in usable.values()]
        try:
            with api.engine(graph, backend=setting.backend, residency=setting.residency, work=first) as engine:
                for name, items in usable.items():
                    for each in items:
                        tallies[name].runs += 1
                        wrong = self.oracles[name].differences(each, engine.run_internal(each))
                        tallies[name].differences += [f"{self.name}: {line}" for line in wrong]
        except DoesNotFitError as error:
            for tally in tallies.values():
                tally.left_out.append(f"{self.name}: {str(error).splitlines()[0]}")
        return tuple(tallies.values())


def runs_there(work: Any, setting: Setting) -> bool:
    """Return whether ``work`` can run under ``setting``, by its own declaration."""
    try:
        work.require_backend(setting.backend, "host" if setting.backend == "cpu" else setting.residency)
    except UsageError:
        return False
    return True


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
