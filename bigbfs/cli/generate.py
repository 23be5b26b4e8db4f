"""``bigbfs generate KIND``: one subcommand for each kind, with the options that fit it and no others."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bigbfs.cli.values import MEMORY, THREADS, Output
from bigbfs.cli.wording import printable
from bigbfs.generate.catalogue import KINDS, Kind, Parameter
from bigbfs.generate.output import GenerateReport, write_graph
from bigbfs.jit import compiling
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps
from bigbfs.report.progress import Progress
from bigbfs.report.table import labelled
from bigbfs.sizes import counted, format_size

MANY = 10_000
"""Edges below which a rate says nothing."""
LEAST = 0.005
"""Seconds below which compiling is not told."""

_MEMORY_ALL = "Memory to use at most, e.g. 2GiB or 50%. Default: half of what is free."
_MEMORY = (
    f"{_MEMORY_ALL} A graph file that takes more is made a slice of its rows at a time, in as few slices as fit; each "
    "draws all edges once more. Text is written as it is drawn."
)


class _Kinds(click.Group):
    """Lists the kinds under their own heading."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of kinds."""
        with formatter.section("Kinds"):
            formatter.write_dl([(kind.name, kind.summary) for kind in KINDS.values()])


@click.group("generate", cls=_Kinds, subcommand_metavar="KIND [OPTIONS] -o FILE")
def command() -> None:
    """Make a graph of known shape and write it to FILE: text (.txt, .el, also with .gz or .zst), .csrbin or .ccsr.

    Each undirected edge is one line of a text file and two entries of a graph file. Text holds duplicates and
    self-loops as drawn, and no isolated vertices; a graph file drops the former and keeps the latter. The same options
    and seed give the same graph on every machine. `bigbfs generate KIND --help` shows the options of a kind.
    """


def _option(parameter: Parameter) -> click.Option:
    """Return the command line's form of one parameter; the catalogue checks the range."""
    if parameter.type is bool:
        names = [f"{parameter.option}/--no-{parameter.option[2:]}"]
        return click.Option(names, default=parameter.default, show_default=True, help=parameter.help)
    kind: click.ParamType = click.INT if parameter.type is int else click.FLOAT
    shown = parameter.default is not None
    return click.Option(
        [parameter.option], type=kind, default=parameter.default, show_default=shown, help=parameter.help
    )


def _subcommand(kind: Kind) -> click.Command:
    """Return the command that makes graphs of ``kind``."""

    def run(output: Path, as_json: bool, **options: Any) -> None:
        told = Progress()
        with told.step(f"generate {kind.name}"):
            report = write_graph(kind.name, output, told=told, **options)
        click.echo(dumps({"schema": SCHEMA, "command": "generate", **asdict(report)}) if as_json else describe(report))

    common = [
        click.Option(["--seed"], type=click.INT, default=1, show_default=True, help="Random seed, 0 to 2^64 - 1."),
        Output(
            ["-o", "--output"],
            required=True,
            metavar="FILE",
            help="File to write; its suffix says what.",
        ),
        click.Option(
            ["--order"],
            type=click.Choice(["original", "degree"]),
            help="Order of the vertices in a graph file. [default: original]",
        ),
        click.Option(["--threads"], type=THREADS, help="CPU threads. Default: all that this process may use."),
        click.Option(["--memory"], type=MEMORY, help=_MEMORY if kind.drawn else _MEMORY_ALL),
        click.Option(["--force"], is_flag=True, help="Replace a file that bigbfs did not write."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print exactly one JSON object."),
    ]
    return click.Command(
        kind.name,
        callback=run,
        params=[*map(_option, kind.parameters), *common],
        help=kind.summary,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def describe(report: GenerateReport) -> str:
    """Return the summary for people."""
    drawn, dropped = "line", ""
    if report.self_loops is not None:
        drawn = "directed edge"
        loops, repeated = counted(report.self_loops, "self-loop"), counted(report.duplicates or 0, "repeated line")
        dropped = f"\ndropped     {loops}, {repeated}"
    rate = ""
    compiled = compiling.seconds()
    if report.edges >= MANY and report.seconds > compiled:
        rate = f", {report.edges / (report.seconds - compiled) / 1e6:.1f} M edges/s"
    first = f" (compile {compiled:.2f})" if compiled >= LEAST else ""
    notes = "".join(f"\n{labelled('note', printable(note))}" for note in report.notes)
    return (
        f"wrote       {printable(str(report.output))}: {format_size(report.output_bytes)}\n"
        f"graph       {report.kind}, seed {report.seed}: "
        f"{counted(report.vertices, 'vertex', 'vertices')}, {counted(report.edges, drawn)}{dropped}\n"
        f"time        {report.seconds:.2f} s{first}{rate}, peak memory {format_size(report.peak_rss_bytes)}{notes}"
    )


for _kind in KINDS.values():
    command.add_command(_subcommand(_kind))
