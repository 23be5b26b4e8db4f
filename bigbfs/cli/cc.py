"""``bigbfs cc``: connected components, timed and, if asked, verified."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

import click

from bigbfs import api
from bigbfs.cli import options
from bigbfs.cli.arrays import check_writable, write_npy
from bigbfs.record import ComponentsRecord
from bigbfs.reference import validate
from bigbfs.report.jsonout import cc_object, dumps
from bigbfs.report.table import table
from bigbfs.sizes import format_size


@click.command("cc")
@options.graph_argument
@click.option("--afforest", is_flag=True, help="Exact Afforest (the default, and the only algorithm).")
@options.compressed_option
@options.where_options
@click.option("--trials", type=click.IntRange(1), default=1, show_default=True, help="Runs.")
@options.verify_option
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="F.npy",
    help="Write int64 labels: the smallest original id of each vertex's component.",
)
@options.json_option
def command(
    graph: Path | None,
    afforest: bool,
    compressed: bool,
    trials: int,
    verify: bool,
    labels: Path | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Connected components by exact Afforest; of a directed graph, the weak ones.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder.
    """
    check_writable(labels)
    with options.opened(graph, compressed) as (opened, open_seconds), api.engine(opened, **where) as engine:
        runs = []
        verifying = 0.0
        for _ in range(trials):
            result = engine.connected_components()
            if verify:
                start = time.perf_counter()
                validate.labels(opened, result.labels)
                verifying += time.perf_counter() - start
                result.record.verified = True
            runs.append(result.record)
        if labels:
            write_npy(labels, api.canonical_labels(opened, result.labels))
        if as_json:
            click.echo(dumps(cc_object(opened, engine, open_seconds, runs)))
            return
        click.echo(options.describe(opened))
        click.echo(options.describe_engine(engine))
        click.echo("")
        _print_runs(opened.n, runs)
        click.echo("\n" + options.setup_line(engine, open_seconds, verifying if verify else None))
        click.echo(f"memory      host {format_size(engine.bytes.host)}, device {format_size(engine.bytes.device)}")


def _print_runs(n: int, runs: list[ComponentsRecord]) -> None:
    record = runs[0]
    share = 100.0 * record.largest / max(n, 1)
    verified = "not asked" if record.verified is None else record.verified
    headers = ("components", "largest", "%", "ms", "verified")
    milliseconds = 1e3 * median(run.seconds for run in runs)
    click.echo(table(headers, [(record.components, record.largest, share, milliseconds, verified)]))
