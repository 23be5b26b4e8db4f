"""Is a graph file still what its input would become? And the .ccsr that belongs to a .csrbin.

Every file that a conversion writes records its *provenance*: of each source the path, size, inode, times and a
checksum of samples (a size and a time of modification are easily the same: cp -p, touch -r), the options that change
the graph, and what was counted. A .ccsr made from a .csrbin also records which one (a hash of its
first page, where the checksums of all sections are), so that no clock has to be trusted.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders import KEPT
from bigbfs.errors import Argument, Call, FileAccessError, FormatError, UsageError, naming
from bigbfs.formats.atomic import access_error, require_writable
from bigbfs.formats.bvgraph.properties import TWO_FILES, is_bvgraph, parts, urls_beside
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.compress import save_compressed
from bigbfs.formats.ours import GRAPH, require_ours
from bigbfs.formats.streams.sources import STANDARD_INPUT, read_error
from bigbfs.graph.graph import Graph
from bigbfs.report.progress import SILENT, Progress

Provenance = dict[str, Any]
_NAMED = 3
"""Inputs that a note names, at most."""

SAMPLES = 16
"""Pages of an input that its checksum looks at."""
COUNTS = ("lines", "comment_lines", "skipped_lines", "input_bytes", "self_loops", "duplicates", "reversed")
"""What a conversion counted, kept for the report of a later one that finds its work done."""


def identify_sources(inputs: Sequence[str | Path]) -> list[dict[str, Any]] | None:
    """Return path, size, inode, times (ns) and a checksum of samples of each input; None where one is a pipe.

    Raises
    ------
    FileAccessError
        An input is missing, a folder, or cannot be looked at.
    """
    found = []
    complete = True
    for source in _with_parts(inputs):
        if str(source) == STANDARD_INPUT:
            complete = False
            continue
        try:
            status = Path(source).stat()
            if stat.S_ISDIR(status.st_mode):
                raise OSError(errno.EISDIR, "")
        except OSError as error:
            raise read_error(source, error) from error
        complete = complete and stat.S_ISREG(status.st_mode)
        path = str(Path(source).resolve())
        facts = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "ctime_ns": status.st_ctime_ns}
        found.append({"path": path, **facts, "inode": status.st_ino, "samples": _samples(path, status)})
    return found if complete else None


def _with_parts(inputs: Sequence[str | Path]) -> list[str | Path]:
    """Return the inputs, and the other files of each that has some: a BVGraph, and its list of names."""
    every: list[str | Path] = []
    for source in inputs:
        named = str(source) != STANDARD_INPUT and Path(source).suffix in TWO_FILES and is_bvgraph(Path(source))
        if not named:
            every.append(source)
            continue
        listed = urls_beside(source)
        every += [*parts(source), *([] if listed is None else [listed])]
    return every


def _samples(path: str, status: os.stat_result) -> int:
    """Return a checksum of ``SAMPLES`` pages from all over a file; 0 of what is no file."""
    if not stat.S_ISREG(status.st_mode):
        return 0
    value = 0
    try:
        with Path(path).open("rb", buffering=0) as stream:
            for number in range(SAMPLES):
                at = max(0, status.st_size - layout.PAGE) * number // (SAMPLES - 1)
                value = zlib.crc32(os.pread(stream.fileno(), layout.PAGE, at), value)
    except OSError as error:
        raise read_error(path, error) from error
    return value


def provenance(
    sources: list[dict[str, Any]] | None, options: ConvertOptions, counted: dict[str, int], notes: Sequence[str] = ()
) -> Provenance:
    """Return the record that goes into a file made of ``sources``; ``notes``: what readers said about the inputs."""
    noted = {"notes": list(notes)} if notes else {}
    counts = {name: counted[name] for name in COUNTS}
    kept = {"order": order_of(recorded(Path(sources[0]["path"])))} if options.order == KEPT and sources else {}
    return {"sources": sources, "options": options.identity(), "counts": counts, **kept, **noted}


def order_of(known: Provenance | None) -> str:
    """Return the order that the provenance of a graph file names; ``"kept"``: one of its own that nothing names."""
    order = ((known or {}).get("options") or {}).get("order", KEPT)
    return str((known or {}).get("order", KEPT) if order == KEPT else order)


def order_in(path: Path) -> str:
    """Return the order of the graph file ``path``, as :func:`order_of`."""
    return order_of(recorded(path))


def lookup(path: Path, sources: list[dict[str, Any]] | None, options: dict[str, Any]) -> Provenance | None:
    """Return the provenance of the graph file ``path`` if it was made of ``sources`` with ``options``, else None.

    A file that is missing or damaged is simply not up to date.
    """
    known = recorded(path)
    if sources is None or known is None or known.get("sources") != sources or known.get("options") != options:
        return None
    counts = known.get("counts")
    return known if isinstance(counts, dict) and counts.keys() >= set(COUNTS) else None


def told_of(path: Path, sources: list[dict[str, Any]] | None, options: dict[str, Any]) -> str | None:
    """Return what to tell where the graph file ``path`` is replaced, if it is of other inputs, or by other options."""
    known = recorded(path)
    if known is None:
        return None
    before, now = ([str(each.get("path")) for each in given or ()] for given in (known.get("sources"), sources))
    if before != now:
        made, new = (_listed(each) or "standard input" for each in (before, now))
        return f"{path} is replaced: it was made of {made}, and is of {new} now"
    differing = sorted(_differing(known, options))
    return f"{path} is replaced: it was made with other options ({', '.join(differing)})" if differing else None


def told_of_generated(path: Path) -> str | None:
    """Return what to tell where a generated graph replaces the graph file ``path``, if that was made of inputs."""
    known = recorded(path)
    made = [str(each.get("path")) for each in (known or {}).get("sources") or ()]
    return f"{path} is replaced: it was made of {_listed(made)}, and is generated now" if made else None


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more


def _differing(known: Provenance, options: dict[str, Any]) -> set[str]:
    """Return the names of the options that were not as they are now."""
    before = known.get("options") or {}
    return {name for name in before.keys() | options.keys() if before.get(name) != options.get(name)}


def recorded(path: Path) -> Provenance | None:
    """Return the provenance that the graph file ``path`` records; None: it is missing, damaged, or records none."""
    try:
        return csrbin.read_provenance(path)
    except (FormatError, FileAccessError):
        return None


def identify_graph(path: Path) -> str:
    """Return a string that no other content of the graph file ``path`` has.

    Raises
    ------
    FileAccessError
        It cannot be read.
    """
    try:
        with path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            start = stream.read(layout.PAGE)
    except OSError as error:
        raise access_error(path, error, "read") from error
    digest = hashlib.sha256(start).hexdigest()
    # the formats without a header of ours have no checksums: their time of modification has to do
    time = "" if start.startswith(layout.MAGIC) else f" {status.st_mtime_ns}"
    return f"sha256 {digest} size {status.st_size}{time}"


def is_compressed_from(compressed: Path, plain: Path) -> bool:
    """Tell whether the .ccsr was made from the .csrbin as it is now."""
    known = recorded(compressed)
    return known is not None and known.get("plain") == identify_graph(plain)


def compressed_path(plain: Path) -> Path:
    """Return the name of the .ccsr that belongs to a graph file."""
    return plain.with_suffix(".ccsr")


def write_compressed(
    graph: Graph,
    plain: Path,
    target: Path,
    provenance: Provenance | None,
    encoded: Callable[[int], object] | None = None,
) -> None:
    """Compress ``graph``, the content of the file ``plain``, to ``target``; ``encoded`` is told of edges done.

    Raises
    ------
    FileAccessError
        It cannot be written; nothing is left behind.
    FormatError
        The graph is damaged.
    """
    save_compressed(graph, target, (provenance or {}) | {"plain": identify_graph(plain)}, encoded=encoded)


def ensure_compressed(path: str | Path, told: Progress = SILENT, made: Callable[[Path], object] | None = None) -> Path:
    """Return the .ccsr beside the graph file ``path``, made from it where it is missing or was made of another.

    ``told`` is told of edges, ``made`` of the file where it is written.

    Raises
    ------
    FormatError, FileAccessError
        ``path`` cannot be opened as a graph, or the .ccsr cannot be written.
    UsageError
        ``path`` is a .ccsr that holds plain rows (not written by bigbfs).
    """
    plain = Path(path)
    target = compressed_path(plain)
    if target == plain:
        raise UsageError(f"{plain}: is named .ccsr already")
    if target.exists() and is_compressed_from(target, plain):
        return target
    elsewhere = Call("convert", str(plain), (Argument("output", f"OUT{target.suffix}"),))
    with Graph.open(plain) as graph, naming(output=elsewhere):
        require_writable(target)
        require_ours(target, replaces=GRAPH)
        with told.step(f"compress to {target}", edges_of(graph), "edges"):
            write_compressed(graph, plain, target, recorded(plain), told.advance)
    if made is not None:
        made(target)
    return target


def edges_of(graph: Graph) -> int:
    """Return the edges that are encoded: of a directed graph those of both sides."""
    twins = graph.in_adjacency is not None and graph.in_adjacency is not graph.adjacency
    return 2 * graph.m if twins else graph.m
