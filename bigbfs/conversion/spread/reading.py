"""What each rank reads of the inputs, or has read already: own pairs by partition, the ids, what readers say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.conversion.on_disk.plan import first_map
from bigbfs.conversion.on_disk.spill import Map, Partition
from bigbfs.conversion.on_disk.stream import EdgeStream, Intake
from bigbfs.conversion.on_disk.work import Work
from bigbfs.conversion.spread.checkpoint import Checkpoint, Files
from bigbfs.conversion.spread.exchange import ExchangingWriter
from bigbfs.conversion.spread.numbering import Ids
from bigbfs.conversion.spread.shares import agreed_lists, own_bytes, read_shares
from bigbfs.conversion.spread.states import (
    ids_of,
    keep_ids,
    lists_of,
    map_of,
    map_said,
    names_of,
    partitions_of,
    partitions_said,
    said_of,
)
from bigbfs.conversion.spread.whole import takers
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.graph.edges import EdgeList

MOST_HELD = 64 << 20
"""Bytes of pairs that a rank gathers before a round, at most."""


@dataclass
class Read:
    """What has been read.

    What readers say of the inputs, what was counted, the ids, own partitions; how pairs are dealt and gathered, None
    where that is of no use any more; sums of own files, by name, where they are kept.
    """

    lists: list[EdgeList]
    counted: dict[str, int]
    ids: Ids
    partitions: list[Partition]
    places: Map | None
    held: int
    sums: Files | None

    def said(self) -> dict[str, Any]:
        """Return what is kept of it with each phase."""
        return {"lists": said_of(self.lists), "counted": self.counted}


def read_or_kept(work: Work, sample: np.ndarray, kept: Checkpoint, group: Group) -> Read:
    """Read the inputs, or return what a run that was killed has kept of them."""
    state, folder = kept.state, kept.scratch.folder
    if kept.phase is None:
        with work.watch.phase("read"):
            read = _read(work, sample, kept.on, group)
        if read.sums is not None and read.places is not None:
            files = together(group, lambda: keep_ids(read.ids, kept.scratch)) | names_of(read.partitions, read.sums)
            more = {"largest": read.ids.largest, "places": map_said(read.places), "held": read.held}
            kept.keep("read", read.said() | more | {"partitions": partitions_said(read.partitions)}, files, group)
        return read
    lists, counted = lists_of(state["lists"]), dict(state["counted"])
    if kept.phase != "read":
        return Read(lists, counted, Ids(-1, np.empty(0, np.uint64)), [], None, 0, None)
    ids = together(group, lambda: ids_of(state["largest"], kept.scratch))
    return Read(
        lists, counted, ids, partitions_of(state["partitions"], folder), map_of(state["places"]), state["held"], None
    )


def _read(work: Work, sample: np.ndarray, keep: bool, group: Group) -> Read:
    """Read own slices of all inputs, and spill what others have read of own rows."""
    options, plan = work.options, work.plan
    parts = max(4, *group.lengths(plan.parts)) * group.size
    places = first_map(sample, min(parts, 1 << 10))
    held = min(MOST_HELD, max(1 << 16, plan.room // (8 * group.size)))
    writer = ExchangingWriter(work.scratch, "lines", places, work.workers, work.threads, group, held)
    writer.sums = {} if keep else None
    largest = int(sample[-1]) if len(sample) else 0
    intake = Intake(writer, work.workers, work.threads, largest, plan.present_bytes)
    readers = takers(work.inputs, options, group.size)

    def stream(number: int, name: str) -> EdgeStream:
        return EdgeStream(name, intake, group=number if options.directed else 0)

    with writer.filling(), work.told(own_bytes(work, group), "B", "read, exchange and spill") as told:
        how: Any = {"block_bytes": plan.block_bytes, "ahead_bytes": plan.room // 4, "progress": told.advance}
        shares = read_shares(work, readers, stream, group, **how)
    lists = agreed_lists(work, shares, readers, group)
    ids = Ids(intake.largest, intake.present)
    return Read(lists, _counted(lists, intake, group), ids, writer.own(), places, held, writer.sums)


def _counted(lists: list[EdgeList], intake: Intake, group: Group) -> dict[str, int]:
    mine = {
        "lines": intake.lines,
        "comment_lines": sum(edges.comment_lines for edges in lists),
        "skipped_lines": 0,
        "input_bytes": sum(edges.input_bytes for edges in lists),
        "self_loops": intake.self_loops,
    }
    return dict(zip(mine, group.sum(list(mine.values())).tolist(), strict=True))
