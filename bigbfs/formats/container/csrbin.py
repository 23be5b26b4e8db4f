"""Graph files: write the container, open it (or a raw .csrbin, or a GAP .sg) as a Graph, find the newest in a folder.

Opening a container costs the same whatever its size: header, section table, the sizes of all sections, and the first
and last entry of each ``indptr``. Everything else is for ``bigbfs check``, and the part of it that keeps kernels
inside their arrays for :func:`bigbfs.graph.rows.require_valid`. A raw .csrbin or a .sg has no flags, so opening one
reads all its edges.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.errors import FormatError, UsageError
from bigbfs.formats.atomic import replacing
from bigbfs.formats.container import gapsg, layout, raw
from bigbfs.formats.container.checksum import checksum, checksum_threads
from bigbfs.formats.container.layout import Header, Section
from bigbfs.formats.container.mapped import MappedFile
from bigbfs.formats.container.named import require_names
from bigbfs.formats.container.no_graph import no_graph
from bigbfs.formats.container.parts import refuse_shards
from bigbfs.formats.container.sections import SectionFile
from bigbfs.graph.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency, PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.graph.names import Names

SUFFIXES = {"plain": ".csrbin", "varint": ".ccsr"}
"""Suffix of a graph file by codec."""


@dataclass(frozen=True, slots=True)
class Container:
    """A validated container: its header, its sections, and the mapping that holds them."""

    header: Header
    sections: dict[str, Section]
    mapped: MappedFile

    def array(self, name: str) -> np.ndarray:
        """Return the section ``name`` as a read-only array, in place."""
        section = self.sections[name]
        return self.mapped.array(section.dtype, section.count, section.offset)

    def names(self) -> Names | None:
        """Return the names of the vertices, in place; None where they have none."""
        if layout.NAMES[0] not in self.sections:
            return None
        blob, ptr, firsts = (self.array(name) for name in layout.NAMES)
        return Names(blob, ptr, firsts, str(self.mapped.path))

    def adjacency(self, prefix: str = "") -> Adjacency:
        """Return the out-neighbours, or with ``prefix="in_"`` the in-neighbours."""
        if self.header.codec == "plain":
            return PlainAdjacency(self.array(prefix + "indptr"), self.array(prefix + "indices"))
        names = ("indptr", "degree", "blob", "hubs", "hub_ptr", "block_ptr")
        return CompressedAdjacency(*(self.array(prefix + name) for name in names))


def open_container(path: Path) -> Container:
    """Map the container ``path``.

    Raises
    ------
    FormatError
        Not a container, cut short, damaged in header or section table, or of a newer version.
    FileAccessError
        It cannot be read.
    """
    refuse_shards(path)
    mapped = MappedFile(path)
    start = mapped.start(layout.PAGE)
    if not start.startswith(layout.MAGIC):
        raise FormatError(f"{path}: no bigbfs graph file: it does not begin with {layout.MAGIC!r}")
    return _container(mapped, start)


def _container(mapped: MappedFile, start: bytes) -> Container:
    header, sections = layout.unpack(start, mapped.size, mapped.path)
    container = Container(header, sections, mapped)
    for prefix in ("", "in_"):
        if prefix + "indptr" in sections:
            indptr = container.array(prefix + "indptr")
            target = sections[prefix + ("indices" if header.codec == "plain" else "blob")]
            first, last = int(indptr[0]), int(indptr[-1])
            if (first, last) != (0, target.count):
                raise FormatError(
                    f"{mapped.path}: {prefix}indptr runs from {first} to {last} instead of 0 to {target.count}; "
                    "convert the graph again or fetch the file again"
                )
    if layout.NAMES[0] in sections:
        blob, ptr, firsts = (container.array(name) for name in layout.NAMES)
        require_names(blob, ptr, firsts, header.n, mapped.path)
    return container


def require_checksum(container: Container, name: str, advance: Callable[[int], object] = lambda count: None) -> None:
    """Compare the checksum of the section ``name``; FormatError where it does not match. ``advance``: of bytes."""
    section = container.sections[name]
    if checksum(container.array(name), advance) != section.checksum:
        end = section.offset + section.length
        raise FormatError(
            f"{container.mapped.path}: section {name} (bytes {section.offset} to {end - 1}) is damaged: its checksum "
            "does not match; convert the graph again or fetch the file again"
        )


def require_checksums(path: Path) -> None:
    """Compare the checksum of every section of ``path``, if it is a container: whoever writes all of it anew, with
    checksums of its own, would make damage look sound.

    Raises
    ------
    FormatError
        Names the section that is damaged.
    """
    mapped = MappedFile(path)
    try:
        start = mapped.start(layout.PAGE)
        if start.startswith(layout.MAGIC):
            container = _container(mapped, start)
            for name in container.sections:
                require_checksum(container, name)
    finally:
        mapped.close()


def open_graph(path: Path) -> Graph:
    """Open any graph file; see :func:`bigbfs.open`.

    Raises
    ------
    FormatError
        It is not a graph file, is cut short, corrupted, or of a newer version.
    UsageError
        It is a shard, or a folder of them.
    FileAccessError
        It cannot be read.
    """
    refuse_shards(path)
    mapped = MappedFile(path)
    start = mapped.start(layout.PAGE)
    if not start.startswith(layout.MAGIC):
        return _open_foreign(mapped, start)
    container = _container(mapped, start)
    header = container.header
    return Graph(
        container.adjacency(),
        GraphFlags(**{name: name in header.flags for name in layout.FLAGS}),
        labels=container.array("labels") if "labels" in container.sections else None,
        first_id=header.first_id,
        in_adjacency=container.adjacency("in_") if "in_indptr" in container.sections else None,
        m=header.m,
        names=container.names(),
        path=path,
        close=mapped.close,
    )


def _open_foreign(mapped: MappedFile, start: bytes) -> Graph:
    is_raw, is_gap = raw.fits(start, mapped.size), gapsg.fits(start, mapped.size)
    if not is_raw and not is_gap:
        raise no_graph(mapped.path, start)
    from bigbfs.graph import rows

    directed: bool | None = None
    if is_gap:
        directed, adjacency = gapsg.read(mapped)
    else:
        adjacency = raw.adjacency(mapped)
    found = rows.inspect(adjacency)
    if directed is False and not found.symmetric:
        raise FormatError(f"{mapped.path}: the .sg says undirected, but some edge is stored one way only")
    directed = not found.symmetric if directed is None else directed
    flags = GraphFlags(
        directed=directed,
        symmetric=found.symmetric,
        sorted=True,
        deduplicated=not found.duplicates,
        loops_removed=not found.loops,
    )
    backward = rows.transpose(adjacency) if is_gap and not found.symmetric else None
    return Graph(adjacency, flags, in_adjacency=backward, path=mapped.path, close=mapped.close)


def save_graph(
    graph: Graph,
    path: Path,
    provenance: dict[str, Any] | None = None,
    *,
    confirm: Callable[[], object] | None = None,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Write ``graph`` in its own encoding, to a temporary file that is then renamed to ``path``.

    Parameters
    ----------
    provenance
        Where the graph comes from, stored as JSON; see :func:`read_provenance`.
    confirm
        Called when all is written, before the file gets its name; what it raises leaves nothing behind.
    progress
        Called with the bytes just written.

    Raises
    ------
    UsageError
        The flags contradict each other, so that no reader would take the file.
    FileAccessError
        It cannot be written; nothing is left behind.
    """
    graph.require_whole()
    flags = flags_to_save(graph)
    arrays = arrays_before_rows(graph, provenance)
    backward = {}
    if not graph.flags.symmetric and graph.in_adjacency is not None:
        backward = {f"in_{name}": array for name, array in _in_codec(graph).arrays().items()}
    with replacing(path) as stream:
        file = SectionFile(stream, progress)
        with checksum_threads() as pool:
            file.put_all(arrays, pool)
            file.put_rows(graph.adjacency, pool)
            file.put_all(backward, pool)
            file.finish(**header_fields(graph, flags, graph.codec))
        if confirm is not None:
            confirm()


