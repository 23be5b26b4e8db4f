"""The graph file of a folder that is meant where none is named: the newest, and those that may not be looked into."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from bigbfs.formats.container import layout
from bigbfs.formats.container.csrbin import SUFFIXES


def newest_graph(folder: Path, *, compressed: bool | None = None) -> Path | None:
    """Return the graph container of ``folder`` that was modified last, or None.

    Files of other tools (a raw .csrbin) are left out: they number vertices in their own way. So are those that cannot
    be read (:func:`closed_graphs`).

    Parameters
    ----------
    compressed
        True: only .ccsr; False: only .csrbin; None: both.
    """
    wanted = [suffix for codec, suffix in SUFFIXES.items() if compressed is None or compressed == (codec == "varint")]
    files: Iterable[Path] = (path for path in folder.iterdir() if path.suffix in wanted and _is_container(path))
    return max(files, key=_age, default=None)


def closed_graphs(folder: Path, newer_than: Path | None = None) -> list[tuple[Path, str]]:
    """Return files of ``folder`` that are called like graphs and may not be read, the newest first, and why.

    Parameters
    ----------
    newer_than
        Only those that were modified after this file.
    """
    oldest = None if newer_than is None else _age(newer_than)
    found = []
    for path in (path for path in folder.iterdir() if path.suffix in SUFFIXES.values()):
        with suppress(OSError):  # gone by now, or in a folder that may be listed and not entered
            age = _age(path)
            if path.is_file() and (oldest is None or age > oldest) and (why := _refusal(path)):
                found.append((age, path, why))
    return [(path, why) for _, path, why in sorted(found, reverse=True)]


def _age(path: Path) -> tuple[int, str]:
    return path.stat().st_mtime_ns, path.name


def _refusal(path: Path) -> str | None:
    """Return why a file may not be read; None: it may, or it is no permission that lacks."""
    try:
        with path.open("rb"):
            return None
    except PermissionError as error:
        return error.strerror


def _is_container(path: Path) -> bool:
    with suppress(OSError):
        if path.is_file():  # to open a pipe would wait for who writes to it
            with path.open("rb") as stream:
                return stream.read(len(layout.MAGIC)) == layout.MAGIC
    return False
