"""Suites for ``bigbfs bench bfs``: a TOML file with one ``[[cases]]`` table for each graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.config import from_table, read_toml
from bigbfs.conversion.keywords import ConvertKeywords
from bigbfs.errors import ConfigError, UsageError
from bigbfs.generate import catalogue

_CHOICES = {
    "codecs": ("plain", "varint"),
    "residencies": ("auto", "vram", "mapped"),
    "orders": ("original", "degree"),
    "backends": ("cpu", "gpu", "serial"),
}


@dataclass(frozen=True)
class Case:
    """One graph of a suite and what is run on it.

    Attributes
    ----------
    name
        Name in the results.
    kind, parameters
        Arguments of ``bigbfs.generate.graph``; or else
    file, convert
        a file of the folder BIGBFS_DATA, and the options of its conversion (``bigbfs.conversion.ConvertOptions``).
    strategies, without
        Names; empty: all that can run there; and those left out.
    backends
        ``"cpu"``, ``"gpu"``, ``"serial"`` (the reference); those that are not present are left out.
    codecs, residencies, orders
        Every combination is run; residencies are of GPU runs.
    sources
        Random sources of degree > 0.
    chosen
        Sources by their original ids, instead of random ones.
    trials
        Runs of each source; 0: as many as the command says.
    seconds
        A contender that has run this long gets no further source; 0: as the command says.
    parents
        False: levels alone.
    """

    name: str
    kind: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    file: str = ""
    convert: dict[str, Any] = field(default_factory=dict)
    strategies: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    backends: tuple[str, ...] = ("gpu", "cpu", "serial")
    codecs: tuple[str, ...] = ("plain",)
    residencies: tuple[str, ...] = ("auto",)
    orders: tuple[str, ...] = ("original",)
    sources: int = 8
    chosen: tuple[int, ...] = ()
    trials: int = 0
    seconds: float = 0.0
    parents: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        if bool(self.kind) == bool(self.file):
            raise ConfigError("give kind (a generator) or file (in the folder BIGBFS_DATA), one of them")
        self._require_parameters()
        for name, known in _CHOICES.items():
            self._require(name, known)
        for name in ("strategies", "without"):
            if getattr(self, name):
                self._require(name, tuple(STRATEGIES))
        if self.sources < 1 or self.trials < 0 or self.seconds < 0:
            raise ConfigError(f"sources is {self.sources}, trials {self.trials}, seconds {self.seconds}: too few")

    def _require_parameters(self) -> None:
        """Refuse a graph that cannot be made before any other is measured."""
        try:
            if self.kind:
                catalogue.resolve(catalogue.find(self.kind), self.parameters)
        except UsageError as error:
            raise ConfigError(str(error)) from None
        for key in self.convert:
            if key not in ConvertKeywords.__annotations__:
                near = get_close_matches(key, ConvertKeywords.__annotations__, 1)
                raise ConfigError(f"convert: unknown key {key!r}" + (f"; did you mean {near[0]!r}?" if near else ""))

    def _require(self, name: str, known: tuple[str, ...]) -> None:
        given = getattr(self, name)
        unknown = [value for value in given if value not in known]
        if unknown or not given:
            raise ConfigError(f"{name} is {list(given)}; choose from {', '.join(known)}")


@dataclass(frozen=True)
class Suite:
    """A suite: ``seed`` of the graphs and sources, and the cases."""

    cases: tuple[Case, ...]
    seed: int = 1


def some_of(suite: Suite, names: Sequence[str]) -> Suite:
    """Return ``suite`` with the cases ``names`` alone, in the suite's order; all of them where none is named.

    Raises
    ------
    UsageError
        A name is no case of it.
    """
    known = [case.name for case in suite.cases]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            ways = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(map(repr, known))}"
            raise UsageError(f"the suite has no such case; {ways}", about=(("case", name),))
    return replace(suite, cases=tuple(case for case in suite.cases if not names or case.name in names))


def read_suite(path: Path) -> Suite:
    """Return the suite in the TOML file ``path``.

    Raises
    ------
    FileAccessError
        It cannot be read.
    ConfigError
        It is no suite: no case, an unknown key (the nearest one is named), a value that cannot be, a name twice.
    """
    table = read_toml(path)
    cases = table.get("cases", [])
    if not isinstance(cases, list) or not cases or not all(isinstance(case, dict) for case in cases):
        raise ConfigError(f"{path}: a suite needs at least one [[cases]] table")
    made = [from_table(Case, case, f"{path}, case {number}") for number, case in enumerate(cases, 1)]
    names = [case.name for case in made]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"{path}: two cases are named {twice[0]!r}; rows tell graphs apart by their names")
    return from_table(Suite, table | {"cases": made}, str(path))
