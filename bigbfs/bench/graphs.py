"""The graphs of a bench, as files: those named on the command line, generated ones, converted ones."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from bigbfs import generate
from bigbfs.bench.suite import Case
from bigbfs.conversion.cache import order_in
from bigbfs.conversion.keywords import convert
from bigbfs.errors import ConfigError, UsageError
from bigbfs.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class Variant:
    """One file of a graph: its rows ``codec``, the ``order`` of its vertices."""

    path: Path
    codec: str
    order: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A graph ready to be measured: its ``name``, what it is (``about``), and its files; the first one is asked."""

    name: str
    about: str
    variants: tuple[Variant, ...]


def from_file(path: Path) -> Prepared:
    """Return the graph in the graph file ``path``."""
    with Graph.open(path) as graph:
        order = order_in(path) if graph.flags.relabelled else "original"
        return Prepared(path.stem, path.name, (Variant(path, graph.codec, order),))


def data_folder() -> Path:
    """Return the folder of the real graphs.

    Raises
    ------
    ConfigError
        BIGBFS_DATA is not set, or is no folder.
    """
    named = os.environ.get("BIGBFS_DATA", "")
    if not named or not Path(named).is_dir():
        what = f"BIGBFS_DATA is {named!r}, which is no folder" if named else "BIGBFS_DATA is not set"
        raise ConfigError(f"{what}; set it to the folder of the real graphs, or take these cases out of the suite")
    return Path(named)


def require_data(cases: tuple[Case, ...]) -> None:
    """Refuse, before anything is measured, files that are not there.

    Raises
    ------
    ConfigError
        A file of a case is missing.
    """
    for case in cases:
        if case.file and not (data_folder() / case.file).is_file():
            raise ConfigError(f"case {case.name!r}: no file {case.file!r} in BIGBFS_DATA ({data_folder()})")


@contextmanager
def prepared(case: Case, seed: int, folder: Path | None) -> Iterator[Prepared]:
    """Yield the graph of ``case`` in files of a folder inside ``folder`` that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="bigbfs-bench-") as home:
        first = Path(home) / "graph.csrbin"
        if case.kind:
            words = ", ".join(f"{name} {value}" for name, value in case.parameters.items())
            about = f"generated: {case.kind} {words}"
            with generate.graph(case.kind, seed=seed, **case.parameters) as made:
                made.save(first)
        else:
            about = " ".join([case.file, *(f"{name}={value}" for name, value in case.convert.items())])
            convert(data_folder() / case.file, first, **{"order": "original", **case.convert})
        found = []
        for order, codec in product(case.orders, case.codecs):
            found.append(Variant(_variant(first, order, codec), codec, order))
        yield Prepared(case.name, about, tuple(found))


def _variant(first: Path, order: str, codec: str) -> Path:
    """Return the file that holds the graph of ``first`` in ``order`` with rows ``codec``; make it if need be."""
    path = first
    if order != "original":
        path = first.with_name(f"{order}.csrbin")
        if not path.exists():
            convert(first, path, order=order)
    if codec == "varint":
        plain, path = path, path.with_suffix(".ccsr")
        if not path.exists():
            with Graph.open(plain) as graph:
                graph.compress().save(path)
    return path


def random_sources(graph: Graph, count: int, seed: int) -> list[int]:
    """Return ``count`` different vertices of degree > 0 (internal ids), or all of them where there are fewer.

    The same graph and seed give the same vertices.

    Raises
    ------
    UsageError
        The graph has no edge.
    """
    candidates = np.flatnonzero(graph.degrees())
    if len(candidates) == 0:
        raise UsageError(f"{graph.path or 'graph'}: no vertex has an edge: there is nothing to traverse")
    chosen = np.random.default_rng(seed).choice(candidates, min(count, len(candidates)), replace=False)
    return [int(vertex) for vertex in chosen]
