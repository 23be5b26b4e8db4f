"""A suite for ranks, read from TOML: ``[[rows]]`` for GPUs, ``[[dry]]`` of the same shapes, small, for CPU ranks.

A row is one kind of graph, run on several numbers of ranks. What is measured by itself is a :class:`Measurement`: one
work of a row, by one number of ranks, on the graph that this number gets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log2
from pathlib import Path
from typing import Any

from bigbfs.config import from_table, read_toml
from bigbfs.errors import ConfigError
from bigbfs.generate.catalogue import find

WORKS = ("bfs", "cc")
KINDS = ("times", "efficiency", "place", "stays")
RESIDENCIES = ("host", "vram", "mapped")
ASKED = ("kind", "order", "codec", "residency", "sources", "trials", "threads", "strategy")
"""What of a row decides what is measured; with others, it is measured anew."""

SUFFIXES = {"plain": ".csrbin", "varint": ".ccsr"}


@dataclass(frozen=True)
class Bar:
    """What is to be reached by ``ranks`` ranks.

    Attributes
    ----------
    work, ranks
        Of which measurement.
    kind
        ``"times"``: so many times as fast as one, at least. ``"efficiency"``: the same where the graph grows with the
        ranks. ``"place"``: placed in so much of the time that one takes, at most. ``"stays"``: runs on one.
    bound
        How much.
    against
        Row whose run by one is the measure; "": this row's own.
    """

    work: str
    ranks: int
    kind: str
    bound: float = 1.0
    against: str = ""

    def __post_init__(self) -> None:
        """Refuse what nothing could be held against."""
        _choose("work", self.work, WORKS)
        _choose("kind", self.kind, KINDS)


@dataclass(frozen=True)
class Row:
    """One graph of the suite, or one for each number of ranks, and what is run on it.

    Attributes
    ----------
    name
        Name in the results.
    kind, parameters, order, codec
        Of ``bigbfs generate``.
    grow
        Parameter that grows by one each time the ranks double (weak scaling); "": the graph stays the same.
    largest
        The scale is the largest one up to that of ``parameters`` for which the machine has room.
    residency
        ``"host"``: CPU ranks; else where each GPU has its edges.
    works, counts
        What is run, by how many ranks or GPUs.
    sources, trials
        Random sources with an edge; runs of each, and of the components.
    threads
        Of a CPU rank.
    strategy
        Of BFS.
    picoseconds
        What one GPU takes for each vertex of the graph: ``bfs``, ``cc``, ``place``; input of the prediction.
    origin
        Where these come from.
    levels
        Of a search, about.
    bars
        What is to be reached.
    """

    name: str
    kind: str
    parameters: dict[str, Any]
    order: str = "original"
    codec: str = "plain"
    grow: str = ""
    largest: bool = False
    residency: str = "host"
    works: tuple[str, ...] = ("bfs",)
    counts: tuple[int, ...] = (1, 2, 4)
    sources: int = 8
    trials: int = 3
    threads: int = 1
    strategy: str = "auto"
    picoseconds: dict[str, Any] = field(default_factory=dict)
    origin: str = ""
    levels: int = 6
    bars: tuple[Bar, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        for name, known in (("codec", tuple(SUFFIXES)), ("residency", RESIDENCIES), ("order", ("original", "degree"))):
            _choose(name, getattr(self, name), known)
        for work in self.works:
            _choose("works", work, WORKS)
        if not self.works or not self.counts or min(self.counts) < 1 or self.sources < 1 or self.trials < 1:
            raise ConfigError("works and counts name one at least, and sources, trials and counts are above 0")
        if (self.largest or self.grow) and (self.grow or "scale") not in self.parameters:
            raise ConfigError(f"parameters lack {self.grow or 'scale'!r}, which {self.name!r} changes")
        if self.grow and any(count & (count - 1) for count in self.counts):
            raise ConfigError(f"counts is {list(self.counts)}; a graph that grows needs powers of two")
        if self.residency != "host" and not set(self.works) <= set(self.picoseconds):
            raise ConfigError(f"picoseconds lacks one of {', '.join(self.works)}")
        find(self.kind)

    def may_stay(self, work: str) -> bool:
        """Return whether ``work`` may run on one rank though several are asked for: that is its bar."""
        return any(bar.kind == "stays" and bar.work == work for bar in self.bars)

    @property
    def on_gpus(self) -> bool:
        """Whether its ranks are GPUs."""
        return self.residency != "host"

    def parameters_for(self, count: int) -> dict[str, Any]:
        """Return the parameters of the graph for ``count`` ranks."""
        return self.parameters | ({self.grow: self.parameters[self.grow] + int(log2(count))} if self.grow else {})


@dataclass(frozen=True)
class Measurement:
    """``work`` of ``row`` by ``ranks`` ranks, on the graph of ``parameters``."""

    row: Row
    work: str
    ranks: int
    parameters: dict[str, Any]
    seed: int

    def file(self) -> str:
        """Return the name of the graph's file."""
        words = [self.row.kind, *(f"{name}={value}" for name, value in sorted(self.parameters.items()))]
        return "-".join([*words, self.row.order, f"seed={self.seed}"]) + SUFFIXES[self.row.codec]

    def asked(self) -> dict[str, Any]:
        """Return what is asked for, as it stands in a line of results; bars and inputs of predictions are left out."""
        settings = {name: getattr(self.row, name) for name in ASKED}
        return settings | {"parameters": self.parameters, "seed": self.seed}


@dataclass(frozen=True)
class Suite:
    """``rows`` for GPUs and ``dry`` ones for CPU ranks; ``seed`` of graphs and sources."""

    seed: int
    rows: tuple[Row, ...] = ()
    dry: tuple[Row, ...] = ()


def read(path: Path) -> Suite:
    """Return the suite in the TOML file ``path``.

    Raises
    ------
    FileAccessError, ConfigError
        It cannot be read, or is no suite.
    """
    table = read_toml(path)
    for section in ("rows", "dry"):
        given = table.get(section, [])
        if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
            raise ConfigError(f"{path}: key {section!r} must be [[{section}]] tables")
        table[section] = [_row(row, f"{path}, {section} {number}") for number, row in enumerate(given, 1)]
        names = [row.name for row in table[section]]
        if len(set(names)) < len(names):
            raise ConfigError(f"{path}: two of [[{section}]] have one name")
    return from_table(Suite, table, str(path))


def measurements(row: Row, seed: int) -> Iterator[Measurement]:
    """Yield what ``row`` asks for, by numbers of ranks, so that what one rank takes is known first."""
    for count in row.counts:
        for work in row.works:
            yield Measurement(row, work, count, row.parameters_for(count), seed)


def _row(table: dict[str, Any], where: str) -> Row:
    bars = table.get("bars", [])
    if not isinstance(bars, list) or not all(isinstance(bar, dict) for bar in bars):
        raise ConfigError(f"{where}: key 'bars' must be a list of tables")
    made = [from_table(Bar, bar, f"{where}, bar {number}") for number, bar in enumerate(bars, 1)]
    return from_table(Row, table | {"bars": made}, where)


def _choose(name: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ConfigError(f"{name} is {given!r}; choose from {', '.join(known)}")
