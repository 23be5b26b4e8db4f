"""Everything that can be checked of a graph file, one step after the other.

In: a path. Out: one :class:`Passed` for each check that holds; the first that does not raises FormatError with the
section, the entry, and the byte of the file. Memory: a compressed graph is decoded and encoded again in memory, the
in-neighbours of a directed one are transposed.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.checksum import STRETCH
from bigbfs.formats.container.csrbin import Container
from bigbfs.formats.container.mapped import MappedFile
from bigbfs.formats.container.passed import Passed
from bigbfs.formats.container.prove_names import prove
from bigbfs.graph import rows, structure, varint
from bigbfs.graph.adjacency import CompressedAdjacency, PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import row_chunks
from bigbfs.report.progress import SILENT, Progress
from bigbfs.sizes import free_memory

CURSOR = 8
"""Bytes that the exact check of symmetry takes for each vertex."""


def check(path: Path, told: Progress = SILENT) -> Iterator[Passed]:
    """Check everything in the graph file ``path``; ``told`` is told what is looked at, and how many bytes of it.

    Raises
    ------
    FormatError
        At the first check that does not hold.
    FileAccessError
        It cannot be read.
    """
    mapped = MappedFile(path)
    is_container = mapped.start(len(layout.MAGIC)) == layout.MAGIC
    mapped.close()
    if not is_container:
        yield from _check_foreign(path)
        return
    container = csrbin.open_container(path)
    try:
        yield from _check_container(container, told)
    finally:
        container.mapped.close()


def _check_foreign(path: Path) -> Iterator[Passed]:
    """Opening a raw .csrbin or a .sg looks at everything already."""
    with Graph.open(path) as graph:
        yield Passed("size", f"fits {graph.n:,} vertices and {graph.m:,} edges")
        yield Passed("indptr", "ascends from 0 to the number of edges")
        yield Passed("indices", "every one is a vertex")
        held = [name for name in layout.FLAGS[:5] if getattr(graph.flags, name)]
        yield Passed("edges", f"found to be {', '.join(held)}")


def _check_container(container: Container, told: Progress) -> Iterator[Passed]:
    header, sections, path = container.header, container.sections, container.mapped.path
    told.now("check: header", _work(container), "B")
    yield Passed("header", f"version {layout.VERSION}, {header.n:,} vertices, {header.m:,} edges, {header.codec}")
    yield Passed("section table", f"{len(sections)} sections within {header.file_bytes:,} bytes, none overlapping")
    for name, section in sections.items():
        told.rename(f"check: checksum {name}")
        csrbin.require_checksum(container, name, told.advance)
        yield Passed(f"checksum {name}", f"{section.length:,} bytes at {section.offset:,}")
    yield require_empty_gaps(container)
    forward = yield from _check_rows(container, "", told)
    if "symmetric" in header.flags:
        told.rename("check: symmetry")
        yield _symmetry(forward, path)
        told.advance(_bytes_of_rows(container, ""))
    if "in_indptr" in sections:
        backward = yield from _check_rows(container, "in_", told)
        told.rename("check: in-neighbours")
        _require_transpose(forward, backward, path)
        told.advance(_bytes_of_rows(container, "in_"))
        yield Passed("in-neighbours", "are the transpose of the out-neighbours")
    if "labels" in sections:
        yield _labels(container)
    names = container.names()
    told.rename("check: names")
    if names is not None:
        yield prove(names, container.array("labels") if "labels" in sections else None)
    if "provenance" in sections:
        yield _provenance(container)


def _bytes_of_rows(container: Container, prefix: str) -> int:
    """Return the bytes of the out-neighbours (""), or of the in-neighbours ("in_"), as they lie in the file."""
    wanted = (f"{prefix}indices", f"{prefix}blob")
    return sum(section.length for name, section in container.sections.items() if name in wanted)


def _work(container: Container) -> int:
    """Return the bytes that all checks look at together: every one for its checksum, then those of the rows."""
    out, into = _bytes_of_rows(container, ""), _bytes_of_rows(container, "in_")
    every = sum(section.length for section in container.sections.values())
    return every + out + 2 * into + ("symmetric" in container.header.flags) * out


def _symmetry(forward: PlainAdjacency, path: Path) -> Passed:
    """Check that every edge has its twin: exactly, or by a fingerprint where there is no memory for a cursor each."""
    if CURSOR * forward.n > free_memory():
        if not rows.inspect(forward).symmetric:
            raise FormatError(f"{path}: flagged symmetric, but some edge u -> v has no twin v -> u to match")
        return Passed("symmetry", "every edge has its twin (by a random fingerprint of 64 bits, to save memory)")
    twin = rows.missing_twin(forward)
    if twin is not None:
        u, v = twin
        raise FormatError(f"{path}: flagged symmetric, but the edge {u} -> {v} has no twin {v} -> {u} to match")
    return Passed("symmetry", "every edge has its twin")


def require_empty_gaps(container: Container) -> Passed:
    """Check that whatever no section holds is zero: else a flipped bit there would go unseen.

    Raises
    ------
    FormatError
        Names the byte.
    """
    at = layout.HEADER_BYTES + layout.ENTRY_BYTES * len(container.sections)
    total = 0
    spans = [(section.offset, section.length) for section in container.sections.values()]
    for start, length in [*spans, (container.header.file_bytes, 0)]:
        for stretch in range(at, start, STRETCH):
            gap = container.mapped.array("|u1", min(STRETCH, start - stretch), stretch)
            if gap.any():
                place = stretch + int(np.flatnonzero(gap)[0])
                raise FormatError(f"{container.mapped.path}: byte {place}, between the sections, is not zero")
        total += start - at
        at = start + length
    return Passed("padding", f"{total:,} bytes are zero")


def _check_rows(container: Container, prefix: str, told: Progress) -> Generator[Passed, None, PlainAdjacency]:
    """Check one adjacency; return it decoded."""
    header, path = container.header, container.mapped.path
    adjacency = container.adjacency(prefix)
    at = container.sections[prefix + "indptr"].offset
    place = structure.first_descent(adjacency.indptr)
    if place is not None:
        raise FormatError(
            f"{path}: {prefix}indptr[{place}] = {adjacency.indptr[place]} (byte {at + 8 * place}) is less than "
            f"the entry before it, {adjacency.indptr[place - 1]}"
        )
    yield Passed(prefix + "indptr", f"ascends from 0 to {int(adjacency.indptr[-1]):,}")
    if isinstance(adjacency, CompressedAdjacency):
        told.rename(f"check: {prefix}blob: decode and encode")
        plain = _decoded(container, adjacency, prefix)
        yield Passed(prefix + "blob", "every row is as long as its degree says, every varint the shortest")
        yield Passed(prefix + "blocks", f"{len(adjacency.hubs):,} hubs, {len(adjacency.block_ptr):,} blocks indexed")
    else:
        plain = adjacency
    told.rename(f"check: {prefix}rows")
    facts = rows.scan(plain.indptr, plain.indices, plain.n)
    told.advance(_bytes_of_rows(container, prefix))
    if facts.bad_edge >= 0:
        raise FormatError(
            f"{path}: {prefix}indices[{facts.bad_edge}] = {plain.indices[facts.bad_edge]}"
            f"{_byte(container, prefix, facts.bad_edge)} is no vertex: they are 0 to {plain.n - 1}"
        )
    yield Passed(prefix + "indices", "every one is a vertex")
    if facts.unsorted_row >= 0:
        raise FormatError(f"{path}: row {facts.unsorted_row} of {prefix}indices does not ascend")
    yield Passed(prefix + "order", "every row ascends")
    for flag, count, what in (
        ("deduplicated", facts.duplicates, "duplicate edges"),
        ("loops_removed", facts.loops, "self-loops"),
    ):
        if flag in header.flags and count:
            edge, row = _first(plain, loops=what == "self-loops")
            raise FormatError(
                f"{path}: flagged {flag}, but there are {count} {what}; the first is edge {edge} "
                f"({row} -> {plain.indices[edge]}){_byte(container, prefix, edge)}"
            )
        yield Passed(prefix + what, f"{count:,}" + ("" if flag in header.flags else " (not removed)"))
    return plain


def _byte(container: Container, prefix: str, edge: int) -> str:
    section = container.sections.get(prefix + "indices")
    return "" if section is None else f" (byte {section.offset + edge * container.header.id_bytes})"


def _decoded(container: Container, adjacency: CompressedAdjacency, prefix: str) -> PlainAdjacency:
    """Decode ``adjacency``, which checks all offsets, and encode it again: only the shortest form is the same."""
    path, header = container.mapped.path, container.header
    try:
        plain = varint.decode(adjacency)
    except FormatError as error:
        raise FormatError(f"{path}: {prefix}{error}") from None
    if plain.m != header.m:
        raise FormatError(f"{path}: the {prefix}degrees sum to {plain.m}, but the header says {header.m} edges")
    again = varint.encode(plain)
    same = min(len(again.blob), len(adjacency.blob))
    different = np.flatnonzero(again.blob[:same] != adjacency.blob[:same])
    if len(different) or len(again.blob) != len(adjacency.blob):
        byte = int(different[0]) if len(different) else same
        row = int(np.searchsorted(again.indptr, byte, side="right")) - 1
        at = container.sections[prefix + "blob"].offset + byte
        raise FormatError(f"{path}: {prefix}blob: a varint of row {row} is longer than it need be (near byte {at})")
    return plain


def _first(plain: PlainAdjacency, *, loops: bool) -> tuple[int, int]:
    """Return edge and row of the first self-loop, or of the first edge equal to the one before it."""
    bounds = row_chunks(plain.indptr, max(1, plain.m >> 20))
    for first, last in pairwise(bounds):
        start, stop = int(plain.indptr[first]), int(plain.indptr[last])
        degrees = np.diff(plain.indptr[first : last + 1]).astype(np.int64)
        row = np.repeat(np.arange(first, last), degrees)
        ids = plain.indices[start:stop]
        hits = ids == row.astype(ids.dtype)
        if not loops:
            hits = np.zeros(len(ids), bool)
            hits[1:] = (ids[1:] == ids[:-1]) & (row[1:] == row[:-1])
        if hits.any():
            place = int(hits.argmax())
            return start + place, int(row[place])
    raise AssertionError("called without any")


def _require_transpose(forward: PlainAdjacency, backward: PlainAdjacency, path: Path) -> None:
    turned = rows.transpose(forward)
    wrong = np.flatnonzero(turned.indptr != backward.indptr)
    if len(wrong) == 0:
        wrong = np.flatnonzero(turned.indices != backward.indices)
        row = int(np.searchsorted(turned.indptr, wrong[0], side="right")) - 1 if len(wrong) else -1
    else:
        row = int(wrong[0]) - 1
    if len(wrong):
        raise FormatError(f"{path}: the in-neighbours of vertex {row} are not those that the out-neighbours give")


def _labels(container: Container) -> Passed:
    """Check that labels are different ids, ascending unless the graph is flagged as relabelled."""
    labels, path = container.array("labels"), container.mapped.path
    at = container.sections["labels"].offset
    if (labels < 0).any():
        place = int((labels < 0).argmax())
        raise FormatError(f"{path}: labels[{place}] = {labels[place]} (byte {at + 8 * place}) is negative")
    relabelled = "relabelled" in container.header.flags
    order = np.argsort(labels, kind="stable") if relabelled else np.arange(len(labels))
    steps = np.diff(labels[order])
    if (steps <= 0).any():
        place = int(order[int((steps <= 0).argmax()) + 1])
        what = "occurs twice" if relabelled or (steps == 0).any() else "does not ascend"
        raise FormatError(f"{path}: labels[{place}] = {labels[place]} (byte {at + 8 * place}) {what}")
    return Passed("labels", f"{len(labels):,} different ids" + (", relabelled" if relabelled else ", ascending"))


def _provenance(container: Container) -> Passed:
    text = container.array("provenance").tobytes()
    try:
        right = isinstance(json.loads(text), dict)
    except ValueError:
        right = False
    if not right:
        raise FormatError(f"{container.mapped.path}: section provenance is no JSON object")
    return Passed("provenance", f"{len(text):,} bytes of JSON")
