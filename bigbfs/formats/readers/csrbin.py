"""A graph file (.csrbin, .ccsr, raw .csrbin, GAP .sg) as the edges that it holds, so that it can be converted again."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.readers.estimates import HEAD_BYTES, InputEstimate, unpacked_size
from bigbfs.formats.readers.format import Format, Reading, Rules
from bigbfs.formats.readers.npy import require_content
from bigbfs.formats.streams.sources import Source
from bigbfs.graph import rows
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.graph import Graph
from bigbfs.graph.names import Names
from bigbfs.jit.workers import balanced_ranges, run, thread_count


def read_graph(source: Source, *, threads: int | None = None) -> EdgeList:
    """Read all edges of a graph file in original ids.

    Vertices without edges are declared as part of the range of ids, or listed as isolated where ids have gaps.

    Raises
    ------
    FormatError
        It is no graph file, is cut short, damaged, or of a newer version.
    """
    with source.seekable() as (_, path):
        try:
            csrbin.require_checksums(path)
            with Graph.open(path) as graph:
                rows.require_valid(graph.adjacency, source.name)
                plain = graph.decompress().adjacency
                assert isinstance(plain, PlainAdjacency)
                edges = _edges(plain, graph.labels, graph.first_id, thread_count(threads))
                names = None
                if graph.names is not None:
                    blob, ptr, firsts = (np.array(each) for each in graph.names.arrays().values())
                    names = Names(blob, ptr, firsts, source.name)
                    edges = replace(edges, first_id=0, declared_n=graph.n, isolated=None)
                if graph.flags.relabelled and graph.labels is not None:
                    edges.order = np.array(graph.labels, np.int64)
                return replace(edges, mirrored=graph.flags.symmetric, input_bytes=source.consumed, names=names)
        except FormatError as error:
            if str(path) != source.name:
                raise error.saying(error.message.replace(str(path), source.name)) from error
            raise


def _edges(plain: PlainAdjacency, labels: np.ndarray | None, first_id: int, threads: int) -> EdgeList:
    """Return the edges and vertices, all copies, in original ids."""
    n = plain.n
    if labels is None:
        ids = np.arange(first_id, first_id + n, dtype=np.uint32 if first_id + n <= 2**32 else np.uint64)
    else:
        ids = labels.astype(np.uint64 if n > 0 and int(labels.max()) >= 2**32 else np.uint32)
    sources, targets = np.empty(plain.m, ids.dtype), np.empty(plain.m, ids.dtype)
    base = np.array(first_id, ids.dtype)

    def spread(first: int, last: int) -> None:
        start, stop = int(plain.indptr[first]), int(plain.indptr[last])
        sources[start:stop] = np.repeat(ids[first:last], np.diff(plain.indptr[first : last + 1]).astype(np.int64))
        if labels is None:
            np.add(plain.indices[start:stop], base, out=targets[start:stop], casting="unsafe")
        else:
            np.take(ids, plain.indices[start:stop], out=targets[start:stop], mode="clip")  # "raise" makes a copy

    run(threads, spread, balanced_ranges(plain.indptr, max(16 * threads, plain.m >> 18)) if n else [])
    if labels is None:
        return EdgeList(sources, targets, first_id=first_id, declared_n=n)
    return EdgeList(sources, targets, isolated=ids[plain.degrees() == 0])


def read(reading: Reading) -> EdgeList:
    """Read a graph file, whichever it is.

    Raises
    ------
    FormatError, InputError
        As :func:`read_graph`; there is nothing in it.
    """
    require_content(reading.source)
    whole = read_graph(reading.source, threads=reading.threads)
    if reading.progress is not None:
        reading.progress(whole.input_bytes)
    return whole


def estimate(source: Source, rules: Rules) -> InputEstimate:
    """Estimate a graph file: by its header, or where that is foreign or compressed, by its size."""
    head = source.peek(HEAD_BYTES)
    size, whole = source.size or 0, unpacked_size(source, head)
    if head.startswith(layout.MAGIC) and whole == size:
        assert source.path is not None
        header, _ = layout.unpack(head[: layout.PAGE], size, source.path)
        per_vertex = 24 if "relabelled" in header.flags else 16
        held = (2 * header.id_bytes + 4) * header.m + per_vertex * header.n
        return InputEstimate(size, header.m, held, header.n, False)
    return InputEstimate(size, whole // 4, 3 * whole, streams=False)


FORMAT = Format(
    "csrbin",
    "bigbfs's own .csrbin and .ccsr, or raw CSR",
    read,
    estimate,
    struct.pack("<6q4i", 3, 4, 0, 1, 3, 4, 1, 0, 2, 1),
    suffixes=(".csrbin", ".ccsr"),
    aliases=("ccsr", "raw"),
    recognize=lambda head: head.startswith(layout.MAGIC),
    in_own_order=lambda head: layout.says(head, "relabelled"),
)
