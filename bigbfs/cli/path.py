"""``bigbfs path``: a shortest path between two vertices, or between the two of each of many pairs."""

from __future__ import annotations

import time
from pathlib import Path

import click
import numpy as np

from bigbfs.cli import manyopts, options
from bigbfs.cli.sources import read_ids
from bigbfs.errors import InputError, UsageError
from bigbfs.measures.paths import ShortestPath, shortest_paths
from bigbfs.report.jsonout import dumps, many_object
from bigbfs.report.table import table

SHOWN = 20
"""Vertices of a path that are shown; of a longer one both ends."""


@click.command("path")
@options.graph_argument
@click.argument("ends", nargs=-1, type=int, metavar="[A B]")
@click.option("--pairs", metavar="@FILE", help="Pairs of ids in a file, two a line.")
@options.compressed_option
@manyopts.threads_option
@options.json_option
def command(
    graph: Path | None,
    ends: tuple[int, ...],
    pairs: str | None,
    compressed: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """One shortest path from A to B, by a search from both ends, on the CPU.

    GRAPH is a .csrbin or .ccsr. Where there is no path this is said, and the exit code is 0. --pairs takes many.
    """
    wanted = _pairs(ends, pairs)
    with options.opened(graph, compressed) as (opened, opening), manyopts.placed(opened, threads) as engine:
        manyopts.require_numbers(opened, "path")
        start = time.perf_counter()
        found = list(shortest_paths(engine, wanted))
        seconds = time.perf_counter() - start
        if as_json:
            shared = many_object("path", opened, engine, opening)
            rows = [
                {"source": path.source, "target": path.target, "distance": path.distance, "path": path.vertices}
                for path in found
            ]
            click.echo(dumps(shared | {"seconds": seconds, "paths": rows}))
            return
        manyopts.head(opened, engine)
        if len(found) == 1:
            click.echo(_sentence(found[0]))
        else:
            lines = [(str(path.source), str(path.target), _length(path), path.edges_read) for path in found]
            click.echo(table(("source", "target", "distance", "edges read"), lines))
        click.echo(f"\nsearches    {len(found):,} pairs, {1e3 * seconds:.4g} ms with compiling")
        click.echo(options.setup_line(engine, opening, None))


def _pairs(ends: tuple[int, ...], pairs: str | None) -> np.ndarray:
    """Return the pairs asked for: int64, shape (pairs, 2)."""
    if (pairs is None) == (not ends):
        raise UsageError("give two vertices, GRAPH A B, or many pairs with --pairs @FILE")
    if pairs is None:
        if len(ends) != 2:
            raise UsageError(f"a path has two ends, and {len(ends)} are given: GRAPH A B")
        return np.array([ends])
    if not pairs.startswith("@") or len(pairs) == 1:
        raise UsageError(f"--pairs {pairs[:80]!r}: write @FILE, a file with two ids a line")
    ids = read_ids(Path(pairs[1:]))
    if len(ids) % 2:
        raise InputError(f"{pairs[1:]}: {len(ids):,} ids are no pairs; write two a line")
    return np.array(ids).reshape(-1, 2)


def _length(path: ShortestPath) -> int | str:
    return path.distance if path.vertices else "no path"


def _sentence(path: ShortestPath) -> str:
    if not path.vertices:
        return f"no path     from {path.source} to {path.target} ({path.edges_read:,} edges read)"
    steps = [str(vertex) for vertex in path.vertices]
    if len(steps) > SHOWN:
        steps = [*steps[: SHOWN // 2], "...", *steps[-SHOWN // 2 :]]
    edges = "1 edge" if path.distance == 1 else f"{path.distance:,} edges"
    return f"path        {edges}: {' -> '.join(steps)} ({path.edges_read:,} edges read)"
