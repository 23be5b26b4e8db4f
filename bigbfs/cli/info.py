"""``bigbfs info``: header, sections and degrees of a graph file, without reading its edges."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bigbfs.cli import options, outputs
from bigbfs.cli.values import json_option, output_option
from bigbfs.cli.wording import printable
from bigbfs.formats.container.parts import holds_manifest
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import graph_object
from bigbfs.report.pictures import check_picture
from bigbfs.report.progress import Progress
from bigbfs.sizes import counted, format_size


@click.command("info")
@options.graph_argument
@output_option("--plot", metavar="F.svg|png", help="Draw the distribution of degrees, log-log.")
@outputs.force_option
@json_option
def command(graph: Path | None, plot: Path | None, force: bool, as_json: bool) -> None:
    """Show header, sizes, flags and the degree distribution of GRAPH.

    Reads the header and the offsets, not the edges, of a .csrbin or .ccsr; `bigbfs check` reads everything. Without
    GRAPH, the newest graph file in this folder. Of a folder of shards degrees are those of the shards that are there.
    """
    check_picture(plot, force)
    if graph is not None and holds_manifest(graph):
        with Progress().step(f"look at {graph}"):
            facts = _facts_of_shards(graph, plot)
    else:
        graph = options.resolve_graph(graph, compressed=False)
        with Progress().step(f"look at {graph}"):
            facts = _facts(graph)
            if plot is not None:
                _draw(graph, plot)
    wrote = [] if plot is None else [outputs.written(plot)]
    if as_json:
        found = {"schema": SCHEMA, "command": "info", **facts}
        click.echo(json.dumps(found | {"wrote": outputs.as_json(wrote)}))
        return
    _print(facts)
    for file in wrote:
        click.echo("\n" + file.line())


SHARDS = 256
"""So many shards of a graph are listed; the JSON has all."""

MANY = 10_000
"""Edges below which a rate says nothing: the header of a file is most of it."""


def _draw(graph: Path, path: Path) -> None:
    """Draw the distribution of degrees of ``graph`` to ``path``."""
    from bigbfs.formats.container.describe import degree_blocks
    from bigbfs.graph.graph import Graph
    from bigbfs.report.pictures import save
    from bigbfs.report.plot import degree_distribution

    with Graph.open(graph) as opened:
        title = f"{graph.name}: {counted(opened.n, 'vertex', 'vertices')}, {counted(opened.m, 'directed edge')}"
        save(degree_distribution(degree_blocks(opened), title), path)


def _facts(path: Path) -> dict[str, Any]:
    from bigbfs.formats.container import layout
    from bigbfs.formats.container.csrbin import open_container
    from bigbfs.formats.container.describe import degree_summary
    from bigbfs.formats.container.mapped import MappedFile
    from bigbfs.graph.graph import Graph

    with Graph.open(path) as graph:
        size = path.stat().st_size
        mapped = MappedFile(path)
        own = mapped.start(len(layout.MAGIC)) == layout.MAGIC
        sections, provenance = [], None
        if own:
            from bigbfs.formats.container.csrbin import read_provenance

            container = open_container(path)
            sections = [asdict(section) for section in container.sections.values()]
            container.mapped.close()
            provenance = read_provenance(path)
        mapped.close()
        return {
            "graph": graph_object(graph),
            "format": f"container version {layout.VERSION}" if own else "foreign (raw .csrbin or GAP .sg)",
            "file_bytes": size,
            "bytes_per_edge": size / graph.m if graph.m else None,
            "id_bytes": graph.ids.itemsize,
            "flags": {name: getattr(graph.flags, name) for name in layout.FLAGS},
            "labels": graph.labels is not None,
            "first_id": graph.first_id,
            "names": graph.names is not None,
            "in_neighbours": graph.in_adjacency is not None,
            "sections": sections,
            "provenance": provenance,
            "degrees": asdict(degree_summary(graph)),
        }


def _facts_of_shards(path: Path, plot: Path | None) -> dict[str, Any]:
    """Return what the manifest says, and the degrees of the shards that are there; draw those where asked for."""
    from bigbfs.formats.container import layout
    from bigbfs.formats.shards.here import ShardsHere
    from bigbfs.formats.shards.manifest import VERSION

    found = ShardsHere(path)
    if plot is not None:
        from bigbfs.report.pictures import save
        from bigbfs.report.plot import degree_distribution

        of = counted(found.n, "vertex", "vertices")
        title = f"{path.name}: {found.rows:,} of {of}, {counted(found.m, 'directed edge')}"
        save(degree_distribution(found.degrees(), title), plot)
    size, rest, here = sum(entry.bytes for entry in found.entries), found.rest, set(found.here)
    sections = {} if rest is None else rest.sections
    return {
        "graph": graph_object(found),
        "format": f"{counted(len(found.manifest.shards), 'shard')}, version {VERSION}",
        "file_bytes": size,
        "bytes_per_edge": size / found.m if found.m else None,
        "id_bytes": found.ids.itemsize,
        "flags": {name: getattr(found.flags, name) for name in layout.FLAGS},
        "labels": "labels" in sections,
        "first_id": found.manifest.graph["first_id"],
        "names": layout.NAMES[0] in sections,
        "in_neighbours": found.flags.symmetric or "in_indptr" in sections,
        "sections": [asdict(section) for section in sections.values()],
        "provenance": None if rest is None else rest.provenance,
        "degrees": asdict(found.summary()),
        "rows_here": found.rows,
        "shards": [asdict(entry) | {"here": part in here} for part, entry in enumerate(found.manifest.shards)],
    }


def _origin(provenance: dict[str, Any]) -> str:
    """Return the sources and the options that differ from the defaults (off, none, the order it came in), in one line.

    The sources are None where the graph was read from standard input or a pipe.
    """
    sources = [source["path"] for source in provenance.get("sources") or [] if "path" in source]
    options = {
        name.replace("_", "-"): shlex.quote(",".join(map(str, value))) if isinstance(value, list) else value
        for name, value in provenance.get("options", {}).items()
        if value not in (False, None, 0, "original", "kept")
    }
    chosen = [f"--{name}" if value is True else f"--{name} {value}" for name, value in options.items()]
    return " ".join([*sources, *chosen]) or json.dumps(provenance)


def _print(facts: dict[str, Any]) -> None:
    graph, degrees = facts["graph"], facts["degrees"]
    flags = ", ".join(name for name, held in facts["flags"].items() if held)
    rate = facts["bytes_per_edge"] if graph["edges"] >= MANY else None
    ids = "original ids in labels" if facts["labels"] else f"ids from {facts['first_id']} on"
    ids = "names" if facts["names"] else ids
    lines = [
        ("graph", f"{graph['path']}: {facts['format']}, {graph['codec']}"),
        ("vertices", f"{graph['vertices']:,} ({ids}, {facts['id_bytes']} bytes each)"),
        ("edges", f"{graph['edges']:,} directed"),
        ("flags", flags),
        ("file", format_size(facts["file_bytes"]) + (f", {rate:.2f} bytes per edge" if rate else "")),
        (
            "degrees",
            f"min {degrees['minimum']:,}, median {degrees['median']:,}, mean {degrees['mean']:.2f}, "
            f"max {degrees['maximum']:,}; {degrees['isolated']:,} isolated",
        ),
    ]
    if facts["provenance"]:
        lines.append(("made from", _origin(facts["provenance"])))
    if "shards" in facts:
        there = sum(shard["here"] for shard in facts["shards"])
        rows = f"{there:,} of {len(facts['shards']):,}, with {facts['rows_here']:,} rows, whose degrees these are"
        lines.append(("here", rows))
    for name, text in lines:
        click.echo(f"{name:<11} {printable(text)}")
    for shard in facts.get("shards", ())[:SHARDS]:
        missing = "" if shard["here"] else "  not here"
        click.echo(
            f"{shard['file']}  rows {shard['first_row']:>14,} on {shard['rows']:>14,}  "
            f"edges {shard['edges']:>16,}  {format_size(shard['bytes'])}{missing}"
        )
    if facts["sections"]:
        click.echo("\nsection        dtype        count           offset           length")
        for section in facts["sections"]:
            click.echo(
                f"{section['name']:<14} {section['dtype']} {section['count']:>14,} {section['offset']:>16,} "
                f"{section['length']:>16,}"
            )
    if degrees["histogram"]:
        click.echo("\ndegree              vertices")
        for bits, count in enumerate(degrees["histogram"]):
            low, high = (1 << bits) >> 1, (1 << bits) - 1
            if count:
                click.echo(f"{(f'{low:,}' if high <= low else f'{low:,} to {high:,}'):<19} {count:,}")
