"""The conversion by ranks by way of the disk: pairs are exchanged and spilled, ids numbered, own rows sorted.

It is the conversion in bounded memory (``conversion/on_disk``), whose partitions have ranks for owners: each spills
what it gets, and sorts that alone. What is finished is kept for a run after one that was killed
(:mod:`bigbfs.conversion.spread.checkpoint`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from bigbfs.conversion.on_disk.convert import parts_of, require_result_fits, space_of
from bigbfs.conversion.on_disk.plan import Plan, expected_lines, make_plan, require_space
from bigbfs.conversion.on_disk.rows import Part, Sorter
from bigbfs.conversion.on_disk.spill import Partition
from bigbfs.conversion.on_disk.work import Job, Work
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.sampling import sample_ids
from bigbfs.conversion.sorting.rule import Meaning, meaning
from bigbfs.conversion.spread.assemble import OwnRows, Whole, assemble
from bigbfs.conversion.spread.checkpoint import Checkpoint, Files, sums_of
from bigbfs.conversion.spread.numbering import LABELS, Numbering, OwnLabels, number_all, within
from bigbfs.conversion.spread.reading import Read, read_or_kept
from bigbfs.conversion.spread.sorted_rows import sort_own_rows
from bigbfs.conversion.spread.states import (
    labels_said,
    names_of,
    partitions_of,
    partitions_said,
    rows_of,
    rows_said,
    sums_of_rows,
)
from bigbfs.conversion.targets import Targets, temporary
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DoesNotFitError
from bigbfs.formats.readers.read import estimate
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.edges import EdgeList


def convert_on_disk(job: Job, kept: Checkpoint, group: Group) -> Whole:
    """Convert, all ranks together; return what was written.

    Raises
    ------
    Agreed
        What :func:`bigbfs.conversion.spread.convert.convert_over_ranks` raises.
    """
    shared = (job.inputs, job.targets, job.options, kept, group)
    sample, plan, room = together(group, lambda: _planned(*shared))
    if not group.lengths(int(room))[0]:
        kept.stop()
    given = {each.name: getattr(job, each.name) for each in fields(Job)}
    work = Work(**given, plan=plan, scratch=kept.scratch)
    options, watch = work.options, work.watch
    read = read_or_kept(work, sample, kept, group)
    work.notes += [note for edges in read.lists for note in edges.notes]
    what = meaning(read.lists, options)
    if kept.phase == "sorted":
        own, symmetric = rows_of(kept.state["own"], kept.scratch.folder), bool(kept.state["symmetric"])
    else:
        with watch.phase("build"):
            numbering, partitions = _numbered(work, read, kept, group)
        read.ids.present = np.empty(0, np.uint64)
        together(group, lambda: require_result_fits(work.targets, numbering.n, options))
        own, found, symmetric = _sorted(work, read.lists, what, numbering, partitions, kept.on, group)
        read.counted |= found
        if kept.on:
            sums = together(group, lambda: sums_of_rows(own))
            state = read.said() | {"own": rows_said(own), "symmetric": symmetric}
            kept.keep("sorted", state, sums, group)
    flags = options.flags(symmetric=what.both or symmetric, self_loops=read.counted["self_loops"])
    drop = symmetric or not options.in_edges
    return assemble(work, own, flags, read.counted, drop, work.scratch.written, group)


def _numbered(work: Work, read: Read, kept: Checkpoint, group: Group) -> tuple[Numbering, list[Partition]]:
    """Number the ids, or return what a run that was killed has kept of that."""
    folder = kept.scratch.folder
    if kept.phase == "numbered":
        numbering = OwnLabels(folder / LABELS, **kept.state["labels"])
        return numbering, within(partitions_of(kept.state["partitions"], folder), numbering)

    def keep(labels: OwnLabels, partitions: list[Partition], sums: Files) -> None:
        files = together(group, lambda: {LABELS: sums_of(folder / LABELS)}) | names_of(partitions, sums)
        state = {"labels": labels_said(labels), "partitions": partitions_said(partitions)}
        kept.keep("numbered", read.said() | state, files, group)

    assert read.places is not None
    given = (read.partitions, read.places, read.held, keep if kept.on else None)
    return number_all(work, read.ids, *given, group)


def _planned(
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    kept: Checkpoint,
    group: Group,
) -> tuple[np.ndarray, Plan, bool]:
    """Return a sample of the ids, the plan, and whether there is room to keep what is finished.

    Partitions and the table of ids are the same on every rank.
    """
    assert options.memory is not None
    guesses = [estimate(path, format=options.format, rules=options.rules()) for path in inputs]
    lines, sample = expected_lines(guesses), sample_ids(inputs)
    largest = int(sample[-1]) if len(sample) else 0
    reading = max((guess.reading_bytes for guess in guesses), default=0)
    plan = make_plan(options.memory - reading, -(-lines // group.size), largest)
    return sample, plan, group.rank > 0 or _has_room(targets, options, lines, largest, kept)


def _has_room(targets: Targets, options: ConvertOptions, lines: int, largest: int, kept: Checkpoint) -> bool:
    """Check that all files have room; return whether they have it too where nothing goes before the rows are sorted."""
    spill, result, beside = space_of(targets, options, lines, largest)
    tmp, output = temporary(targets, options), targets.files[0]
    if kept.phase == "sorted":
        require_space(tmp, 0, output, result)
        return True
    require_space(tmp, spill, output, result, beside, kept.kept)
    try:
        require_space(tmp, spill + result, output, result, beside, kept.kept)
    except DoesNotFitError:
        return False
    return True


def _sorted(
    work: Work,
    lists: list[EdgeList],
    what: Meaning,
    numbering: Numbering,
    partitions: list[Partition],
    keep: bool,
    group: Group,
) -> tuple[OwnRows, dict[str, int], bool]:
    """Sort own rows into own files; return them, the counts of all ranks, and whether in-rows are the out-rows."""
    options = work.options
    out, into = parts_of(what, lists, options.keep_self_loops)
    sides: list[list[Part]] = [out] if into is out or not options.directed else [out, into]
    if not options.in_edges:
        sides = sides[:1]
    sorter = Sorter(work.plan, work.scratch, work.workers, work.threads, numbering, what.copies)
    rows = sum(numbering.rank(p.end) - numbering.rank(p.low) for p in partitions)
    first = sum(group.lengths(rows)[: group.rank])
    ids = id_dtype(numbering.n)
    own = together(
        group,
        lambda: sort_own_rows(work, sorter, partitions, sides, numbering, first, rows, ids, keep=keep),
    )
    found = group.sum(own.found).tolist()
    symmetric = len(sides) == 2 and all(group.lengths(int(own.symmetric)))
    return own, {"duplicates": found[0], "reversed": found[1] // 2}, symmetric
