"""``bigbfs bfs``: breadth-first search from one or many sources, timed and, if asked, verified."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsSummary, RunRecord
from bigbfs.algorithms.engine import Engine
from bigbfs.cli import options
from bigbfs.cli.arrays import check_writable, write_npy
from bigbfs.cli.sources import choose_sources
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.report.jsonout import bfs_object, dumps
from bigbfs.report.pictures import check_picture
from bigbfs.report.progress import Progress
from bigbfs.report.table import table
from bigbfs.sizes import format_size


@dataclass(frozen=True)
class Task:
    """What one invocation asks for."""

    trials: int
    verify: bool
    max_depth: int | None
    want_levels: bool
    want_parents: bool
    levels: Path | None
    parents: Path | None
    plot: Path | None = None

    def __post_init__(self) -> None:
        """Refuse to leave out what is asked for."""
        for name, wanted, path in (
            ("levels", self.want_levels, self.levels),
            ("parents", self.want_parents, self.parents),
        ):
            if not wanted and (path or self.verify):
                asked = f"--{name} {path}" if path else "--verify"
                raise UsageError(f"--no-{name} leaves out what {asked} needs; give one of them")

    def fetches(self, backend: str) -> bool:
        """Return whether anybody looks at levels or parents on the host; a GPU proves them where they are."""
        return (self.verify and backend == "cpu") or self.levels is not None or self.parents is not None


@click.command("bfs")
@options.graph_argument
@click.option("--source", "one", type=int, multiple=True, metavar="V", help="Source vertex (original id); repeatable.")
@click.option(
    "--sources", "many", metavar="random:N | @FILE", help="N random vertices of degree > 0, or ids in a file."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of random:N.")
@options.compressed_option
@options.where_options
@options.strategy_option
@click.option("--max-depth", type=click.IntRange(0), metavar="D", help="Stop after level D.")
@click.option("--trials", type=click.IntRange(1), default=1, show_default=True, help="Runs per source; median time.")
@options.verify_option
@click.option("--levels", type=options.PATH, metavar="F.npy", help="Write int32 levels, -1 unreached; by ascending id.")
@click.option("--parents", type=options.PATH, metavar="F.npy", help="Write int64 parents, -1 none; by ascending id.")
@click.option("--no-levels", is_flag=True, help="Do not compute levels; costs neither time nor memory.")
@click.option("--no-parents", is_flag=True, help="Do not compute parents; costs neither time nor memory.")
@click.option(
    "--plot", type=options.PATH, metavar="F.svg|png", help="Draw the levels: frontier, edges, time, direction."
)
@options.json_option
def command(
    graph: Path | None,
    one: tuple[int, ...],
    many: str | None,
    seed: int,
    compressed: bool,
    max_depth: int | None,
    trials: int,
    verify: bool,
    levels: Path | None,
    parents: Path | None,
    no_levels: bool,
    no_parents: bool,
    plot: Path | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Breadth-first search from one or many sources.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. GTEPS counts the directed edges of the
    reached vertices over the traversal time alone; opening, placement, compilation and verification are reported apart.
    """
    task = Task(trials, verify, max_depth, not no_levels, not no_parents, levels, parents, plot)
    check_writable(levels, "levels")
    check_writable(parents, "parents")
    check_picture(plot)
    if levels is not None and parents is not None and levels.resolve() == parents.resolve():
        raise UsageError(f"--levels and --parents both name {levels}; give each its own file")
    options.check_where(where)
    with options.opened(graph, compressed) as (opened, open_seconds):
        sources = choose_sources(opened, one, many, seed)
        if len(sources) != 1 and (levels or parents):
            raise UsageError(f"--levels and --parents hold one source's tree, and {len(sources)} sources are given")
        if len(sources) != 1 and plot:
            raise UsageError(f"--plot draws the levels of one run, and {len(sources)} sources are given")
        work = BfsOptions(sources[0], max_depth, not no_levels, not no_parents, where["strategy"])
        with options.placed(opened, (work,), **where) as engine:
            summary, verify_seconds = _run_all(engine, sources, task)
            _draw(opened, summary.runs[0], plot)
            if as_json:
                click.echo(dumps(bfs_object(opened, engine, open_seconds, summary)))
            else:
                _print(opened, engine, open_seconds, verify_seconds, summary)


def _run_all(engine: Engine, sources: list[int], task: Task) -> tuple[BfsSummary, float]:
    """Run every source; return what was measured, and the seconds that verifying took."""
    summary, verifying = BfsSummary(), 0.0
    for source in tqdm(sources, unit="source", disable=None if len(sources) > 1 else True, file=sys.stderr):
        wanted = (task.max_depth, task.want_levels, task.want_parents)
        work = BfsOptions(source, *wanted, engine.strategy, fetch=task.fetches(engine.backend))
        with Progress(len(sources) == 1).step(f"search from {source}"):
            measured = engine.measure(work, trials=task.trials, verify=task.verify)
        summary.runs.append(replace(measured.records[-1], seconds=measured.seconds, source=source))
        verifying += measured.verify_seconds
        if task.levels:
            write_npy(task.levels, measured.result.levels, "levels")
        if task.parents:
            write_npy(task.parents, measured.result.parents, "parents")
    return summary, verifying


def _draw(graph: Graph, run: RunRecord, path: Path | None) -> None:
    """Draw the levels of ``run`` to ``path``, where one is given."""
    if path is not None:
        from bigbfs.report.pictures import save
        from bigbfs.report.plot import levels

        name = graph.path.name if graph.path else "graph"
        save(levels(run, f"{name}, BFS from {run.source}: {run.reached:,} vertices, depth {run.depth:,}"), path)


def _print(graph: Graph, engine: Engine, opening: float, verifying: float, summary: BfsSummary) -> None:
    click.echo(options.describe(graph))
    click.echo(f"{options.describe_engine(engine)}, strategy {engine.strategy}")
    click.echo("")
    headers = ("source", "reached", "%", "depth", "edges", "ms", "GTEPS", "verified")
    rows = []
    for run in summary.runs:
        share = 100.0 * run.reached / max(graph.n, 1)
        verified = "not asked" if run.verified is None else run.verified
        rows.append((run.source, run.reached, share, run.depth, run.edges, 1e3 * run.seconds, run.gteps, verified))
    click.echo(table(headers, rows))
    click.echo("")
    if len(summary.runs) > 1:
        click.echo(f"GTEPS       median {summary.median_gteps:.4g}, harmonic mean {summary.harmonic_mean_gteps:.4g}")
    verified_any = any(run.verified is not None for run in summary.runs)
    click.echo(options.setup_line(engine, opening, verifying if verified_any else None))
    click.echo(f"memory      host {format_size(engine.bytes.host)}, device {format_size(engine.bytes.device)}")