def provenance_bytes(provenance: dict[str, Any]) -> np.ndarray:
    """Return the content of the section ``provenance``."""
    return np.frombuffer(json.dumps(provenance).encode(), np.uint8)


def flag_names(flags: GraphFlags) -> frozenset[str]:
    """Return the names of the flags that are set."""
    return frozenset(name for name in layout.FLAGS if getattr(flags, name))


def flags_to_save(graph: Graph) -> frozenset[str]:
    """Return the names of the flags of ``graph``; UsageError where no reader would take a file that has them."""
    flags = flag_names(graph.flags)
    if "relabelled" in flags and graph.labels is None:
        raise UsageError("cannot save a graph that is flagged relabelled and has no labels: its ids would be lost")
    if "sorted" not in flags or not ("directed" in flags or "symmetric" in flags):
        raise UsageError(
            f"cannot save a graph with the flags {sorted(flags)}: rows must be sorted, and a graph that is "
            "not directed must be symmetric"
        )
    return flags


def arrays_before_rows(graph: Graph, provenance: dict[str, Any] | None) -> dict[str, np.ndarray]:
    """Return the sections that a file of ``graph`` begins with, by name."""
    arrays: dict[str, np.ndarray] = {}
    if provenance is not None:
        arrays["provenance"] = provenance_bytes(provenance)
    if graph.labels is not None:
        arrays["labels"] = np.asarray(graph.labels, np.int64)
    if graph.names is not None:
        arrays |= graph.names.arrays()
    return arrays


def header_fields(graph: Graph, flags: frozenset[str], codec: str) -> dict[str, Any]:
    """Return the fields of the header of a file of ``graph``, all but its length."""
    first_id = 0 if graph.labels is not None else graph.first_id
    return fields_of(n=graph.n, m=graph.m, ids=graph.ids, first_id=first_id, flags=flags, codec=codec)


def fields_of(*, n: int, m: int, ids: np.dtype, first_id: int, flags: frozenset[str], codec: str) -> dict[str, Any]:
    """Return the fields of a header, all but the length of the file; ``first_id`` is 0 where there are labels."""
    return {
        "n": n,
        "m": m,
        "flags": flags,
        "id_bytes": ids.itemsize,
        "codec": codec,
        "block_ids": BLOCK_IDS if codec == "varint" else 0,
        "first_id": first_id,
    }


def _in_codec(graph: Graph) -> Adjacency:
    """Return the in-neighbours in the encoding of the out-neighbours."""
    from bigbfs.graph import varint

    assert graph.in_adjacency is not None
    return (varint.decode if graph.codec == "plain" else varint.encode)(graph.in_adjacency)


def read_provenance(path: Path) -> dict[str, Any] | None:
    """Return what :func:`save_graph` stored about the origin of the container ``path``; None if nothing (readable).

    Raises
    ------
    FormatError, FileAccessError
        As :func:`open_container`.
    """
    container = open_container(path)
    try:
        if "provenance" not in container.sections:
            return None
        array = container.array("provenance")
        if checksum(array) != container.sections["provenance"].checksum:
            raise FormatError(f"{path}: section provenance is damaged: its checksum does not match")
        content = json.loads(array.tobytes())
        return content if isinstance(content, dict) else None
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        return None
    finally:
        container.mapped.close()


__all__ = ["Container", "open_container", "open_graph", "read_provenance", "save_graph"]
