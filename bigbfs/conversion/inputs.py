"""What inputs say before they are read, and reading all of a conversion, several at once where threads allow it.

One file keeps several threads busy only while it is being tokenized; unpacking a compressed one is mostly the work of
one thread (see :mod:`bigbfs.formats.streams.units`), so two files at once take half the time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders import KEPT, not_kept
from bigbfs.formats.readers.read import default_ahead, is_read_once, read_edges, says_one_way, says_own_order
from bigbfs.formats.streams.sources import STANDARD_INPUT
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import run, thread_count


class _Stopped(Exception):
    """Nobody wants the rest of this input any more."""


def read_all(
    paths: Sequence[str | Path], progress: Callable[[int], object], threads: int | None = None, **rules: Any
) -> list[EdgeList]:
    """Return the edges of every input, in the order of ``paths``.

    Parameters
    ----------
    progress
        Called with the bytes newly read, never by two threads at once.
    threads
        Threads to use; None: one for each CPU that this process may use.
    **rules
        For :func:`bigbfs.formats.readers.read.read_edges`.

    Raises
    ------
    InputError, FileAccessError, FormatError, UsageError, DoesNotFitError
        As ``read_edges``; of several inputs that fail, the error of the first in the order of ``paths``.
    """
    lock = threading.Lock()
    many = thread_count(threads)
    failed: dict[int, BaseException] = {}

    def read(number: int) -> EdgeList | None:
        def advance(count: int) -> None:
            if any(other < number or not isinstance(error, Exception) for other, error in list(failed.items())):
                raise _Stopped  # an input before this one has failed, or somebody pressed Ctrl-C
            with lock:
                progress(count)

        try:
            advance(0)
            return read_edges(paths[number], progress=advance, threads=threads, ahead_bytes=ahead, **rules)
        except _Stopped:
            return None
        except BaseException as error:
            failed[number] = error
            return None

    # a thread that waits for a pipe could not be interrupted
    files_only = all(str(path) != STANDARD_INPUT and Path(path).is_file() for path in paths)
    at_once = min(many, max(1, len(paths))) if files_only else 1
    ahead = default_ahead(many) // at_once
    found = run(at_once, read, [(number,) for number in range(len(paths))])
    if failed:
        interrupts = [error for error in failed.values() if not isinstance(error, Exception)]
        raise interrupts[0] if interrupts else failed[min(failed)]
    return found


def as_inputs_say(inputs: Sequence[str | Path], options: ConvertOptions) -> ConvertOptions:
    """Return the options with what nobody has said: the direction of edges, and the order of the vertices.

    The graph is directed where an input says that its edges are one-way. The order is ``"kept"`` where the only input
    is a graph file in one of its own, or cannot be looked at before it is read; else it is the original one.
    """
    if not options.directed and not options.undirected:
        options = replace(options, directed=any(says_one_way(path, format=options.format) for path in inputs))
    if options.order not in (None, KEPT):
        return options
    kept = len(inputs) == 1 and not options.keep_ids
    kept = kept and (is_read_once(inputs[0]) or says_own_order(inputs[0], format=options.format))
    return replace(options, order=KEPT if kept else "original")


def lost_order(inputs: Sequence[str | Path], asked: ConvertOptions, options: ConvertOptions) -> tuple[str, ...]:
    """Return what to tell where a graph file in an order of its own is put into the original one, unasked.

    Parameters
    ----------
    asked, options
        The options as they were given, and as :func:`as_inputs_say` completed them.
    """
    if asked.order is not None or options.order != "original":
        return ()
    why = "keep_ids=True" if options.keep_ids else "several inputs"
    return tuple(not_kept(path, why) for path in inputs if says_own_order(path, format=options.format))
