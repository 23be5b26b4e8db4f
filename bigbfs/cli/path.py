"""``bigbfs path``: a shortest path between two vertices, or between the two of each of many pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.cli import manyopts, options, outputs, values
from bigbfs.cli.sources import id_of, pairs_in
from bigbfs.cli.wording import shown_name
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.measures.paths import PathSearches, ShortestPath
from bigbfs.record import Cores, disturbed, median, switches
from bigbfs.report.jsonout import dumps, many_object
from bigbfs.report.progress import Progress
from bigbfs.report.table import labelled, table
from bigbfs.sizes import counted

SHOWN = 20
"""Vertices of a path that are shown; of a longer one both ends."""


@click.command("path")
@options.graph_argument
@click.argument("ends", nargs=-1, metavar="[A B]")
@click.option("--pairs", metavar="@FILE", help="Pairs of ids in a file, two a line (names: a tab between them).")
@values.output_option(
    "-o",
    "--output",
    metavar="F",
    help="Write distances, -1 no path: .npy, .csv, .parquet, .arrow, or -.",
)
@options.compressed_option
@manyopts.threads_option
@options.verify_option
@outputs.force_option
@values.json_option
def command(
    graph: Path | None,
    ends: tuple[str, ...],
    pairs: str | None,
    output: Path | None,
    compressed: bool,
    threads: int | None,
    verify: bool,
    force: bool,
    as_json: bool,
) -> None:
    """One shortest path from A to B, by a search from both ends, on the CPU.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. Where there is no path this is said, and the
    exit code is 0. --pairs takes many; F.csv has source, target and distance of each, --json the vertices between.
    --verify looks for each edge in the graph, and searches once more, from one end alone: once for each source of pairs
    that follow one another.
    """
    first = graph
    if graph is not None and pairs is None and len(ends) == 1 and not _is_file(graph):
        graph, ends = None, (str(graph), *ends)
    _check(first, ends, pairs)
    manyopts.check_values(output, force, as_json)
    with (
        options.opened(graph, compressed) as (opened, opening),
        options.placed(opened, (), backend="cpu", threads=threads) as engine,
    ):
        wanted = _pairs(opened, ends, pairs, moved=graph is not first)
        searches = PathSearches(engine, wanted)
        told = Progress()
        before = Cores.now()
        found = []
        with told.step("search", len(wanted), "pairs"):
            for path in searches:
                found.append(path)
                told.advance(1)
        seconds, lost = before.since()
        if verify:
            _prove(engine, found)
        with outputs.writing(lambda: _write(output, found, opened)) as wrote, outputs.report_beside([output]):
            if as_json:
                shared = many_object("path", opened, engine, opening)
                times: dict[str, Any] = {"seconds": seconds, "seconds_median": median([path.seconds for path in found])}
                times |= {"disturbed": disturbed(lost), "switches": switches(), "wrote": outputs.as_json(wrote)}
                times["verified"] = verify or None
                click.echo(dumps(shared | times | {"paths": _told(opened, found)}))
                return
            manyopts.head(opened, engine)
            _print(opened, found)
            said = ", verified" if verify else ""
            click.echo(f"\nsearches    {counted(len(found), 'pair')}, {1e3 * seconds:.4g} ms{said}")
            click.echo(options.setup_line(engine, opening, None))
            if line := options.lost_line(lost):
                click.echo(line)
            for file in wrote:
                click.echo(file.line())


def _told(graph: Graph, found: list[ShortestPath]) -> list[dict[str, Any]]:
    """Return what the JSON object has of each path."""
    return [
        {
            "source": graph.called(path.source),
            "target": graph.called(path.target),
            "distance": path.distance,
            "path": [graph.called(each) for each in path.vertices],
            "seconds": path.seconds,
            "edges_read": path.edges_read,
        }
        for path in found
    ]


def _print(graph: Graph, found: list[ShortestPath]) -> None:
    """Print the path, or a table of many."""
    if len(found) == 1:
        click.echo(_sentence(graph, found[0]))
        return
    lines = [
        (_called(graph, path.source), _called(graph, path.target), _length(path), path.edges_read) for path in found
    ]
    click.echo(table(("source", "target", "distance", "edges read"), lines))


def _write(output: Path | None, found: list[ShortestPath], graph: Graph) -> list[outputs.Written]:
    """Write the distance of each pair, in their order; a table has the pair, too.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    if output is None:
        return []
    distances = np.array([path.distance for path in found], np.int64)
    if output.suffix == ".npy":
        return [outputs.write_array(output, distances, "output")]
    sources, targets = np.array([(path.source, path.target) for path in found], np.int64).T
    columns = {"source": sources, "target": targets, "distance": distances}
    wrote = outputs.write_columns(output, "output", columns, ("source", "target"), graph.names)
    return [] if wrote is None else [wrote]


