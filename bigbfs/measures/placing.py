"""What the measures share: a graph placed for what they run, sources named in words, and the time at which to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs import api
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.vertices import vertices_of
from bigbfs.engines.engine import Work
from bigbfs.errors import ArgumentError, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.jit import compiling
from bigbfs.sizes import file_path, integer, switch

Sources = Sequence[int | str] | np.ndarray | str
"""Original ids or names, ``"all"``, or ``"random:K"``: K different vertices, each as likely as any other (all of
them where there are fewer)."""

_DIGITS = 19


@contextmanager
def placed(
    graph: Graph | str | Path | Engine,
    threads: int | None = None,
    backend: str = "auto",
    work: Sequence[Work] = (ManyOptions(),),
) -> Iterator[Engine]:
    """Yield ``graph`` placed for ``work``, opened where it is a path; an engine is yielded as it is, and stays open.

    Raises
    ------
    UsageError
        The backend is unknown, or has no threads where some are asked for.
    NoDeviceError, DoesNotFitError
        There is no GPU, or the graph and the work do not fit.
    FormatError, FileAccessError
        The graph cannot be opened, or is damaged.
    """
    if isinstance(graph, Engine):
        yield graph
        return
    with api.engine(opened(graph), backend=backend, threads=threads, work=work) as engine:
        yield engine


def opened(graph: Graph | str | Path) -> Graph:
    """Return ``graph``, opened where it is a path.

    Raises
    ------
    FormatError, FileAccessError
        It cannot be opened.
    """
    if isinstance(graph, Graph):
        return graph
    try:
        return Graph.open(file_path("graph", graph))
    except ArgumentError as error:
        raise error.saying("must be a graph or the path of a graph file") from None


def chosen(graph: Graph, sources: Sources, seed: int = 1, what: str = "source") -> np.ndarray:
    """Return the vertices (internal, int64) that ``sources`` names, in its order; ``"all"``: by ascending original id.

    Raises
    ------
    UsageError
        Ids are not in the graph (the first ten are named), or the words are none of the two.
    """
    if not isinstance(sources, str):
        return vertices_of(graph, sources, what)
    if sources == "all":
        return np.asarray(graph.in_original_order(np.arange(graph.n)))
    count = sampled(sources)
    if count is None:
        ids = "a list of names" if graph.names is not None else "a list of ids"
        raise UsageError(f"must be {ids}, all, or random:K with K from 1 on", about=((f"{what}s", sources),))
    # sources and targets of one seed are drawn apart
    generator = np.random.default_rng(seed if what == "source" else [seed, 1])
    return generator.permutation(graph.n)[:count]


def sampled(words: str) -> int | None:
    """Return K of ``random:K``, 1 or more; None where ``words`` are no such."""
    kind, _, count = words.partition(":")
    right = kind == "random" and count.isascii() and count.isdecimal() and len(count) <= _DIGITS
    return int(count) or None if right else None


def require_vertices(graph: Graph, what: str) -> None:
    """Refuse a graph without vertices, of which ``what`` says nothing.

    Raises
    ------
    UsageError
        It is one.
    """
    if not graph.n:
        raise UsageError(f"{graph.path or 'graph'}: it has no vertices, so there is no {what}")


def check_given(
    *,
    seed: int = 1,
    max_depth: int | None = None,
    seconds: float | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Callable[..., object] | None = None,
    **switches: bool,
) -> None:
    """Refuse arguments that the measures share and that cannot be meant, before any work is done.

    Raises
    ------
    ArgumentError, UsageError
        One is of another type, or negative; names it.
    """
    integer("seed", seed, 0)
    if max_depth is not None:
        integer("max_depth", max_depth, 0)
    if seconds is not None:
        if isinstance(seconds, bool) or not isinstance(seconds, int | float | np.integer | np.floating):
            raise ArgumentError("must be a number of seconds", about=(("seconds", seconds),))
        if not seconds >= 0:  # nor is it none
            raise UsageError("must be 0 or more", about=(("seconds", seconds),))
    for name, value in (("stop", stop), ("tell", tell)):
        if value is not None and not callable(value):
            raise ArgumentError("must be a function", about=((name, value),))
    for name, given in switches.items():
        switch(name, given)


def _worked() -> float:
    """Return seconds that pass while nothing is compiled: a first run would end by compiling what it needs."""
    return time.monotonic() - compiling.seconds()


class Until:
    """Says when to stop: after ``seconds``, in which nothing was compiled, or when ``asked`` says so, which it keeps;
    None: never."""

    def __init__(self, seconds: float | None = None, asked: Callable[[], bool] | None = None) -> None:
        self._end = None if seconds is None else _worked() + seconds
        self.asked = asked

    @property
    def never(self) -> bool:
        """Whether it will not ever be time."""
        return self._end is None and self.asked is None

    @property
    def left(self) -> Callable[[], float] | None:
        """What returns the seconds left; None: there is no end."""
        end = self._end
        return None if end is None else lambda: end - _worked()

    def __call__(self) -> bool:
        """Return whether it is time."""
        return (self._end is not None and _worked() >= self._end) or (self.asked is not None and self.asked())

    def after_one(self) -> Callable[[], bool]:
        """Return what says so too, but not when it is asked first: one batch is the least that a run does."""
        asked = False

        def ask() -> bool:
            nonlocal asked
            first, asked = not asked, True
            return not first and self()

        return ask


def ended(seconds: float | None, stop: Callable[[], bool] | None) -> dict[str, Any]:
    """Return the fields of ``ManyOptions`` that end a run after ``seconds``, or when ``stop()`` says so."""
    if seconds is None and stop is None:
        return {}
    until = Until(seconds, stop)
    return {"stop": until.after_one(), "left": until.left}
