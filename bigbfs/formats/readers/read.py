"""One function that reads any input into an EdgeList, an estimate of what that takes, and a sample of its ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from bigbfs.errors import FormatError, InputError, UsageError
from bigbfs.formats.readers import formats
from bigbfs.formats.readers.blocks import BLOCK_BYTES
from bigbfs.formats.readers.detect import checked_format, detect_format
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.estimates import HEAD_BYTES, InputEstimate
from bigbfs.formats.readers.format import NO_RULES, Format, Reading, Rules
from bigbfs.formats.streams.sources import STANDARD_INPUT, Source
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import thread_count


def default_ahead(threads: int) -> int:
    """Return the bytes that ``threads`` threads may unpack ahead: frames as pzstd makes them keep all of them busy."""
    return (threads + 2) * BLOCK_BYTES


def read_edges(
    path: str | Path,
    *,
    format: str | None = None,
    skip_bad_lines: int = 0,
    rules: Rules | None = None,
    progress: Callable[[int], object] | None = None,
    memory: int | None = None,
    threads: int | None = None,
    edges: EdgeBuffer | None = None,
    block_bytes: int | None = None,
    ahead_bytes: int | None = None,
) -> EdgeList:
    """Read the edges of one input, in original ids.

    Parameters
    ----------
    path
        A file, plain or as .gz, .bz2, .xz or .zst; ``-`` is standard input.
    format
        One of ``readers.NAMES``; None: told by content and suffix.
    skip_bad_lines, rules
        How many bad lines to pass over (and count) before giving up; or that and all else that decides how to read.
    progress
        Called now and then with the bytes newly read from the file.
    memory
        Bytes that the edges of a format that streams (lines, an uncompressed .npy) may take; None: any.
    threads
        Threads that read; None: one for each CPU that this process may use.
    edges
        Where the edges of a format that streams go, if not to a new buffer; what the buffer then has is in the result.
    block_bytes, ahead_bytes
        Bytes of text (None: 8 MiB) or of a .npy (128 MiB) read at once, and unpacked ahead (:func:`default_ahead`).

    Raises
    ------
    InputError
        The content is not what its format says; names the file and the line or byte. It changed while it was read.
    FileAccessError
        The file is missing, a folder, or cannot be read.
    FormatError
        A graph file is damaged.
    UsageError
        There is no such format, ``skip_bad_lines`` is negative, or the format has no use for a rule.
    DoesNotFitError
        The edges do not fit in memory.
    """
    wanted = None if format is None else checked_format(format)
    rules = rules or Rules(skip_bad_lines)
    with Source(path) as source:
        found = wanted or detect_format(source.name, source.peek(HEAD_BYTES))
        require_use(source.name, formats()[found], rules)
        source.unpack_ahead(many := thread_count(threads), ahead_bytes or default_ahead(many))
        reading = Reading(source, rules, edges, memory, threads, block_bytes, progress)
        try:
            return formats()[found].read(reading)
        except (InputError, FormatError) as error:
            if source.changed():
                raise InputError(f"{source.name}: changed while it was read; convert it again") from error
            raise


def require_use(name: str, found: Format, rules: Rules) -> None:
    """Refuse a rule that the format does not know; it says for itself what the rule would."""
    for rule, value in rules.given().items():
        if rule == "columns" and rules.by_name and rule in found.takes and "column_names" not in found.takes:
            remedies = (("columns", (1, 2), "say which by number, {} for example"),)
            what = f"{name} is {found.name}, whose columns have no names"
            raise UsageError(what, about=((rule, value),), remedies=remedies)
        if rule not in found.takes:
            users = ", ".join(other.name for other in formats().values() if rule in other.takes)
            what = f"{name} is {found.name}, and this is for {users}"
            about = (rule.removeprefix("no_"), False) if rule.startswith("no_") else (rule, value)
            raise UsageError(what, about=(about,), remedies=("leave it out",))


def estimate(
    path: str | Path, *, format: str | None = None, rules: Rules = NO_RULES, loosely: bool = False
) -> InputEstimate:
    """Look at the beginning of an input; standard input and pipes are not touched.

    ``loosely``: more memory than it takes is as good, where a closer look takes time.

    Raises
    ------
    InputError, FileAccessError, UsageError
        As :func:`read_edges`, where the beginning shows it.
    """
    wanted = None if format is None else checked_format(format)
    if str(path) == STANDARD_INPUT or _is_pipe(path):
        return InputEstimate(0, 0, 0)
    with Source(path) as source:
        found = wanted or detect_format(source.name, source.peek(HEAD_BYTES))
        require_use(source.name, formats()[found], rules)
        guess = formats()[found].estimate(source, rules)
        return replace(guess, closer=None) if loosely or guess.closer is None else guess.closer()


def says_one_way(path: str | Path, *, format: str | None = None) -> bool:
    """Return whether an input says at its beginning that its edges lead one way only (KONECT ``% asym``).

    Standard input and pipes are not touched; of damage whoever reads the input tells.

    Raises
    ------
    FileAccessError, UsageError
        It cannot be read; there is no such format.
    """
    return _tell(path, format, lambda found, head: found.one_way(head))


def says_own_order(path: str | Path, *, format: str | None = None) -> bool:
    """Return whether an input says at its beginning that its vertices are in an order of its own, and has their ids.

    Raises
    ------
    FileAccessError, UsageError
        As :func:`says_one_way`.
    """
    return _tell(path, format, lambda found, head: found.in_own_order(head))


def _tell(path: str | Path, format: str | None, told: Callable[[Format, bytes], bool]) -> bool:
    """Return what the first bytes of an input tell; False where it is read once alone, or damaged."""
    wanted = None if format is None else checked_format(format)
    if is_read_once(path):
        return False
    try:
        with Source(path) as source:
            head = source.peek(HEAD_BYTES)
            return told(formats()[wanted or detect_format(source.name, head)], head)
    except InputError:
        return False


def is_read_once(path: str | Path) -> bool:
    """Tell whether an input is standard input, a pipe or a device, at which nobody can look before it is read."""
    return str(path) == STANDARD_INPUT or _is_pipe(path)


def _is_pipe(path: str | Path) -> bool:
    file = Path(path)
    return file.exists() and not file.is_file() and not file.is_dir()


def sample_ids(path: str | Path) -> np.ndarray:
    """Return ids (uint64) from places all over an input; from its beginning where it is compressed.

    Standard input and pipes are not touched; what is no graph gives no ids, whoever reads it says why.

    Raises
    ------
    InputError, FileAccessError
        Its beginning shows damage, or it cannot be read.
    """
    if str(path) == STANDARD_INPUT or not Path(path).is_file():
        return np.empty(0, np.uint64)
    with Source(path) as source:
        try:
            found = detect_format(source.name, source.peek(HEAD_BYTES))
        except InputError:
            return np.empty(0, np.uint64)
        return formats()[found].sample(source)
