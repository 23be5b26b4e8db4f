"""WebGraph's BVGraph (.graph with its .properties): rows of a directed graph, as edges.

Either file may be named. Rows come sorted: what only stores them (:mod:`bigbfs.conversion.on_disk.ready`) does not read
them as edges. The codes are in :mod:`bigbfs.formats.bvgraph`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.bvgraph.file import BvGraph
from bigbfs.formats.bvgraph.properties import is_bvgraph, is_properties, parts, read_properties
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.formats.readers.format import SAMPLES, Format, Reading, Rules
from bigbfs.formats.streams.sources import Source
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import thread_count

_SAMPLED = 1 << 10
_EXAMPLE = (
    b"#BVGraph properties\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nnodes=3\narcs=3\nwindowsize=7\n"
    b"minintervallength=4\nzetak=3\ncompressionflags=\n"
)


@contextmanager
def opened(path: Path) -> Iterator[BvGraph]:
    """Open the BVGraph of which ``path`` is the .graph or the .properties, the .graph compressed or not.

    Raises
    ------
    InputError, FileAccessError
        One of the two is missing, cannot be read, or is not what it should be.
    """
    graph, properties = parts(path)
    with Source(graph) as source, source.seekable() as (_, plain), BvGraph(plain, properties, source.name) as found:
        yield found


def _path(source: Source) -> Path:
    if source.path is None:
        raise InputError(f"{source.name}: a BVGraph is two files, .graph and .properties; name one of them")
    return source.path


def _read(reading: Reading) -> EdgeList:
    threads = thread_count(reading.threads)
    path = _path(reading.source)
    with opened(path) as graph:
        edges = reading.room()
        if graph.ids == np.uint64:
            edges.widen()
        done = 0
        size = reading.source.size or 0
        for piece in graph.rows(threads, keep_loops=True, memory=reading.memory):
            sources, targets = edges.space(len(piece.indices))
            rows = np.arange(piece.first, piece.first + len(piece.degrees), dtype=graph.ids)
            sources[:] = np.repeat(rows, piece.degrees)
            targets[:] = piece.indices
            del sources, targets
            edges.keep(len(piece.indices))
            if reading.progress is not None:
                now = size * (piece.first + len(piece.degrees)) // graph.shape.n
                reading.progress(now - done)
                done = now
        n = graph.shape.n
    return EdgeList(*edges.arrays(), declared_n=n, input_bytes=parts(path)[0].stat().st_size)


def _estimate(source: Source, rules: Rules) -> InputEstimate:
    shape = read_properties(parts(_path(source))[1])
    return InputEstimate(source.size or 0, shape.m, 2 * id_dtype(shape.n).itemsize * shape.m, shape.n)


def _sample(source: Source) -> np.ndarray:
    """Return vertices from all over, the last one among them: all exist."""
    n = read_properties(parts(_path(source))[1]).n
    return np.linspace(0, n - 1, min(n, SAMPLES * _SAMPLED), dtype=np.uint64)


FORMAT = Format(
    "bvgraph",
    "WebGraph's BVGraph: .graph and .properties",
    _read,
    _estimate,
    _EXAMPLE,
    suffixes=(".properties",),
    aliases=("webgraph", "bv"),
    recognize=is_properties,
    beside={".graph": bytes.fromhex("7dc5dc")},
    by_file_name=is_bvgraph,
    streams=True,
    sample=_sample,
    takes=("no_names",),
    one_way=lambda head: True,
)
