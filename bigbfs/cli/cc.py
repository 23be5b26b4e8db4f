"""``bigbfs cc``: connected components, timed and, if asked, verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from bigbfs.algorithms.components.options import ALGORITHMS, MOST_ROUNDS, ComponentsOptions
from bigbfs.algorithms.components.result import ComponentsRecord
from bigbfs.algorithms.engine import Measured
from bigbfs.algorithms.ranked_gpus import require_exchange
from bigbfs.cli import options, outputs, said, values
from bigbfs.cli import ranks as ranks_of
from bigbfs.cli.notes import with_notes
from bigbfs.cli.wording import shown_name
from bigbfs.errors import UsageError, naming
from bigbfs.formats.ours import GRAPH
from bigbfs.graph.graph import Graph
from bigbfs.measures.rows_room import Rows
from bigbfs.record import median
from bigbfs.report.jsonout import cc_object, dumps
from bigbfs.report.pictures import check_picture
from bigbfs.report.progress import Progress
from bigbfs.report.table import table
from bigbfs.sizes import counted, format_size

if TYPE_CHECKING:
    from bigbfs.algorithms.components.sizes import SizeClass


@dataclass(frozen=True)
class Task:
    """What one invocation asks for."""

    how: ComponentsOptions
    trials: int
    verify: bool
    labels: Path | None
    sizes: Path | None
    largest: Path | None
    plot: Path | None = None
    force: bool = False


@click.command("cc")
@options.graph_argument
@click.option("--algorithm", type=click.Choice(ALGORITHMS), help="[default: afforest] All are exact. Ranks: afforest.")
@click.option("--afforest", is_flag=True, help="The same as --algorithm afforest.")
@click.option(
    "--rounds",
    type=click.IntRange(0, MOST_ROUNDS),
    help="Neighbours of each vertex that afforest links before it looks for the giant. Default: as many as it takes. "
    "Not for ranks, or shards, on CPUs.",
)
@click.option(
    "--skip-giant/--no-skip-giant",
    default=None,
    help="Leave out rows of vertices that are in the giant already. Default: yes (labelprop: never).",
)
@click.option(
    "--single-pass", is_flag=True, help="One pass, each link tried once; what it leaves is finished. Not for ranks."
)
@options.compressed_option
@options.where_options
@click.option("--trials", type=click.IntRange(1), default=1, show_default=True, help="Runs.")
@options.verify_option
@values.output_option(
    "--labels",
    "-o",
    "--output",
    "labels",
    metavar="F",
    help="Write int64 labels: the smallest original id of each vertex's component; by ascending id.",
)
@values.output_option(
    "--sizes",
    "sizes_to",
    metavar="F",
    help="Write the size of every component: F.csv, .parquet, .arrow (component, vertices), .npy (sizes alone) or -.",
)
@values.output_option(
    "--largest",
    metavar="FILE",
    help="Write the largest component as a graph (.csrbin or .ccsr) whose vertices keep their ids.",
)
@values.output_option("--plot", metavar="F.svg|png", help="Draw the sizes of the components, log-log.")
@outputs.force_option
@values.json_option
@ranks_of.gpus_option()
@ranks_of.options
def command(
    graph: Path | None,
    algorithm: str | None,
    afforest: bool,
    rounds: int | None,
    skip_giant: bool | None,
    single_pass: bool,
    compressed: bool,
    trials: int,
    verify: bool,
    labels: Path | None,
    sizes_to: Path | None,
    largest: Path | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
    ranks: ranks_of.Ranks,
    **where: Any,
) -> None:
    """Connected components, by default by Afforest; of a directed graph, the weak ones.

    GRAPH is a .csrbin, a .ccsr, a folder of shards, of which each rank opens its own, or a table of edges (.parquet,
    .arrow, .csv, a folder of them), which is converted first; without it, the newest graph file in this folder.
    Whatever the switches, the answer is exact; `bigbfs bench cc` shows what each costs. Over ranks on CPUs, and of
    shards there, only --no-skip-giant is a choice.
    """
    if afforest and algorithm not in (None, "afforest"):
        raise UsageError(f"--afforest and --algorithm {algorithm} contradict each other; give one of them")
    how = _how(algorithm or "afforest", rounds, skip_giant, single_pass)
    task = Task(how, trials, verify, labels, sizes_to, largest, plot, force)
    _check_outputs(task)
    outputs.check_streams((labels, sizes_to), as_json)
    ranks_of.prefer_gpus(ranks, where)
    options.check_where(where)
    require_exchange((how,), ranks.exchange)
    with (
        ranks_of.joined(ranks, where) as group,
        options.opened(graph, compressed, group, shards=True) as (opened, open_seconds),
    ):
        if largest is not None:
            opened.require_whole()
        _refuse_overwriting(largest, opened.path)
        if ranks_of.is_first(group):
            outputs.look_at_disk(opened, Rows(labels, "labels", np.int64, speaks=True))
        if _stays_on_one(opened, group, ranks, where):
            if group.rank:
                return  # and waits for the first
            group = None
        with options.placed(opened, (how,), ranks=(group, ranks), **where) as engine:
            with Progress().step("find the components"):
                measured = engine.measure(how, trials=trials, verify=verify)
            if ranks.verbose and group is not None:
                said.say_run(group, measured.records[-1])
            if ranks_of.is_first(group):
                _report(opened, engine, open_seconds, measured, task, as_json)


def _stays_on_one(graph: Graph, group: Any, asked: ranks_of.Ranks, where: dict[str, Any]) -> bool:
    """Return whether one GPU alone is taken for ``graph``, and say so; all ranks make this call."""
    if group is None or asked.gpus is None or where["residency"] not in ("auto", "vram"):
        return False
    from bigbfs.algorithms.ranked_gpus import labels_of_one
    from bigbfs.engines.gpu.planning import default_budget
    from bigbfs.engines.gpu.runtime import device

    def room() -> int:
        there, budget = default_budget(device.probe().free_bytes), where["vram_budget"]
        return there if budget is None else min(there, budget)

    one = labels_of_one(graph, group, asked.partition, room)
    if one and group.rank == 0:
        click.echo(
            "bigbfs: stays on one GPU, which has the labels of a graph stored by degree sooner, placing counted; "
            f"--partition whole takes {group.size} where each has room for all rows, to label it again and again; "
            "--partition words shares the rows",
            err=True,
        )
    return one


def _report(graph: Graph, engine: Any, opening: float, measured: Measured, task: Task, as_json: bool) -> None:
    """Write and print what was asked for."""
    runs, verifying = measured.records, measured.verify_seconds
    with (
        outputs.writing(lambda: _write(graph, measured, task)) as wrote,
        outputs.report_beside((task.labels, task.sizes)),
    ):
        if as_json:
            found = cc_object(graph, engine, opening, measured)
            click.echo(dumps(with_notes(found) | {"wrote": outputs.as_json(wrote)}))
            return
        click.echo(options.describe(graph))
        click.echo(options.describe_engine(engine))
        click.echo("")
        _print_runs(graph.n, runs)
        _print_sizes(measured.internal.sizes.classes)
        _print_largest(graph, measured)
        click.echo("\n" + options.setup_line(engine, opening, verifying if task.verify else None))
        size = format_size(engine.bytes.host), format_size(engine.bytes.device)
        click.echo(f"memory      host {size[0]}, device {size[1]}")
        if line := options.disturbed_line(sum(measured.disturbed), task.trials):
            click.echo(line)
        for file in wrote:
            click.echo(file.line())


def _how(algorithm: str, rounds: int | None, skip_giant: bool | None, single_pass: bool) -> ComponentsOptions:
    """Return what is run; refuse in the command line's words what the algorithm cannot do."""
    if rounds is not None and algorithm != "afforest":
        raise UsageError(f"--rounds goes with --algorithm afforest; leave it out, {algorithm} has no such rounds")
    if skip_giant and algorithm == "labelprop":
        raise UsageError(
            "--skip-giant does not go with --algorithm labelprop, whose labels may still get smaller there"
        )
    return ComponentsOptions(algorithm, rounds, skip_giant, single_pass)


