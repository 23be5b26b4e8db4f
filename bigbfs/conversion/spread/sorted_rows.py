"""Own rows, sorted by way of the disk, into a file for each codec among the temporary ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np

from bigbfs.conversion.on_disk.rows import Part, Sorter
from bigbfs.conversion.on_disk.sinks import CompressedSink, PlainSink
from bigbfs.conversion.on_disk.spill import Partition
from bigbfs.conversion.on_disk.work import Work
from bigbfs.conversion.on_disk.writing import COMPARED, consume, pairs_of
from bigbfs.conversion.spread.assemble import OwnRows
from bigbfs.conversion.spread.numbering import Numbering, OwnLabels
from bigbfs.conversion.spread.pieces import FilePieces
from bigbfs.formats.container.sections import SectionFile


def sort_own_rows(
    work: Work,
    sorter: Sorter,
    partitions: list[Partition],
    sides: list[list[Part]],
    numbering: Numbering,
    first: int,
    rows: int,
    ids: np.dtype,
    *,
    keep: bool,
) -> OwnRows:
    """Sort ``partitions``, whose first row is ``first``, into files among the temporary ones.

    Their own files go as they are read, unless ``keep`` is True.

    Raises
    ------
    FileAccessError
        They cannot be written.
    """
    has_labels = numbering.labels() is not None
    edges, found, count = 0, sorter.found.copy(), len(partitions)
    with ExitStack() as stack:
        files: dict[str, SectionFile] = {}
        for codec, target in (("plain", work.targets.plain), ("varint", work.targets.compressed)):
            if target is not None:
                stream = stack.enter_context((work.scratch.folder / f"rows.{codec}").open("w+b"))
                files[codec] = file = SectionFile(stream)
                if has_labels:
                    file.open("labels", np.int64, rows)
                    for stretch in labels_between(numbering, first, first + rows):
                        file.append("labels", stretch)
        for number, parts in enumerate(sides):
            pairs, prefix = pairs_of(partitions, parts), "in_" if number else ""
            sinks = [_sink(work, file, codec, prefix, first, rows, pairs, ids) for codec, file in files.items()]
            last = number == len(sides) - 1
            made = sorter.rows(partitions, parts, remove=last and not keep)
            here = consume(work, made, [sink.add for sink in sinks], pairs, ("sort", "turn")[number])
            for sink in sinks:
                sink.close()
            if number == 0:
                edges, found = here, sorter.found.copy()
        codec, one = next(iter(files.items()))
        symmetric = len(sides) == 2 and all(one.same(name, f"in_{name}") for name in COMPARED[codec])
        pieces = {
            codec: FilePieces(work.scratch.folder / f"rows.{codec}", file.settle()[0]) for codec, file in files.items()
        }
    first_id = 0 if has_labels else numbering.first_id
    return OwnRows(pieces, first_id, ids, rows, edges, found, symmetric, count)


def _sink(
    work: Work, file: SectionFile, codec: str, prefix: str, first: int, rows: int, pairs: int, ids: np.dtype
) -> PlainSink | CompressedSink:
    if codec == "plain":
        return PlainSink(file, prefix, rows, pairs, ids)
    return CompressedSink(file, work.scratch, prefix, rows, pairs, ids, first=first)


def labels_between(numbering: Numbering, first: int, last: int) -> Iterator[np.ndarray]:
    """Return the original ids of own vertices, ``first`` to ``last - 1``, in stretches."""
    stretches = numbering.labels() or ()
    if isinstance(numbering, OwnLabels):  # there are no others
        yield from stretches
        return
    at = 0
    for stretch in stretches:
        here = stretch[max(0, first - at) : max(0, last - at)]
        at += len(stretch)
        if len(here):
            yield here
        if at >= last:
            return
