"""Have the files that a graph file was made of changed since? What a command says when it opens the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bigbfs.errors import FileAccessError, FormatError
from bigbfs.formats.container.csrbin import read_provenance


def newer_sources(path: Path) -> list[str]:
    """Return the sources of the graph file ``path`` that are newer than when it was made of them.

    Looks at sizes and times of modification alone. A source that is gone has not changed; a graph file that says
    nothing of its origin has no sources.
    """
    try:
        known = read_provenance(path)
    except (FormatError, FileAccessError):  # whoever opens it says so
        return []
    sources = known.get("sources") if known else None
    return [source["path"] for source in sources if _changed(source)] if isinstance(sources, list) else []


def _changed(source: Any) -> bool:
    try:
        status = Path(source["path"]).stat()
        return (status.st_size, status.st_mtime_ns) != (source["size"], source["mtime_ns"])
    except (OSError, TypeError, KeyError, ValueError):  # it is gone, or the record is not ours
        return False
