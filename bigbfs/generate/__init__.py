"""Graphs of known shape: kronecker, rmat, uniform, grid2d, grid3d, road, powerlaw, star, dag, smallworld, preferential,
geometric, web, comb, tree.

The same kind, parameters and seed give the same edges on every machine and for every number of threads.

Examples
--------
>>> from bigbfs import generate
>>> edges = generate.generate("grid2d", rows=2, columns=2)
>>> list(zip(edges.src.tolist(), edges.dst.tolist()))
[(0, 1), (0, 2), (1, 3), (2, 3)]
>>> generate.graph("kronecker", scale=10, seed=7).n
1024
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bigbfs.errors import UsageError
from bigbfs.generate.catalogue import KINDS, find, resolve
from bigbfs.sizes import byte_count

if TYPE_CHECKING:
    from bigbfs.conversion.sorting.lines import BuildCounts
    from bigbfs.generate.arrays import Drawn, Pairs
    from bigbfs.graph.edges import EdgeList
    from bigbfs.graph.graph import Graph

__all__ = ["KINDS", "assemble", "generate", "graph"]

PROGRAM = 100 << 20
"""Bytes that Python, its libraries and the compiled code take (measured: 88 to 96 MiB for small graphs, once it is
compiled; compiling takes as much again)."""


def generate(
    kind: str, *, seed: int = 1, threads: int | None = None, memory: int | str | None = None, **parameters: Any
) -> EdgeList:
    """Return the edges of a graph as its generator draws them: each undirected edge once.

    Duplicates and self-loops of the random kinds are left in.

    Parameters
    ----------
    kind
        A name from ``KINDS``.
    seed
        Any whole number from 0 to 2**64 - 1.
    threads
        Threads to use; None: one for each CPU that this process may use. The edges do not depend on it.
    memory
        Bytes that the edges may take, or a size like ``"2GiB"`` or ``"50%"`` of what is free; None: half of that.
    **parameters
        See ``KINDS[kind].parameters``.

    Raises
    ------
    UsageError
        The kind is unknown, or a parameter does not fit it.
    DoesNotFitError
        The edges take more than ``memory``.
    """
    from bigbfs.conversion.memory import require
    from bigbfs.generate.arrays import Drawn
    from bigbfs.graph.edges import EdgeList
    from bigbfs.jit.workers import thread_count

    found = find(kind)
    memory = None if memory is None else byte_count("memory", memory, of_free=True)
    complete = resolve(found, parameters)
    require_seed(seed)
    n, workers = complete["vertices"], thread_count(threads)
    require(edge_bytes(kind, complete), memory, what=f"a {kind} graph of {n:,} vertices")
    edges = made(kind, seed, workers, complete)
    src, dst = edges.pairs(workers) if isinstance(edges, Drawn) else edges
    return EdgeList(src, dst, declared_n=n)


def require_seed(seed: int) -> None:
    """Refuse what is no seed; UsageError."""
    if not 0 <= seed < 2**64:
        raise UsageError(f"the seed is {seed}; it must be between 0 and 2^64 - 1")


def made(kind: str, seed: int, threads: int, complete: dict[str, Any]) -> Drawn | Pairs:
    """Return the edges of the ``complete`` parameters, or how to draw them."""
    from bigbfs.generate.arrays import Drawn, names_key, shuffle_ids

    module, function = find(kind).home.split(":")
    edges: Drawn | Pairs = getattr(import_module(f"bigbfs.generate.{module}"), function)(seed, threads, complete)
    if not complete.get("permute"):
        return edges
    if isinstance(edges, Drawn):
        return replace(edges, names=names_key(seed))
    shuffle_ids(seed, threads, complete["vertices"], *edges)
    return edges


def assemble(
    kind: str,
    edges: EdgeList,
    *,
    order: str = "original",
    threads: int | None = None,
    memory: int | None = None,
) -> tuple[Graph, BuildCounts]:
    """Return the graph of ``edges`` (which are used up), and how many self-loops and duplicates it leaves out.

    Raises
    ------
    UsageError
        ``order`` is neither ``"original"`` nor ``"degree"``.
    DoesNotFitError
        Building it takes more than ``memory``.
    """
    from bigbfs.conversion.in_memory.build import build
    from bigbfs.conversion.options import ConvertOptions

    options = ConvertOptions(directed=find(kind).directed, order=order, threads=threads, memory=memory)
    return build([edges], options)


def graph(
    kind: str,
    *,
    seed: int = 1,
    order: str = "original",
    threads: int | None = None,
    memory: int | str | None = None,
    **parameters: Any,
) -> Graph:
    """Return a generated graph: undirected (but for dag), no duplicates, no self-loops, isolated vertices included.

    Parameters
    ----------
    order
        ``"original"``, or ``"degree"`` to store the vertices by descending degree.
    seed, threads, memory, **parameters
        As for :func:`generate`.

    Raises
    ------
    UsageError
        The kind is unknown, or a parameter does not fit it.
    DoesNotFitError
        The edges, or building the graph of them, take more than ``memory``.
    """
    memory = None if memory is None else byte_count("memory", memory, of_free=True)
    edges = generate(kind, seed=seed, threads=threads, memory=memory, **parameters)
    return assemble(kind, edges, order=order, threads=threads, memory=memory)[0]


def edge_bytes(kind: str, complete: dict[str, Any]) -> int:
    """Return about how many bytes the edges of the ``complete`` parameters take while they are made."""
    n = complete["vertices"]
    per_vertex = {"grid2d": 2.0, "grid3d": 3.0}
    degree = complete.get("degree")
    factor = per_vertex.get(kind, degree / 2 if degree is not None else 0.0)
    edges = complete.get("edges") or int(factor * n)
    return 2 * edges * (4 if n < 2**32 else 8)
