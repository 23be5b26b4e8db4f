"""``bigbfs bench bfs``: strategies side by side, from the same sources; a table, rows, and a report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from bigbfs import __version__, api
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.bench import machine
from bigbfs.bench.contenders import Contender, backends_of, lineup
from bigbfs.bench.graphs import Prepared, from_file, prepared, random_sources, require_data
from bigbfs.bench.measure import Plan, facts, measure
from bigbfs.bench.suite import Case, Suite, read_suite, some_of
from bigbfs.cli import options, outputs, values
from bigbfs.cli.bench.writer import Writer
from bigbfs.cli.notes import with_notes
from bigbfs.cli.sources import FORMS, choose_sources, require_one_way
from bigbfs.cli.wording import printable
from bigbfs.config import DEFAULT_PROFILE, DeviceProfile, find_profile, read_profile
from bigbfs.errors import BigBfsError, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.report.jsonout import dumps
from bigbfs.report.progress import CLEAR, Progress
from bigbfs.report.rows import Record
from bigbfs.report.summary import HEADERS, cells, summarize
from bigbfs.report.table import folded
from bigbfs.sizes import counted


@dataclass(frozen=True)
class Task:
    """What one invocation asks for, beside the graphs."""

    strategies: tuple[str, ...]
    backend: str
    where: dict[str, Any]
    one: tuple[str, ...]
    many: str
    seed: int
    trials: int
    seconds: float
    baselines: bool
    parents: bool


@click.command("bfs")
@click.argument("graphs", type=values.PATH, nargs=-1, metavar="[GRAPH...]")
@click.option(
    "--suite", type=values.PATH, metavar="F.toml", help="Graphs to generate or convert, and what runs on each."
)
@click.option("--case", "cases", multiple=True, metavar="NAME", help="A graph of the suite; repeatable. Default: all.")
@click.option(
    "--strategy", "strategies", type=click.Choice(list(STRATEGIES)), multiple=True, help="Repeatable. Default: all."
)
@click.option("--source", "one", multiple=True, metavar="V", help="Source vertex (original id); repeatable.")
@click.option("--sources", "many", metavar=FORMS, help="As `bigbfs bfs`.  [default: random:16]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of random:K.")
@options.compressed_option
@options.where_options
@click.option("--trials", type=click.IntRange(1), default=3, show_default=True, help="Timed runs of each source.")
@click.option("--seconds", type=values.SECONDS, default=0.0, help="A strategy that ran so long gets no further source.")
@click.option("--baselines/--no-baselines", default=True, help="Also the CPU engine and the serial reference.")
@click.option("--no-parents", is_flag=True, help="Levels alone.")
@click.option("--folder", type=values.PATH, help="For the graphs of a suite; gone afterwards. Default: the system's.")
@click.option("--commit", "about", help="What is measured, where that is no checkout.")
@values.output_option("-o", "--output", metavar="F.jsonl", help="Write each row as soon as it is there.")
@values.output_option("--report", metavar="F.html", help="Write the report, one file that needs no network.")
@outputs.force_option
@values.json_option
def command(
    graphs: tuple[Path, ...],
    suite: Path | None,
    cases: tuple[str, ...],
    strategies: tuple[str, ...],
    one: tuple[str, ...],
    many: str | None,
    seed: int,
    compressed: bool,
    trials: int,
    seconds: float,
    baselines: bool,
    no_parents: bool,
    folder: Path | None,
    about: str | None,
    output: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """BFS by every strategy in turn, from the same sources, each source verified once.

    GRAPHs are .csrbin or .ccsr; without any, the newest one in this folder. kernel: by events of the GPU; traversal:
    the host loop and the reset too; end to end: from opening the file to arrays of the caller. Rows so far are kept
    when a run is interrupted, and the report is made of them.
    """
    if suite is not None and (graphs or one or many or compressed):
        raise UsageError(
            "--suite brings its own graphs and sources; leave out GRAPH, --source, --sources, --compressed"
        )
    if cases and suite is None:
        raise UsageError("--case names a graph of a suite; give --suite too, or GRAPH instead")
    require_one_way(one, many, needed=False)
    options.check_where(where)
    backend = api.choose_backend(where["backend"])
    task = Task(
        strategies, backend, where, one, many or "random:16", seed, trials, seconds, baselines, not no_parents
    )  # fmt: skip
    lineup(strategies, backend, baselines=baselines, parents=True, where=where)  # refuses what cannot run here
    writer = Writer(output, report, force)
    if suite is not None:
        read = some_of(read_suite(suite), cases)
        require_data(read.cases)
        work = _of_suite(read, task, folder)
    else:
        work = _of_files(graphs or (None,), compressed, task)
    with writer:
        _run(work, task, writer, about)
    _print(writer.record, as_json)
    if report is not None:
        click.echo(f"report      {report}", err=as_json)


def _run(work: Iterator[tuple[Prepared, Plan]], task: Task, writer: Writer, about: str | None) -> None:
    """Measure everything; what is there goes to ``writer`` at once."""
    started = False
    for graph, plan in work:
        if not started:
            writer.add(_session(task, about))
            started = True
        writer.add(facts(graph, plan.sources))
        _say(f"{graph.name}: {counted(len(plan.contenders), 'contender')}, {counted(len(plan.sources), 'source')}")
        told = Progress()
        with told.step(f"measure {graph.name}", len(plan.contenders) * len(plan.sources), "rows"):
            for row in measure(graph, plan, _say):
                writer.add(row)
                told.advance(1)


def _say(text: str) -> None:
    """Print a note, on a terminal in place of what stands there of the progress."""
    watched = sys.stderr is not None and sys.stderr.isatty()
    click.echo(f"{CLEAR if watched else ''}note: {text}", err=True)


def _session(task: Task, about: str | None) -> Any:
    """Return what is known of the machine."""
    gpu, profile = None, task.where.get("profile")
    if task.backend == "gpu":
        from bigbfs.engines.gpu.runtime.cuda import CudaRuntime

        runtime = CudaRuntime()
        gpu = runtime.name
        runtime.close()
        profile = profile or _packaged(gpu)
    threads = task.where.get("threads") or machine.cores()
    return machine.describe(
        __version__, gpu=gpu, profile=profile, threads=threads, seed=task.seed, trials=task.trials, about=about
    )  # fmt: skip


def _packaged(gpu: str) -> DeviceProfile | None:
    """Return the packaged profile of the device ``gpu``, None where there is none."""
    profile = read_profile(find_profile(DEFAULT_PROFILE))
    return profile if profile.name in gpu else None


def _of_files(
    graphs: tuple[Path | None, ...], compressed: bool, task: Task
) -> Iterator[tuple[Prepared, Plan]]:  # fmt: skip
    """Yield the graphs of the command line; all of them are looked at before the first is measured."""
    made = []
    for path in graphs:
        found = from_file(options.resolve_graph(path, compressed))
        with Graph.open(found.variants[0].path) as graph:
            if graph.m == 0:
                raise UsageError(f"{graph.path}: the graph has no edge: there is nothing to traverse")
            sources = [
                int(graph.original(v))
                for v in graph.vertices(choose_sources(graph, task.one, None if task.one else task.many, task.seed))
            ]
        contenders = lineup(
            task.strategies, task.backend, baselines=task.baselines, parents=task.parents, where=task.where
        )
        made.append((found, Plan(contenders, sources, task.trials, task.seconds)))
    twice = [found.name for found, _ in made if [other.name for other, _ in made].count(found.name) > 1]
    if twice:
        made = [(replace(found, name=str(found.variants[0].path)), plan) for found, plan in made]
    yield from made


def _of_suite(suite: Suite, task: Task, folder: Path | None) -> Iterator[tuple[Prepared, Plan]]:
    """Yield the graphs of ``suite``, each while its files are there."""
    for case in suite.cases:
        contenders = _contenders(case, task)
        if not contenders:
            _say(f"{case.name}: left out: none of its backends is here")
            continue
        with ExitStack() as files:
            with _named(case):
                graph = files.enter_context(prepared(case, suite.seed, folder))
                sources = _sources_of(case, graph, suite.seed)
            yield graph, Plan(contenders, sources, case.trials or task.trials, case.seconds or task.seconds)


@contextmanager
def _named(case: Case) -> Iterator[None]:
    """Say of an error, which may know a file that is gone by then, that it is of ``case``."""
    try:
        yield
    except BigBfsError as error:
        raise error.saying(f"case {case.name!r}: {error.message}") from error


def _sources_of(case: Case, graph: Prepared, seed: int) -> list[int]:
    """Return the sources of ``case``: original ids."""
    with Graph.open(graph.variants[0].path) as opened:
        vertices = opened.vertices(case.chosen) if case.chosen else random_sources(opened, case.sources, seed)
        return [int(opened.original(vertex)) for vertex in vertices]


def _contenders(case: Case, task: Task) -> list[Contender]:
    """Return who takes part in ``case``: its strategies, or those of them that the command asks for."""
    names = [name for name in case.strategies or STRATEGIES if name not in case.without]
    able = [n for n in names if task.backend in backends_of(n) and (not task.strategies or n in task.strategies)]
    found: list[Contender] = []
    for residency in (case.residencies if task.backend == "gpu" else ("auto",)) if able else ():
        found += lineup(
            able,
            task.backend,
            baselines=task.baselines and not found,
            parents=task.parents and case.parents,
            where=task.where | {"residency": residency},
        )
    return [each for each in found if each.backend in case.backends]


def _print(record: Record, as_json: bool) -> None:
    """Print the summary, one table for each graph."""
    lines = summarize(record)
    if as_json:
        sessions = [asdict(session) for session in record.sessions]
        rows = [asdict(line) for line in lines]
        click.echo(dumps(with_notes({"schema": 1, "command": "bench bfs", "sessions": sessions, "rows": rows})))
        return
    for name in dict.fromkeys(line.graph for line in lines):
        about = record.graphs[name]
        click.echo(
            f"graph       {printable(name)}: {counted(about.vertices, 'vertex', 'vertices')}, "
            f"{counted(about.edges, 'directed edge')}; {about.about}"
        )
        click.echo("")
        click.echo(folded(HEADERS, [cells(line) for line in lines if line.graph == name]))
        click.echo("")
    shared = sum(line.disturbed for line in lines)
    if line := options.disturbed_line(shared, sum(line.trials for line in lines)):
        click.echo(line)
