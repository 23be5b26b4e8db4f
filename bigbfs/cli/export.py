"""``bigbfs export``: a graph in a format of another tool."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from bigbfs.cli import options, outputs, values
from bigbfs.cli.wording import printable
from bigbfs.errors import UsageError
from bigbfs.formats.writers import NAMES, writers
from bigbfs.formats.writers.suffixes import PACKED, format_of
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps
from bigbfs.report.progress import Progress
from bigbfs.sizes import counted

_HELP = f"""Write GRAPH in a format that other tools read.

{". ".join(f"{writer.name}: {writer.summary}" for writer in writers().values())}. Without --to
the suffix of -o says which; {" or ".join(PACKED)} behind it packs the file. Without -o the file is named after GRAPH;
without GRAPH, the newest graph file in this folder is written.
"""
_ONCE = ", ".join(writer.name for writer in writers().values() if writer.one_direction)
_NAMED = ", ".join(writer.name for writer in writers().values() if writer.keeps_names)


@click.command("export", help=_HELP)
@options.graph_argument
@click.option("--to", "to", type=click.Choice(NAMES), help="Format to write. Default: as the suffix of -o says.")
@values.output_option("-o", "--output", help="File to write; - is standard output.")
@click.option("--both-directions", is_flag=True, help=f"{_ONCE}: write an undirected edge once in each direction.")
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@values.json_option
def command(
    graph: Path | None, to: str | None, output: Path | None, both_directions: bool, force: bool, as_json: bool
) -> None:
    """Open GRAPH and write it."""
    to = _named_by(output) if to is None else to
    if both_directions and not writers()[to].one_direction:
        raise UsageError(f"--both-directions is for {_ONCE}; {to} says for itself whether a graph is undirected")
    piped = str(output) == "-"
    if piped and as_json:
        raise UsageError("-o - writes the graph to standard output, where --json would write too; give one of them")
    from bigbfs.formats.writers.export import export
    from bigbfs.graph.graph import Graph

    graph = options.resolve_graph(graph, compressed=False)
    if output is None:
        output = graph.with_name(graph.name.removesuffix(".ccsr").removesuffix(".csrbin") + writers()[to].suffix)
    if output.exists() and graph.exists() and output.samefile(graph):
        raise UsageError(f"-o {output} is the graph itself; name another file")
    told = Progress()
    with Graph.open(graph) as opened, told.step(f"export {graph} to {output}", opened.m, "edges"):
        if not piped:
            outputs.check_output(output, "output", force)
        stream = sys.stdout.buffer if piped else output
        done = export(opened, to, stream, both_directions=both_directions, progress=told.advance)
        sys.stdout.flush()  # what cannot be written is no success
        if opened.names is not None and not writers()[to].keeps_names:
            kept = f"{to} has no names, {graph} keeps them ({_NAMED} write them)"
            dropped = f"vertices are numbered in the order of their names: {kept}"
            done = replace(done, notes=(*done.notes, dropped))
        facts = {"path": str(graph), "vertices": opened.n, "edges": opened.m, "codec": opened.codec}
    for note in done.notes:
        click.echo(f"note: {printable(note)}", err=True)
    if as_json:
        wrote = outputs.as_json([outputs.written(output)])
        found = {"graph": facts, "to": to, "lines": done.lines, "isolated": done.isolated, "notes": list(done.notes)}
        click.echo(dumps({"schema": SCHEMA, "command": "export", **found, "wrote": wrote}))
    else:
        where = "standard output" if piped else output
        click.echo(f"{printable(str(where))}: {counted(done.lines, 'edge')}", err=True)


def _named_by(output: Path | None) -> str:
    """Return the format that the name of the file says.

    Raises
    ------
    UsageError
        It says none, or there is no name.
    """
    if output is None or str(output) == "-":
        what = "no file is named" if output is None else "standard output has no suffix"
        raise UsageError(f"{what} whose suffix says the format: give --to ({', '.join(NAMES)}), or -o FILE.el, say")
    found = format_of(output)
    if found is None:
        known = ", ".join(writer.suffix for writer in writers().values())
        raise UsageError(
            f"-o {output}: the suffix is none of {known} (and {' or '.join(PACKED)} behind it); name the file so, or "
            f"say the format with --to ({', '.join(NAMES)})"
        )
    return found
