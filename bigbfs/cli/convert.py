"""``bigbfs convert``: edge lists and graph files of other tools -> .csrbin and .ccsr.

What converts is imported when that begins: a process that only starts ranks goes without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bigbfs.cli.converting import COLUMNS_HELP, Columns
from bigbfs.cli.loading import loading
from bigbfs.cli.notes import note
from bigbfs.cli.ranks import Ranks, joined
from bigbfs.cli.values import MEMORY, PATH, THREADS, output_option
from bigbfs.cli.wording import noted, printable
from bigbfs.conversion.orders import KEPT, ORDERS, says_not_kept
from bigbfs.formats.readers import NAMES
from bigbfs.record import SCHEMA
from bigbfs.report.table import labelled
from bigbfs.sizes import counted, format_size

if TYPE_CHECKING:
    from bigbfs.conversion import ConvertOptions, ConvertReport

    Convert = Callable[[Sequence[str | Path], Path | None, ConvertOptions], ConvertReport]

MANY = 10_000
"""Edges below which rates say nothing: the header of a file and the start of threads are most of them."""
LEAST = 0.005
"""Seconds below which a phase is not told."""


@click.command("convert")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@output_option(
    "-o",
    "--output",
    metavar="OUT",
    help="File to write, .csrbin or .ccsr (--shards: a folder). Default: the first input's name with .csrbin.",
)
@click.option("--compressed", is_flag=True, help="Also write the delta-varint .ccsr beside the .csrbin.")
@click.option("--directed", is_flag=True, help="Store every edge as given. Default: both ways.")
@click.option("--undirected", is_flag=True, help="Store every edge both ways, also where an input says it is one-way.")
@click.option(
    "--in-edges/--no-in-edges",
    default=True,
    show_default=True,
    help="With --directed: also store the in-neighbours, which bottom-up search needs.",
)
@click.option("--keep-duplicates", is_flag=True, help="Store an edge as often as it is given.")
@click.option("--keep-self-loops", is_flag=True, help="Store self-loops (once each).")
@click.option("--keep-ids", is_flag=True, help="Vertices are 0 to the largest id. Default: those that occur.")
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    help="Order of the vertices; degree: descending; bfs: breadth-first; rcm: reverse Cuthill-McKee. "
    "Default: that of the input, if it is one graph file in an order of its own; else original.",
)
@click.option(
    "--format",
    "form",
    metavar="F",
    help=f"Format of the inputs: {', '.join(NAMES)}. Default: by suffix and content.",
)
@click.option("--columns", type=Columns(), metavar="A,B", help=COLUMNS_HELP)
@click.option("--edge-index", is_flag=True, help="An array of shape (2, N): a row of sources, one of targets.")
@click.option("--bipartite", is_flag=True, help="The two ends are numbered apart: put the second side after the first.")
@click.option(
    "--names/--no-names",
    default=None,
    help="Read every id as a name, or none; a BVGraph has them in a .urls beside it.  [default: as it looks]",
)
@click.option(
    "--header/--no-header",
    default=None,
    help="The first line of a CSV file names its columns, or is an edge.  [default: as it looks]",
)
@click.option("--skip-bad-lines", type=click.IntRange(0), default=0, metavar="N", help="Let up to N bad lines pass.")
@click.option(
    "--memory",
    type=MEMORY,
    metavar="SIZE",
    help="Memory to use at most, e.g. 2GiB or 50%: what takes more is sorted on disk. Default: half of what is free.",
)
@click.option(
    "--tmp",
    type=PATH,
    metavar="DIR",
    help="Folder for the temporary files of a graph that does not fit. Default: that of the output.",
)
@click.option(
    "--shards",
    type=click.IntRange(1),
    metavar="N",
    help="Write N shards, ranges of rows, to a folder, NAME.shards; with --compressed their rows are compressed.",
)
@click.option("--force", is_flag=True, help="Convert again although the output is up to date; replace any file.")
@click.option("--threads", type=THREADS, help="CPU threads. Default: all that this process may use.")
@click.option(
    "--ranks",
    type=click.IntRange(1),
    metavar="N",
    help="Convert by N processes, --memory and --threads for each (`mpiexec -n N bigbfs convert` does the same).",
)
@click.option("--json", "as_json", is_flag=True, help="Print exactly one JSON object.")
def command(
    inputs: tuple[str, ...],
    output: Path | None,
    form: str | None,
    ranks: int | None,
    as_json: bool,
    **choices: object,
) -> None:
    """Turn edge lists and graph files of other tools into .csrbin / .ccsr.

    INPUT is text (SNAP, CSV), Parquet or Arrow (pip install 'bigbfs[tables]'), Matrix Market, METIS, DIMACS .gr, NumPy
    or SciPy .npy/.npz, GAP .sg or a raw .csrbin, each also as .gz, .bz2, .xz or .zst, or - for standard input, or a
    folder of tables; several are one graph. By default an edge is stored both
    ways, duplicates and self-loops go, and ids with gaps are renumbered (the original ones stay in the file, and every
    command speaks them). An output made of the same input with the same options is left as it is.
    """
    with joined(Ranks(ranks, "auto", "auto", False), {"threads": choices["threads"]}) as group:
        convert = _loaded(group)
        from bigbfs.conversion.options import ConvertOptions

        options = ConvertOptions(format=form, progress=True, **choices)  # type: ignore[arg-type]
        report = convert(inputs, output, options)
        for each in filter(says_not_kept, report.notes):  # it must not pass unseen, nor in a script
            note(noted(each))
        if as_json:
            from bigbfs.report.jsonout import dumps

            click.echo(dumps({"schema": SCHEMA, "command": "convert", **report.as_json()}))
        else:
            click.echo(describe(report))


def _loaded(group: Any) -> Convert:
    """Return what converts, alone or with the other ranks of ``group``."""
    with loading():
        if group is None:
            from bigbfs.conversion.pipeline import convert

            return convert
        from bigbfs.conversion.spread.convert import convert_over_ranks
        from bigbfs.jit.processors import processors

    def convert_together(inputs: Sequence[str | Path], output: Path | None, options: ConvertOptions) -> ConvertReport:
        threads = options.threads or max(1, processors() // group.host_size)
        return convert_over_ranks(inputs, output, replace(options, threads=threads), group)

    return convert_together


def describe(report: ConvertReport) -> str:
    """Return the summary for people."""
    files = [(report.output, report.output_bytes)]
    if report.compressed not in (None, report.output):
        files.append((str(report.compressed), report.compressed_bytes))
    shards = f" in {counted(report.shards, 'shard')}" if report.shards else ""
    lines = [
        f"{'cached' if report.cached else 'output':12}{printable(str(path))}: {format_size(size)}{shards}"
        + (f", {size / report.edges:.2f} bytes per edge" if report.edges >= MANY else "")
        for path, size in files
    ]
    if report.cached:
        lines.append("            made of the same input with the same options: nothing to do (--force converts again)")
    lines += [
        f"vertices    {report.vertices:,}",
        f"edges       {report.edges:,} stored, of {counted(report.lines, 'line')} ({format_size(report.input_bytes)})",
        f"self-loops  {counted(report.self_loops, 'line')}",
        f"duplicates  {counted(report.duplicates, 'line')}",
        f"reversed    {counted(report.reversed, 'line')}",
        f"skipped     {counted(report.comment_lines, 'comment or header line')}, "
        f"{counted(report.skipped_lines, 'bad line')}",
    ]
    if report.order != "original":
        lines.append(f"order       {'as in the input' if report.order == KEPT else report.order}")
    lines += [labelled("note", noted(each)) for each in report.notes if not says_not_kept(each)]
    if not report.cached:
        phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in report.parts.items() if seconds >= LEAST)
        worked = report.seconds - report.phases.get("compile", 0.0)
        rate = format_size(report.input_bytes / worked if worked > 0 else 0)
        lines.append(f"seconds     {report.seconds:.2f} ({phases})")
        if report.edges >= MANY and worked > 0:
            beside = ", compiling apart" if report.seconds - worked >= LEAST else ""
            lines.append(f"rate        {report.edges / worked / 1e6:.3g} M edges/s, {rate}/s of input{beside}")
        spilled = f", {format_size(report.spilled_bytes)} on disk in {counted(report.partitions, 'part')}"
        lines.append(
            f"memory      {format_size(report.peak_rss_bytes)} at most{spilled if report.method == 'external' else ''}"
        )
    return "\n".join(lines)
