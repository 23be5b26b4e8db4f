"""``bigbfs bfs``: breadth-first search from one or many sources, timed and, if asked, verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult, BfsSummary, RunRecord
from bigbfs.algorithms.engine import Engine, Measured
from bigbfs.cli import options, outputs, said, values
from bigbfs.cli import ranks as ranks_of
from bigbfs.cli.notes import with_notes
from bigbfs.cli.same_command import require_one_file_of_sources
from bigbfs.cli.sources import FORMS, choose_sources, id_of, require_one_way
from bigbfs.cli.wording import shown_name
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.measures.rows_room import Rows
from bigbfs.report.jsonout import bfs_object, pieces
from bigbfs.report.pictures import check_picture
from bigbfs.report.progress import Progress
from bigbfs.report.table import labelled, table
from bigbfs.sizes import counted, format_size, free_memory

LEAST_GTEPS = 0.001
"""A rate below this is that of a handful of edges, and says nothing."""


@dataclass(frozen=True)
class Task:
    """What one invocation asks for."""

    trials: int
    verify: bool
    max_depth: int | None
    target: int | None
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

    def fetches(self, engine: Engine, sources: int, *, alone: bool) -> bool:
        """Return whether anybody looks at levels or parents as a whole; GPUs and ranks prove them where they are.

        The deepest vertex of a single search is looked up there too, unless the tree takes much of the memory.
        """
        tree = (4 + 8) * engine.graph.n
        looks = alone and engine.backend == "gpu" and sources == 1 and self.want_levels and tree < free_memory() // 8
        proves = self.verify and engine.backend == "cpu" and alone
        return looks or proves or self.target is not None or self.levels is not None or self.parents is not None


@click.command("bfs")
@options.graph_argument
@click.option("--source", "one", multiple=True, metavar="V", help="Source vertex (original id or name); repeatable.")
@click.option(
    "--sources",
    "many",
    metavar=FORMS,
    help="Every vertex, K random ones of those with an edge, those in a file, or these.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of random:K.")
@click.option("--target", metavar="V", help="Print a shortest path to this vertex; on the CPU the search ends there.")
@options.compressed_option
@options.where_options
@options.strategy_option
@click.option("--max-depth", type=click.IntRange(0), metavar="D", help="Stop after level D.")
@click.option("--trials", type=click.IntRange(1), default=1, show_default=True, help="Runs per source; median time.")
@options.verify_option
@values.output_option("--levels", metavar="F", help="Write levels (-1 unreached): .npy, .csv, .parquet, .arrow.")
@values.output_option("--parents", metavar="F", help="Write parents, -1 (names: none) where there is none.")
@click.option("--no-levels", is_flag=True, help="Leave levels out of the result: no copy of them is made.")
@click.option("--no-parents", is_flag=True, help="Leave parents out of the result: no copy of them is made.")
@values.output_option("--plot", metavar="F.svg|png", help="Draw the levels: frontier, edges, time, direction.")
@outputs.force_option
@values.json_option
@ranks_of.gpus_option("; one alone where levels are many and thin")
@ranks_of.options
def command(
    graph: Path | None,
    one: tuple[str, ...],
    many: str | None,
    seed: int,
    target: str | None,
    compressed: bool,
    max_depth: int | None,
    trials: int,
    verify: bool,
    levels: Path | None,
    parents: Path | None,
    no_levels: bool,
    no_parents: bool,
    plot: Path | None,
    force: bool,
    as_json: bool,
    ranks: ranks_of.Ranks,
    **where: Any,
) -> None:
    """Breadth-first search from one or many sources.

    GRAPH is a .csrbin, a .ccsr, a folder of shards, of which each rank opens its own, or a table of edges (.parquet,
    .arrow, .csv, a folder of them), which is converted first; without it, the newest graph file in this folder. GTEPS
    counts the directed edges of the reached vertices over the traversal time alone; opening, placement, compilation and
    verification are reported apart.
    """
    if target is not None and no_parents:
        raise UsageError("--no-parents leaves out what --target needs; give one of them")
    task = Task(trials, verify, max_depth, None, not no_levels, not no_parents, levels, parents, plot)
    outputs.check_array(levels, "levels", force)
    outputs.check_array(parents, "parents", force)
    check_picture(plot, force)
    outputs.check_streams((levels, parents), as_json)
    outputs.check_different({"--levels": levels, "--parents": parents, "--plot": plot})
    require_one_way(one, many)
    ranks_of.prefer_gpus(ranks, where)
    options.check_where(where)
    with (
        ranks_of.joined(ranks, where) as group,
        options.opened(graph, compressed, group, shards=True) as (opened, open_seconds),
    ):
        sources = require_one_file_of_sources(group, many, choose_sources(opened, one, many, seed))
        if target is not None:
            task = replace(task, target=id_of(opened, target, "--target"))
        _require_one(len(sources), task)
        work = BfsOptions(sources[0], max_depth, not no_levels, not no_parents, where["strategy"], target=task.target)
        work.internal(opened)  # a target that is not there is found before anything is placed
        if ranks_of.is_first(group):
            _look_at_disk(opened, task)
        if ranks_of.stays_on_one(opened, group, ranks):
            if group.rank:
                return  # and waits for the first
            group = None
        with options.placed(opened, (work,), ranks=(group, ranks), **where) as engine:
            summary, verify_seconds, tree = _run_all(engine, sources, task, group)
            if ranks.verbose and group is not None:
                said.say_levels(group, summary.runs[-1])
            if ranks_of.is_first(group):
                _report(opened, engine, open_seconds, verify_seconds, summary, tree, task, as_json)


def _require_one(sources: int, task: Task) -> None:
    """Refuse more than one source where what is written is of one."""
    if sources != 1 and (task.levels or task.parents):
        raise UsageError(f"--levels and --parents hold one source's tree, and {sources} sources are given")
    if sources != 1 and task.plot:
        raise UsageError(f"--plot draws the levels of one run, and {sources} sources are given")


def _look_at_disk(graph: Graph, task: Task) -> None:
    """Look whether the disk has room for the tree, as far as it is to be written."""
    levels = Rows(task.levels, "levels", np.int32)
    outputs.look_at_disk(graph, levels, Rows(task.parents, "parents", np.int64, speaks=True))


def _report(
    graph: Graph,
    engine: Engine,
    opening: float,
    verifying: float,
    summary: BfsSummary,
    tree: BfsResult | None,
    task: Task,
    as_json: bool,
) -> None:
    """Write, draw and print what was asked for."""
    with (
        outputs.writing(lambda: _write(graph, summary.runs[0], tree, task)) as wrote,
        outputs.report_beside((task.levels, task.parents)),
    ):
        if as_json:
            found = bfs_object(graph, engine, opening, summary)
            for piece in pieces(with_notes(found) | {"wrote": outputs.as_json(wrote)}):
                click.echo(piece, nl=False)
            click.echo("")
            return
        _print(graph, engine, opening, verifying, summary)
        if line := options.disturbed_line(sum(summary.disturbed), task.trials * len(summary.runs)):
            click.echo(line)
        for file in wrote:
            click.echo(file.line())


def _run_all(engine: Engine, sources: list[int], task: Task, group: Any) -> tuple[BfsSummary, float, BfsResult | None]:
    """Run every source; return what was measured, the seconds that verifying took, and what is to be written."""
    summary, verifying, tree = BfsSummary(target=task.target), 0.0, None
    fetch = task.fetches(engine, len(sources), alone=group is None)
    name = f"search from {engine.graph.called(sources[0])}" if len(sources) == 1 else "search"
    told = Progress()
    with told.step(name, len(sources), "sources"):
        for source in sources:
            wanted = (task.max_depth, task.want_levels, task.want_parents)
            work = BfsOptions(source, *wanted, engine.strategy, target=task.target, fetch=fetch)
            measured = engine.measure(work, trials=task.trials, verify=task.verify)
            told.advance(1)
            tree = _take_in(
                summary,
                measured,
                task if ranks_of.is_first(group) else replace(task, levels=None, parents=None, target=None),
            )
            verifying += measured.verify_seconds
    return summary, verifying, tree


def _take_in(summary: BfsSummary, measured: Measured, task: Task) -> BfsResult | None:
    """Add the runs from one source to the summary; return their tree where it is to be written."""
    record = measured.internal.original_record(measured.graph)
    summary.runs.append(replace(record, seconds=measured.seconds))
    summary.disturbed.append(sum(measured.disturbed))
    summary.switches.append(sum(measured.switches))
    if task.target is None and task.levels is None and task.parents is None:
        return None
    result: BfsResult = measured.result
    if task.target is not None:
        summary.paths.append(result.path_to(task.target))
    return result if task.levels or task.parents else None


def _write(graph: Graph, run: RunRecord, tree: BfsResult | None, task: Task) -> Iterator[outputs.Written | None]:
    """Write the ``tree`` and draw the levels of ``run``, where that is asked for."""
    if task.levels and tree is not None:
        yield outputs.write_result(task.levels, "levels", tree.levels, "level", tree.vertices)
    if task.parents and tree is not None:
        yield outputs.write_result(task.parents, "parents", tree.parents, "parent", tree.vertices, speaks=True)
    if task.plot is not None:
        from bigbfs.report.pictures import save
        from bigbfs.report.plot import levels

        name = graph.path.name if graph.path else "graph"
        reached = counted(run.reached, "vertex", "vertices")
        title = f"{name}, BFS from {graph.called(run.source)}: {reached}, depth {run.depth:,}"
        save(levels(run, title), task.plot)
        yield outputs.written(task.plot)


def _print(graph: Graph, engine: Engine, opening: float, verifying: float, summary: BfsSummary) -> None:
    click.echo(options.describe(graph))
    click.echo(options.describe_engine(engine, f", strategy {engine.strategy}"))
    click.echo("")
    headers = ("source", "reached", "%", "depth", "edges", "ms", "GTEPS", "verified")
    rows = []
    for run in summary.runs:
        share = 100.0 * run.reached / max(graph.n, 1)
        verified = "not asked" if run.verified is None else run.verified
        rate = run.gteps if run.gteps >= LEAST_GTEPS else f"<{LEAST_GTEPS:g}"
        source = shown_name(graph.called(run.source))
        rows.append((source, run.reached, share, run.depth, run.edges, 1e3 * run.seconds, rate, verified))
    click.echo(table(headers, rows))
    click.echo("")
    if len(summary.runs) > 1:
        click.echo(f"GTEPS       median {summary.median_gteps:.4g}, harmonic mean {summary.harmonic_mean_gteps:.4g}")
    _print_ends(engine, summary)
    verified_any = any(run.verified is not None for run in summary.runs)
    click.echo(options.setup_line(engine, opening, verifying if verified_any else None))
    click.echo(f"memory      host {format_size(engine.bytes.host)}, device {format_size(engine.bytes.device)}")


def _print_ends(engine: Engine, summary: BfsSummary) -> None:
    """Say which vertex is farthest, and the ways to the target."""
    called = engine.graph.called
    deepest = max(summary.runs, key=lambda run: run.depth)
    if deepest.deepest is not None:
        ends = [shown_name(called(vertex)) for vertex in (deepest.deepest, deepest.source)]
        click.echo(f"deepest     {ends[0]}: {counted(deepest.depth, 'edge')} from {ends[1]}")
    for run, path in zip(summary.runs, summary.paths, strict=False):  # no path at all without a target
        if len(path) == 0:
            ends = [shown_name(called(vertex)) for vertex in (run.source, summary.target or 0)]
            click.echo(f"no path     from {ends[0]} to {ends[1]}, to depth {run.depth:,}")
            continue
        text = (
            " -> ".join(shown_name(called(vertex)) for vertex in path.tolist()) + f": {counted(len(path) - 1, 'edge')}"
        )
        click.echo(labelled("path", text))
    if summary.paths and engine.backend == "gpu":
        click.echo("            (on a GPU the search goes on beyond the target)")