def _prove(engine: Engine, found: list[ShortestPath]) -> None:
    """Prove all paths; see :class:`PathProof`."""
    from bigbfs.measures.path_proof import PathProof  # with it come the kernels of a search

    proof, told = PathProof(engine), Progress()
    with told.step("verify", len(found), "pairs"):
        for path in found:
            proof.check(path)
            told.advance(1)


def _is_file(graph: Path) -> bool:
    """Return whether the first of two words is GRAPH, and no vertex of the newest one.

    Raises
    ------
    UsageError
        It is called like a file of edges, and there is none.
    """
    if graph.exists():
        return True
    from bigbfs.formats.container.newest import closed_graphs, newest_graph
    from bigbfs.formats.readers.detect import format_said

    here = Path()
    if format_said(graph.name) is None and (graph.name.isdecimal() or newest_graph(here) or closed_graphs(here)):
        return False
    raise UsageError(f"the graph is missing, there is no file {str(graph)[:80]!r}: write GRAPH A B")


def _check(first: Path | None, ends: tuple[str, ...], pairs: str | None) -> None:
    """Refuse, before any work is done, what are no pairs; ``first``: the first word."""
    missing = f"; there is no file {str(first)[:80]!r}" if first is not None and not first.exists() else ""
    if pairs is None and not ends and first is not None:
        word = f"only {str(first)[:80]!r} is given"
        raise UsageError(f"{word}: give two vertices, GRAPH A B, or many pairs with --pairs @FILE{missing}")
    if (pairs is None) == (not ends):
        raise UsageError("give two vertices, GRAPH A B, or many pairs with --pairs @FILE")
    if pairs is None and len(ends) != 2:
        given = "only one is" if len(ends) == 1 else f"{len(ends):,} are"
        raise UsageError(f"a path has two ends, and {given} given: write GRAPH A B{missing}")
    if pairs is not None and (not pairs.startswith("@") or len(pairs) == 1):
        raise UsageError(f"--pairs {pairs[:80]!r}: write @FILE, a file with two ids a line")


def _pairs(graph: Graph, ends: tuple[str, ...], pairs: str | None, moved: bool) -> list[tuple[int, int]]:
    """Return the pairs of original ids asked for; ``moved``: A stands where GRAPH could."""
    if pairs is not None:
        return pairs_in(graph, Path(pairs[1:]))
    try:
        first = id_of(graph, ends[0], "A")
    except UsageError as error:
        if not moved:
            raise
        raise error.saying(f"{error.message}; nor is there a file {ends[0][:80]!r} to be the graph") from None
    return [(first, id_of(graph, ends[1], "B"))]


def _called(graph: Graph, vertex: int) -> str:
    return shown_name(graph.called(vertex))


def _length(path: ShortestPath) -> int | str:
    return path.distance if path.vertices else "no path"


def _sentence(graph: Graph, path: ShortestPath) -> str:
    read = f"({counted(path.edges_read, 'edge')} read)"
    if not path.vertices:
        return f"no path     from {_called(graph, path.source)} to {_called(graph, path.target)} {read}"
    ends = path.vertices
    if len(ends) > SHOWN:
        ends = [*ends[: SHOWN // 2], *ends[-SHOWN // 2 :]]
    steps = [_called(graph, vertex) for vertex in ends]
    if len(path.vertices) > SHOWN:
        steps.insert(SHOWN // 2, "...")
    text = f"{counted(path.distance, 'edge')}: {' -> '.join(steps)} {read}"
    return labelled("path", text)
