"""Write a graph in a format that other tools read; which there are says the registry, :mod:`bigbfs.formats.writers`.

In: a Graph, plain or compressed. Out: a file. The edges are taken in chunks of bounded size, so the memory needed does
not grow with them, except for a directed .sg without stored in-neighbours, which have to be made. ``el`` and
the tables speak the original ids; converting them again gives the same graph. The others number the vertices in the
graph's order.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from bigbfs.errors import FormatError, UsageError
from bigbfs.formats.atomic import replacing
from bigbfs.formats.container import csrbin
from bigbfs.formats.writers import writers
from bigbfs.formats.writers.suffixes import packed, packing_of, require_packing
from bigbfs.formats.writers.writer import Exported, Progress, Writer
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import thread_count


def export(
    graph: Graph,
    to: str,
    output: Path | BinaryIO,
    *,
    both_directions: bool = False,
    progress: Progress = lambda edges: None,
) -> Exported:
    """Write ``graph`` as ``to``, one of ``writers.NAMES``.

    Parameters
    ----------
    output
        A file, replaced only when all is written, packed where its name ends in .gz or .zst; or an open binary stream.
    both_directions
        Where a format has an undirected edge once: write each direction, as tools that know directed edges only want.
    progress
        Called with the number of edges done since the last call.

    Raises
    ------
    UsageError
        The format cannot hold so many vertices.
    FileAccessError
        The file cannot be written.
    FormatError
        The graph file is damaged.
    DoesNotFitError
        The disk has no room for it.
    """
    if graph.path is not None:
        csrbin.require_checksums(graph.path)
    try:
        return _export(graph, writers()[to], output, both_directions, progress)
    except FormatError as error:
        raise FormatError(f"{graph.path or 'graph'}: {error}") from None


def _export(graph: Graph, writer: Writer, output: Path | BinaryIO, both: bool, progress: Progress) -> Exported:
    if writer.most_vertices is not None and graph.n > writer.most_vertices:
        others = " or ".join(other.name for other in writers().values() if other.most_vertices is None)
        raise UsageError(f"{writer.name} has 32-bit signed ids: {graph.n} vertices are too many; export {others}")
    if isinstance(output, Path):
        require_packing(output)
        packing = packing_of(output)
        if not packing:  # what is packed takes less, nobody knows how much
            writer.require_room(graph, output, both)
        with replacing(output) as whole, packed(whole, packing, thread_count()) as stream:
            return _export(graph, writer, stream, both, progress)
    done = writer.write(graph, output, both, progress)
    start = writer.numbered_from
    if start is None or not graph.n or (graph.labels is None and graph.first_id == start):
        return done
    note = (
        f"{writer.name} has no place for ids: vertices are numbered {start} to {graph.n - 1 + start} in the graph's "
        f"order, the first is {int(graph.original(0))}"
    )
    return replace(done, notes=(*done.notes, note))
