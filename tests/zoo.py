"""The zoo for tests: the graphs of bigbfs.generate.zoo, built once, and the sources that tests loop over."""

from __future__ import annotations

from functools import cache

from bigbfs.generate.zoo import BIG, build, grid, join, path, random, sources, star, zoo
from bigbfs.graph.graph import Graph

__all__ = ["BIG", "build", "cases", "grid", "join", "names", "path", "random", "shared", "sources", "star", "zoo"]


@cache
def shared() -> dict[str, Graph]:
    """Return the whole zoo, the same objects on every call: nobody writes to a graph.

    Modules ask for it as they are imported, so nothing is compiled here; tests/generate/test_zoo.py proves the rows.
    """
    return zoo()


def names(*, big: bool = True) -> list[str]:
    """Return the names to parametrize with."""
    return [name for name in shared() if big or name not in BIG]


def cases(*, big: bool = True, count: int = 6) -> list[tuple[str, int]]:
    """Return every (name, source) pair."""
    return [(name, source) for name in names(big=big) for source in sources(shared()[name], count)]
