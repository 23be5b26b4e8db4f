"""``bigbfs verify``: every algorithm, backend, encoding and residency against the reference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bigbfs import api, verification
from bigbfs.algorithms import ALGORITHMS
from bigbfs.cli import values
from bigbfs.errors import VerificationError
from bigbfs.generate import graph as generated
from bigbfs.generate.zoo import zoo
from bigbfs.graph.graph import Graph
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps
from bigbfs.report.progress import Progress
from bigbfs.report.table import table
from bigbfs.sizes import counted

GENERATED: dict[str, tuple[str, dict[str, Any]]] = {
    "kronecker scale 14": ("kronecker", {"scale": 14}),
    "uniform scale 14": ("uniform", {"scale": 14}),
    "grid2d 150 x 200": ("grid2d", {"rows": 150, "columns": 200}),
    "road 20,000": ("road", {"vertices": 20_000}),
    "star 150,000": ("star", {"vertices": 150_000}),
    "powerlaw 20,000": ("powerlaw", {"vertices": 20_000, "max_degree": 2_000}),
    "dag 20,000": ("dag", {"vertices": 20_000, "edges": 100_000}),
}


@click.command("verify")
@click.argument("graphs", nargs=-1, type=values.PATH, metavar="[GRAPH]...")
@click.option(
    "--backend", type=click.Choice(api.BACKENDS), default="auto", show_default=True, help="auto: all present."
)
@click.option("--sources", type=click.IntRange(1), default=6, show_default=True, help="Sources per graph.")
@values.json_option
def command(graphs: tuple[Path, ...], backend: str, sources: int, as_json: bool) -> None:
    """Verify every algorithm, backend, encoding and residency against the reference.

    Runs on a zoo of small graphs, on generated graphs and on the GRAPH files given, which takes a minute or more: what
    is under way is said on standard error. Exit 3 on any difference.
    """
    backends = _backends(backend)
    strategies = tuple(dict.fromkeys(name for entry in ALGORITHMS.values() for name in entry.strategies))
    work = list(verification.settings(backends, strategies))
    tallies: list[verification.Tally] = []
    names = 0
    told = Progress()
    small, last = zoo().keys(), ""
    with told.step("verify"):
        for name, graph in _graphs(graphs):
            names += 1
            phase = f"verify {counted(len(small), 'small graph')}" if name in small else f"verify {name}"
            if phase != last:
                told.phase(f"{phase}, {counted(len(work), 'setting')}")
            last = phase
            told.now(f"verify {name}", len(work), "settings")
            expected = verification.Expected(name, graph, sources)
            for setting in work:
                tallies += expected.check(setting)
                told.advance(1)
    merged = verification.merge(tallies)
    differences = [line for tally in merged for line in tally.differences]
    if as_json:
        rows = [asdict(tally) for tally in merged]
        click.echo(dumps({"schema": SCHEMA, "command": "verify", "graphs": names, "checks": rows}))
    else:
        _print(merged, names, backends)
    if differences:
        raise VerificationError(f"{len(differences)} differences from the reference; the first: {differences[0]}")


def _backends(backend: str) -> tuple[str, ...]:
    if backend != "auto":
        return (backend,)
    return ("cpu", "gpu") if api.choose_backend("auto") == "gpu" else ("cpu",)


def _graphs(files: tuple[Path, ...]) -> Iterator[tuple[str, Graph]]:
    with ExitStack() as stack:
        opened = [stack.enter_context(Graph.open(path)) for path in files]  # a wrong name is found out now
        yield from zoo().items()
        for name, (kind, parameters) in GENERATED.items():
            yield name, generated(kind, seed=1, **parameters)
        for path, graph in zip(files, opened, strict=True):
            graph.require_valid()
            yield str(path), graph


def _print(merged: list[verification.Tally], graphs: int, backends: tuple[str, ...]) -> None:
    rows = [
        (
            tally.algorithm,
            tally.setting.backend,
            tally.setting.residency if tally.setting.backend == "gpu" else "host",
            tally.setting.codec,
            tally.setting.strategy,
            tally.graphs,
            tally.runs,
            len(tally.differences),
            len(tally.left_out),
        )
        for tally in merged
    ]
    headers = ("algorithm", "backend", "edges in", "codec", "strategy", "graphs", "runs", "differ", "no room")
    click.echo(table(headers, rows))
    if "gpu" not in backends:
        click.echo("\nno usable GPU here: only the CPU was verified")
    for line in dict.fromkeys(line for tally in merged for line in tally.left_out):
        click.echo(f"left out: {line}")
    bad = [line for tally in merged for line in tally.differences]
    for line in bad[:20]:
        click.echo(f"DIFFERENCE: {line}")
    total = sum(tally.runs for tally in merged)
    click.echo(f"\n{total:,} runs on {graphs} graphs, {len(bad)} differences from the reference")