def _refuse_overwriting(largest: Path | None, graph: Path | None) -> None:
    """Refuse the graph's own file, and the one that holds it compressed or plain: it would be made again."""
    if largest is None or graph is None:
        return
    if largest.exists() and largest.samefile(graph):
        raise UsageError(f"--largest {largest} is the graph itself; name another file")
    if largest.resolve().with_suffix("") == graph.resolve().with_suffix(""):
        raise UsageError(f"--largest {largest} is for {graph.name} in its other encoding; name another file")


def _check_outputs(task: Task) -> None:
    """Refuse, before any work is done, outputs that cannot be written."""
    outputs.check_array(task.labels, "labels", task.force)
    outputs.check_array(task.sizes, "sizes", task.force)
    check_picture(task.plot, task.force)
    files = {"--labels": task.labels, "--sizes": task.sizes, "--plot": task.plot, "--largest": task.largest}
    outputs.check_different(files)
    if task.largest is not None:
        from bigbfs.formats.container.part import check_target

        with naming(output="largest"):
            check_target(task.largest)
        outputs.check_output(task.largest, "largest", task.force, GRAPH)


def _write(graph: Graph, measured: Measured, task: Task) -> Iterator[outputs.Written | None]:
    """Write what was asked for."""
    if task.labels is not None:
        result = measured.result
        yield outputs.write_result(task.labels, "labels", result.labels, "component", result.vertices, speaks=True)
    if task.sizes is not None:
        smallest, vertices = measured.result.size_of_each()
        yield outputs.write_sizes(task.sizes, "sizes", smallest, vertices, graph.names)
    if task.largest is not None:
        from bigbfs.formats.container.part import save_part

        with naming(output="largest"):
            save_part(graph, measured.internal.in_largest(), task.largest)
        yield outputs.written(task.largest)
    if task.plot is not None:
        from bigbfs.report.pictures import save
        from bigbfs.report.plot import component_sizes

        record = measured.records[-1]
        name = graph.path.name if graph.path else "graph"
        largest = counted(record.largest, "vertex", "vertices")
        title = f"{name}: {counted(record.components, 'component')}, the largest of {largest}"
        save(component_sizes(measured.internal.size_of_each()[1], title), task.plot)
        yield outputs.written(task.plot)


def _print_runs(n: int, runs: list[ComponentsRecord]) -> None:
    record = runs[0]
    share = 100.0 * record.largest / max(n, 1)
    verified = "not asked" if record.verified is None else record.verified
    headers = ["components", "largest", "%", "ms", "verified"]
    cells = [record.components, record.largest, share, 1e3 * median(run.seconds for run in runs), verified]
    if record.algorithm != "afforest" or record.left:
        headers += ["algorithm", "passes", "left by one pass"]
        cells += [record.algorithm, record.passes, record.left]
    click.echo(table(headers, [cells]))


def _print_sizes(sizes: tuple[SizeClass, ...]) -> None:
    if sizes:
        rows = [(f"{each.smallest:,} to {each.largest:,}", each.components, each.vertices) for each in sizes]
        click.echo("\n" + table(("vertices of a component", "components", "vertices"), rows))


def _print_largest(graph: Graph, measured: Measured) -> None:
    largest = measured.internal.largest_of(graph)
    if len(largest) > 1:
        rows = [(shown_name(graph.called(member)), vertices) for member, vertices in largest]
        click.echo("\n" + table(("a member of the largest", "vertices"), rows))
    elif largest:
        click.echo(f"\na member    {shown_name(graph.called(largest[0][0]))}")
