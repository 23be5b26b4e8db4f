"""What a phase has found, as a manifest holds it (JSON) and back: inputs, partitions, ids, sorted rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.conversion.on_disk import kernels
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.spill import Map, PairFile, Partition
from bigbfs.conversion.spread.assemble import OwnRows
from bigbfs.conversion.spread.checkpoint import Files, sums_of
from bigbfs.conversion.spread.numbering import Ids, OwnLabels
from bigbfs.conversion.spread.pieces import FilePieces
from bigbfs.formats.container.layout import Section
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.views import frozen

PRESENT = "present"
"""The file with the table of ids: a bit for each."""

_SAID = ("mirrored", "one_way_means_both", "one_way", "comment_lines", "skipped_lines", "input_bytes", "notes")


def said_of(lists: Sequence[EdgeList]) -> list[dict[str, Any]]:
    """Return what readers have said of their inputs, without edges."""
    return [{name: getattr(edges, name) for name in _SAID} for edges in lists]


def lists_of(said: list[dict[str, Any]]) -> list[EdgeList]:
    """Return the inputs without edges."""
    none = np.empty(0, np.uint32)
    return [EdgeList(none, none, **{**each, "notes": tuple(each["notes"])}) for each in said]


def partitions_said(partitions: list[Partition]) -> list[Any]:
    """Return partitions, with the names of their files."""
    return [
        [p.low, p.end, [[file.path.name, file.stream, file.width, file.group, file.count] for file in p.files]]
        for p in partitions
    ]


def partitions_of(said: list[Any], folder: Path) -> list[Partition]:
    """Return the partitions whose files lie in ``folder``."""
    return [Partition(low, end, [PairFile(folder / name, *rest) for name, *rest in files]) for low, end, files in said]


def names_of(partitions: list[Partition], sums: Files) -> Files:
    """Return the names of the files of ``partitions``, with their ``sums``, which may be of others too."""
    return {file.path.name: sums[file.path.name] for partition in partitions for file in partition.files}


def map_said(places: Map) -> dict[str, Any]:
    """Return a map."""
    return {"low": places.low, "shift": places.shift, "parts": places.parts.tolist(), "bounds": list(places.bounds)}


def map_of(said: dict[str, Any]) -> Map:
    """Return the map."""
    return Map(said["low"], said["shift"], np.array(said["parts"], np.uint16), said["bounds"])


def keep_ids(ids: Ids, scratch: Scratch) -> Files:
    """Write the table of ids; return its name and sums.

    Raises
    ------
    FileAccessError
        It cannot be written.
    """
    bits = np.ascontiguousarray(ids.present[::2])
    scratch.wrote(bits.nbytes)
    try:
        (scratch.folder / PRESENT).write_bytes(bits.data)
    except OSError as error:
        raise scratch.error(error) from error
    sums = np.zeros(2, np.uint64)
    kernels.add_up(frozen(bits), sums)
    return {PRESENT: sums}


def ids_of(largest: int, scratch: Scratch) -> Ids:
    """Return the ids that were kept.

    Raises
    ------
    FileAccessError
        They cannot be read.
    """
    try:
        bits = np.fromfile(scratch.folder / PRESENT, np.uint64)
    except OSError as error:
        raise scratch.error(error) from error
    present = np.zeros(2 * len(bits), np.uint64)
    present[::2] = bits
    return Ids(largest, present)


def labels_said(labels: OwnLabels) -> dict[str, int]:
    """Return what own labels are, their list aside."""
    low, end = labels.extent()
    return {"base": labels.base, "n": labels.n, "low": low, "end": end}


def rows_said(own: OwnRows) -> dict[str, Any]:
    """Return sorted rows: names of files, their sections, counts."""
    files = {
        codec: [pieces.path.name, [asdict(section) for section in pieces.table]]
        for codec, pieces in _files_of(own).items()
    }
    said = {name: getattr(own, name) for name in ("first_id", "rows", "edges", "symmetric", "partitions")}
    return {**said, "files": files, "ids": own.ids.str, "found": own.found.tolist()}


def rows_of(said: dict[str, Any], folder: Path) -> OwnRows:
    """Return the sorted rows whose files lie in ``folder``."""
    said = dict(said)
    files = said.pop("files")
    pieces = {
        codec: FilePieces(folder / name, [Section(**section) for section in table])
        for codec, (name, table) in files.items()
    }
    found = np.array(said["found"], np.int64)
    return OwnRows(**{**said, "pieces": pieces, "ids": np.dtype(said["ids"]), "found": found})


def sums_of_rows(own: OwnRows) -> Files:
    """Return the names of the files of sorted rows, with their sums.

    Raises
    ------
    OSError
        One cannot be read.
    """
    return {pieces.path.name: sums_of(pieces.path) for pieces in _files_of(own).values()}


def _files_of(own: OwnRows) -> dict[str, FilePieces]:
    return {codec: pieces for codec, pieces in own.pieces.items() if isinstance(pieces, FilePieces)}
