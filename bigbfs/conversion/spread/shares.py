"""What each rank reads of the inputs: a share of each that is cut, and whole files of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bigbfs.conversion import cache
from bigbfs.conversion.on_disk.work import Job
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.spread.slices import Share, head_of, read_share
from bigbfs.conversion.spread.whole import nothing_of, read_whole, told_of_others
from bigbfs.engines.ranks.agreeing import Agreed, together
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import InputError
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.text_head import no_edge
from bigbfs.graph.edges import EdgeList


def own_bytes(work: Job, group: Group) -> int:
    """Return about how many bytes of the inputs a rank reads."""
    return sum(Path(path).stat().st_size for path in work.inputs) // group.size


def read_shares(
    work: Job,
    readers: Sequence[int | None],
    buffer: Callable[[int, str], EdgeBuffer],
    group: Group,
    *,
    block_bytes: int,
    ahead_bytes: int,
    progress: Callable[[int], object],
) -> list[Share]:
    """Read what this rank has of each input, with whom nobody needs to agree.

    Parameters
    ----------
    readers
        Which rank reads an input; None: all do, a share each.
    buffer
        Returns where the edges of an input go, given its number and its name.

    Raises
    ------
    InputError, FileAccessError, DoesNotFitError
        As :func:`bigbfs.formats.readers.read.read_edges`.
    """
    shares = []
    for number, path in enumerate(work.inputs):
        if readers[number] is None:
            edges, who = buffer(number, str(path)), (group.rank, group.size)
            share = read_share(path, edges, work.options, *who, block_bytes=block_bytes, progress=progress)
        elif readers[number] == group.rank:
            how = {"block_bytes": block_bytes, "ahead_bytes": ahead_bytes}
            share = read_whole(path, buffer(number, str(path)), work.options, progress=progress, **how)
        else:
            share = nothing_of()
        shares.append(share)
    return shares


def agreed_lists(work: Job, shares: list[Share], readers: list[int | None], group: Group) -> list[EdgeList]:
    """Return the lists of all shares, in which all ranks have what one has read of the nature of an input.

    Raises
    ------
    Agreed
        An input has no edge, lines of ids whose number changes, or has changed meanwhile.
    """
    shares = told_of_others(shares, readers, group)
    _require_edges(work.inputs, work.options, shares, group)
    together(group, lambda: _require_unchanged(work))
    return [share.edges for share in shares]


def _require_unchanged(work: Job) -> None:
    if cache.identify_sources(work.inputs) != work.sources:
        raise InputError(f"{', '.join(map(str, work.inputs))}: changed while it was read; convert it again")


def _require_edges(inputs: Sequence[str | Path], options: ConvertOptions, shares: list[Share], group: Group) -> None:
    """Refuse inputs without an edge, and lines of ids whose number changes from one rank's share to another's."""
    everyone = group.objects([(share.found, share.columns, share.edges.comment_lines) for share in shares])
    for path, *theirs in zip(inputs, *everyone, strict=True):
        found, columns, comments = (list(each) for each in zip(*theirs, strict=True))
        if not sum(found):
            if sum(comments):
                raise Agreed(no_edge(str(path), sum(comments), 0, head_of(path, options)[0]))
            raise Agreed(InputError(f"{path}: no edge in it, nothing; an edge list needs a line with two ids"))
        several = sorted({each for each in columns if each})
        if len(several) > 1:
            what = f"{path}: some lines have {several[0]} ids and others {several[1]}, as in an adjacency list"
            ways = (
                ("format", "adjlist", "read it with {} (or metis)"),
                ("columns", (1, 2), "insist on an edge list with {}"),
            )
            raise Agreed(InputError(what, remedies=ways))
