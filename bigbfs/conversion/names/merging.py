"""Merges the sorted names of all runs into the pages of the graph, and tells every run the ranks of its names."""

from __future__ import annotations

import resource
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from bigbfs.conversion.names import sorting
from bigbfs.conversion.names.runs import Run, Window
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.graph import name_kernels
from bigbfs.graph.name_pages import PageWriter
from bigbfs.report.progress import SILENT, Progress

PIECE = 1 << 16
"""Names that are packed between two words about how far it is."""
_LOW_HALF = np.uint64(32)
_OTHER_FILES = 64  # libraries and threads open some of their own meanwhile


def merge_in_memory(
    words: np.ndarray, shards: list[np.ndarray], pages: PageWriter, told: Progress = SILENT
) -> list[np.ndarray]:
    """Merge shards whose records (int64) are in byte order; return the rank (uint64) of each number of each shard."""
    records = np.concatenate(shards)
    cuts = np.cumsum([0, *map(len, shards)])
    heads, ends = cuts[:-1].copy(), cuts[1:].copy()
    last = np.ones(len(shards), np.bool_)
    ranks, distinct = np.empty(len(records), np.uint64), np.empty(len(records), np.int64)
    told.now("merge names", len(records), "names", look=lambda: int((heads - cuts[:-1]).sum()))
    count = int(sorting.merge(words, records, heads, ends, last, np.empty(0, np.uint64), 0, ranks, distinct))
    told.now("pack names", count, "names")
    for first in range(0, count, PIECE):
        pages.add(words, distinct[first : min(first + PIECE, count)])
        told.advance(min(PIECE, count - first))
    found = []
    for first, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        mine = np.empty(end - first, np.uint64)
        mine[(words[records[first:end]] >> _LOW_HALF).astype(np.int64)] = ranks[first:end]
        found.append(mine)
    return found


def merge_on_disk(
    runs: list[Run], room: int, longest: int, scratch: Scratch, pages: PageWriter, step: Callable[[int], object]
) -> None:
    """Merge runs that lie on disk; each gets its file of ranks. ``step`` is told the names that have been merged.

    Where so many files may not be open at once (``ulimit -n``), each is opened when it is read or written.

    Raises
    ------
    FileAccessError
        A temporary file cannot be read or written.
    """
    share = max(room // 3 // 8 // len(runs), 2 + (longest + 7) // 8 + 1, 1 << 10)
    most = max(share // 2, 1)  # a record takes two words or more, all but the empty name's
    words = np.empty(share * len(runs), np.uint64)
    records = np.empty(most * len(runs) + len(runs), np.int64)
    ranks, distinct = np.empty(len(records), np.uint64), np.empty(len(records), np.int64)
    starts = np.arange(len(runs)) * (most + 1)
    heads, ends = starts.copy(), starts.copy()
    last = np.zeros(len(runs), np.bool_)
    carried = np.empty(0, np.uint64)
    held = may_hold(2 * len(runs))
    with ExitStack() as files:
        windows = []
        for number, run in enumerate(runs):
            windows.append(Window(run, words, share * number, share * (number + 1), scratch, held))
            files.callback(windows[-1].close)
        outs = [files.enter_context(Ranks(run, scratch, held)) for run in runs]
        while True:
            for number, window in enumerate(windows):
                if heads[number] == ends[number] and not last[number]:
                    here = records[starts[number] : starts[number] + most + 1]
                    heads[number] = starts[number]
                    ends[number] = starts[number] + window.refill(here)
                    last[number] = window.last
            before = heads.copy()
            count = int(sorting.merge(words, records, heads, ends, last, carried, pages.count, ranks, distinct))
            pages.add(words, distinct[:count])
            if count:
                carried = _copied(words, int(distinct[count - 1]))
            for number, out in enumerate(outs):
                done = slice(int(before[number]), int(heads[number]))
                out.tell(words, records[done], ranks[done])
            step(int((heads - before).sum()))
            if last.all() and (heads == ends).all():
                return


def may_hold(count: int) -> bool:
    """Return whether ``count`` more files may be open at once; the soft limit, often 1,024, is raised for them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = count + len(list(Path("/dev/fd").iterdir())) + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= need:
        return True
    if hard != resource.RLIM_INFINITY and hard < need:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (need, hard))
    return True


def _copied(words: np.ndarray, record: int) -> np.ndarray:
    return words[record : record + 1 + (int(name_kernels.length_of(words, record)) + 7) // 8].copy()


class Ranks:
    """The file of (number, rank) of a run, ``held`` open, or opened whenever some are told."""

    def __init__(self, run: Run, scratch: Scratch, held: bool) -> None:
        self._path, self._scratch = run.ranks, scratch
        self._path.unlink(missing_ok=True)
        self._held = run.ranks.open("ab") if held else None

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            self._held.close()

    def tell(self, words: np.ndarray, records: np.ndarray, ranks: np.ndarray) -> None:
        """Append the number and the rank of each record.

        Raises
        ------
        FileAccessError
            The file cannot be written.
        """
        if not len(records):
            return
        pairs = np.empty((len(records), 2), np.uint64)
        pairs[:, 0] = words[records] >> _LOW_HALF
        pairs[:, 1] = ranks
        try:
            self._scratch.wrote(pairs.nbytes)
            if self._held is not None:
                self._held.write(pairs.data)
                return
            with self._path.open("ab") as out:
                out.write(pairs.data)
        except OSError as error:
            raise self._scratch.error(error) from error
