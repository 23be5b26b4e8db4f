"""The files that an external build writes: their sections, filled row by row, and what goes before and after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np

from bigbfs.conversion.on_disk.numbering import Numbering
from bigbfs.conversion.on_disk.rows import Part, Rows, Sorter, select
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.sinks import CompressedSink, PlainSink
from bigbfs.conversion.on_disk.spill import Partition
from bigbfs.conversion.on_disk.work import NamedSections, Work, provenance_of
from bigbfs.formats.atomic import replacing
from bigbfs.formats.container import csrbin
from bigbfs.formats.container.sections import SectionFile
from bigbfs.graph.adjacency import id_dtype
from bigbfs.jit.workers import hold_to

COMPARED = {"plain": ("indptr", "indices"), "varint": ("indptr", "degree", "blob")}
"""Sections by which out- and in-neighbours are compared."""


@dataclass(frozen=True)
class Shape:
    """What the header says: vertices, dtype of an id, id of vertex 0."""

    n: int
    ids: np.dtype
    first_id: int


class GraphFile:
    """One container under way.

    Parameters
    ----------
    stream
        Open for writing.
    codec
        "plain" or "varint".
    provenance
        As it will be, except for some digits.
    """

    def __init__(
        self, stream: BinaryIO, codec: str, shape: Shape, scratch: Scratch, provenance: dict[str, Any]
    ) -> None:
        self.codec = codec
        self._file = SectionFile(stream)
        self._shape, self._scratch = shape, scratch
        self._sink: PlainSink | CompressedSink | None = None
        self._file.open("provenance", np.uint8, len(csrbin.provenance_bytes(provenance)))

    def open_labels(self) -> None:
        """Begin with the original ids."""
        self._file.open("labels", np.int64, self._shape.n)

    def add_labels(self, stretch: np.ndarray) -> None:
        """Append original ids (int64)."""
        self._file.append("labels", stretch)

    def add_names(self, named: NamedSections) -> None:
        """Write the names."""
        for name, dtype, count, stretches in named.sections():
            self._file.open(name, dtype, count)
            for stretch in stretches:
                self._file.append(name, stretch)

    def start(self, prefix: str, m: int) -> None:
        """Begin with the rows of the out-neighbours ("") or the in-neighbours ("in_"), about ``m`` edges."""
        n, ids = self._shape.n, self._shape.ids
        if self.codec == "plain":
            self._sink = PlainSink(self._file, prefix, n, m, ids)
        else:
            self._sink = CompressedSink(self._file, self._scratch, prefix, n, m, ids)

    def add(self, rows: Rows) -> None:
        """Append rows."""
        assert self._sink is not None
        self._sink.add(rows)

    def close_rows(self) -> None:
        """Complete the rows that were begun last."""
        assert self._sink is not None
        self._sink.close()

    def symmetric(self) -> bool:
        """Tell whether out- and in-neighbours are the same."""
        return all(self._file.same(name, f"in_{name}") for name in COMPARED[self.codec])

    def drop_twins(self) -> None:
        """Leave the in-neighbours out."""
        self._file.drop("in_")

    def finish(self, m: int, flags: frozenset[str], provenance: dict[str, Any]) -> None:
        """Write provenance and header."""
        self._file.append("provenance", csrbin.provenance_bytes(provenance))
        self._file.finish(**csrbin.fields_of(m=m, flags=flags, codec=self.codec, **asdict(self._shape)))


def pairs_of(partitions: list[Partition], parts: list[Part]) -> int:
    """Return how many pairs make up the rows of ``parts``."""
    return sum(file.count for partition in partitions for file, _ in select(partition, parts))


def consume(work: Work, rows: Iterator[Rows], takers: list[Callable[[Rows], None]], pairs: int, name: str) -> int:
    """Hand all rows to the takers, in a thread of its own while the next ones are sorted; return the edges."""
    edges = 0
    before: Future[None] | None = None

    def take(found: Rows) -> None:
        for taker in takers:
            taker(found)

    with (
        work.told(pairs, "edges", name) as told,
        ThreadPoolExecutor(1, "bigbfs-writer", hold_to, (work.threads,)) as pool,
    ):
        while True:
            with work.watch.phase("build"):
                found = next(rows, None)
            if before is not None:
                with work.watch.phase("write"):
                    before.result()
            if found is None:
                return edges
            before = pool.submit(take, found)
            edges += len(found.indices)
            told.advance(found.pairs)


def write_graph(
    work: Work,
    numbering: Numbering,
    labels: Iterable[np.ndarray] | None,
    sorter: Sorter,
    partitions: list[Partition],
    sides: list[list[Part]],
    counted: dict[str, int],
    *,
    both: bool,
) -> tuple[int, dict[str, int]]:
    """Write the graph files; return (edges, what the sorter counted on the first side).

    Parameters
    ----------
    labels
        Original ids; None where the numbering's first one says it all.
    sides
        What the out-neighbours are made of, and the in-neighbours where they are wanted or have to be compared.
    counted
        Counts for the provenance; ``duplicates`` and ``reversed`` where they are not the sorter's.
    both
        Every edge is stored both ways.

    Raises
    ------
    FileAccessError
        A file cannot be written; nothing is left behind.
    """
    shape = Shape(numbering.n, id_dtype(numbering.n), numbering.first_id if labels is None else 0)
    targets = work.targets
    with ExitStack() as compressed, ExitStack() as plain:
        files = []
        for stack, path, codec in ((plain, targets.plain, "plain"), (compressed, targets.compressed, "varint")):
            if path is not None:
                stream = stack.enter_context(replacing(path))
                files.append(GraphFile(stream, codec, shape, work.scratch, provenance_of(work, counted, codec)))
        with work.watch.phase("write"):
            _write_labels(files, labels)
            for file in files:
                if work.named is not None:
                    file.add_names(work.named)
        edges, sorted_out, symmetric = _write_sides(work, files, sorter, partitions, sides)
        counted = sorted_out | counted
        found = work.options.flags(symmetric=both or symmetric, self_loops=counted["self_loops"])
        flags = csrbin.flag_names(found)
        if targets.plain is not None:
            with work.watch.phase("write"):
                files.pop(0).finish(edges, flags, provenance_of(work, counted, "plain"))
                plain.close()
        if files:
            with work.watch.phase("compress"):
                files[0].finish(edges, flags, provenance_of(work, counted, "varint"))
                compressed.close()
    return edges, sorted_out


def _write_labels(files: list[GraphFile], labels: Iterable[np.ndarray] | None) -> None:
    if labels is None:
        return
    for file in files:
        file.open_labels()
    for stretch in labels:
        for file in files:
            file.add_labels(stretch)


def _write_sides(
    work: Work, files: list[GraphFile], sorter: Sorter, partitions: list[Partition], sides: list[list[Part]]
) -> tuple[int, dict[str, int], bool]:
    """Write out- and in-neighbours; return (edges, counts of the out-neighbours, whether both are the same)."""
    edges, counts = 0, sorter.counts()
    for number, parts in enumerate(sides):
        last = number == len(sides) - 1
        pairs = pairs_of(partitions, parts)
        for file in files:
            file.start("in_" if number else "", pairs)
        found = consume(
            work, sorter.rows(partitions, parts, remove=last), [f.add for f in files], pairs, ("sort", "turn")[number]
        )
        with work.watch.phase("write"):
            for file in files:
                file.close_rows()
        if number == 0:
            edges, counts = found, sorter.counts()
    if len(sides) == 1:
        return edges, counts, False
    symmetric = files[0].symmetric()
    if symmetric or not work.options.in_edges:
        for file in files:
            file.drop_twins()
    return edges, counts, symmetric
