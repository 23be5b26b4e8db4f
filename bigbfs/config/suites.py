"""Bench suites: graphs, and what is run on each."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bigbfs.config.tables import from_table, read_toml
from bigbfs.errors import ConfigError

_CHOICES = {
    "algorithms": ("bfs", "cc"),
    "codecs": ("plain", "varint"),
    "backends": ("cpu", "gpu"),
    "residencies": ("vram", "mapped", "streamed"),
}


@dataclass(frozen=True)
class BenchCase:
    """One graph of a bench suite and what is run on it.

    Attributes
    ----------
    name
        Name in the results.
    kind, parameters
        Arguments of ``bigbfs.generate.graph``.
    algorithms
        ``"bfs"``, ``"cc"`` or both.
    codecs
        ``"plain"``, ``"varint"`` or both.
    backends
        ``"cpu"``, ``"gpu"`` or both; a backend that is not present is left out, and said so.
    residencies
        Of the GPU runs.
    orders
        ``"original"``, ``"degree"`` or both (tools/bench_gpu.py).
    budgets
        Device memory that a run with its edges mapped or streamed may take: ``"all"``, or a size (tools/bench_gpu.py).
    heads
        Groups of heads: -1 stands for the engine's choice; each after the first with few sources (tools/bench_gpu.py).
    strategies
        Of BFS (tools/bench_gpu.py).
    components
        Algorithms and switches of the components: words of ``bigbfs.algorithms.components.options.parse_options``
        (tools/bench_gpu.py).
    sources
        Random sources of degree > 0.
    chosen
        Sources by their original ids, instead of random ones (tools/bench_gpu.py).
    trials
        Runs of each source (the median counts), and of the components.
    """

    name: str
    kind: str
    parameters: dict[str, Any] = field(default_factory=dict)
    algorithms: tuple[str, ...] = ("bfs", "cc")
    codecs: tuple[str, ...] = ("plain", "varint")
    backends: tuple[str, ...] = ("cpu", "gpu")
    residencies: tuple[str, ...] = ("vram", "mapped")
    orders: tuple[str, ...] = ("original",)
    budgets: tuple[str, ...] = ("all",)
    heads: tuple[int, ...] = (-1,)
    strategies: tuple[str, ...] = ("auto",)
    components: tuple[str, ...] = ("afforest",)
    sources: int = 8
    chosen: tuple[int, ...] = ()
    trials: int = 3

    def __post_init__(self) -> None:
        """Refuse what would silently run nothing."""
        for name, known in _CHOICES.items():
            given = getattr(self, name)
            unknown = [value for value in given if value not in known]
            if unknown or not given:
                raise ConfigError(f"{name} is {list(given)}; choose from {', '.join(known)}")
        if self.sources < 1 or self.trials < 1:
            raise ConfigError(f"sources is {self.sources}, trials is {self.trials}; at least 1 of each is run")


@dataclass(frozen=True)
class BenchSuite:
    """A bench suite: ``seed`` of the graphs and sources, and the cases."""

    seed: int
    cases: tuple[BenchCase, ...]


def read_suite(path: str | Path) -> BenchSuite:
    """Return the bench suite in the TOML file ``path``: a ``seed`` and one ``[[cases]]`` table per graph.

    Raises
    ------
    FileAccessError, ConfigError
        It cannot be read, or is no suite.
    """
    table = read_toml(path)
    cases = table.get("cases", [])
    if not isinstance(cases, list) or not cases or not all(isinstance(case, dict) for case in cases):
        raise ConfigError(f"{path}: a suite needs at least one [[cases]] table")
    made = [from_table(BenchCase, case, f"{path}, case {number}") for number, case in enumerate(cases, 1)]
    return from_table(BenchSuite, table | {"cases": made}, str(path))
