"""``bigbfs check``: validate everything in a graph file: a line for each check, the place of the first failure."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from bigbfs.cli.options import graph_argument, resolve_graph
from bigbfs.cli.values import json_option
from bigbfs.cli.wording import in_options, printable
from bigbfs.errors import FormatError, UsageError
from bigbfs.record import SCHEMA
from bigbfs.report.progress import Progress


@click.command("check")
@graph_argument
@click.option("--here", is_flag=True, help="Of a folder of shards: those that are here, though others lie elsewhere.")
@json_option
def command(graph: Path | None, here: bool, as_json: bool) -> None:
    """Validate everything in GRAPH: checksums, ranges, order, symmetry, encoding, labels.

    Every edge is read. The first check that fails ends the run with exit code 1 and names the place. Without GRAPH, the
    newest graph file in this folder. Of a folder of shards (`bigbfs split`) each is checked by itself; one that is
    missing is named at last, and a failure, too, unless --here says that it lies on another machine.
    """
    from bigbfs.formats.container.check import check
    from bigbfs.formats.shards.checking import check_shards
    from bigbfs.formats.shards.manifest import NAME

    folder = graph if graph is not None and (graph / NAME).is_file() else None
    if here and folder is None:
        raise UsageError("--here is for a folder of shards; leave it out")
    graph = resolve_graph(graph, compressed=False) if folder is None else folder
    passed: list[dict[str, str]] = []
    error = None
    try:
        told = Progress()
        with told.step(f"check {graph}"):
            for step in check(graph, told) if folder is None else check_shards(folder, told, here=here):
                passed.append({"name": step.name, "detail": step.detail})
                if not as_json:
                    told.say(f"ok  {step.name}: {step.detail}")
    except FormatError as failure:
        error = failure
    if as_json:
        result = {
            "schema": SCHEMA,
            "command": "check",
            "graph": {"path": str(graph)},
            "ok": error is None,
            "checks": passed,
            "error": None if error is None else in_options(error, click.get_current_context().command),
        }
        click.echo(json.dumps(result))
    if error is not None:
        sys.stdout.flush()
        raise error
    if not as_json:
        click.echo(f"{printable(str(graph))}: all {len(passed)} checks hold")
