"""The conversion in bounded memory, from inputs to graph files: read and spill, number, sort and write.

In: inputs whose format is one line for each edge (or vertex). Out: the same bytes that the conversion in memory writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bigbfs.conversion import cache
from bigbfs.conversion.numbering.ids import declared_ranges
from bigbfs.conversion.on_disk.degrees import beside_order, reorder, require_order_fits
from bigbfs.conversion.on_disk.labels import label
from bigbfs.conversion.on_disk.numbering import CHUNK, Consecutive, Numbering, Present
from bigbfs.conversion.on_disk.plan import (
    Plan,
    expected_lines,
    first_map,
    make_plan,
    require_space,
    spill_estimate,
)
from bigbfs.conversion.on_disk.rows import Part, Sorter
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.sinks import StageSink
from bigbfs.conversion.on_disk.spill import Map, Partition, Writer
from bigbfs.conversion.on_disk.stream import EdgeStream, Intake
from bigbfs.conversion.on_disk.work import NamedEdges, NamedSections, Sources, Work
from bigbfs.conversion.on_disk.writing import consume, pairs_of, write_graph
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders import KEPT, not_kept
from bigbfs.conversion.report import Stopwatch
from bigbfs.conversion.sampling import sample_ids
from bigbfs.conversion.sorting.named_inputs import names_of_inputs
from bigbfs.conversion.sorting.rule import AS_GIVEN, Meaning, meaning
from bigbfs.conversion.targets import Targets, temporary
from bigbfs.errors import DoesNotFitError, InputError, RemedyLike
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.formats.readers.read import read_edges
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import Workers, thread_count
from bigbfs.sizes import size_allowed, size_needed


@dataclass(frozen=True)
class Outcome:
    """What was written: vertices, edges, counts (as in the provenance), partitions, bytes of temporary files, notes."""

    vertices: int
    edges: int
    counted: dict[str, int]
    partitions: int
    spilled_bytes: int
    notes: tuple[str, ...]


def convert_external(
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    sources: Sources,
    guesses: Sequence[InputEstimate],
    watch: Stopwatch,
    plan: Plan | None = None,
    named: NamedSections | None = None,
    given: NamedEdges | None = None,
    notes: Sequence[str] = (),
) -> Outcome:
    """Convert ``inputs`` to ``targets`` within ``options.memory`` bytes; a ``plan`` overrides what follows from it.

    ``named`` has the names of the vertices; where the inputs have been read for them, ``given`` has the edges.
    ``notes``: what there is to tell already.

    Raises
    ------
    DoesNotFitError
        So little memory that nothing can be done, or no room for the temporary files.
    InputError, FileAccessError, UsageError
        As :func:`bigbfs.conversion.convert`.
    """
    asked = options.order
    if asked in (None, KEPT):
        options = replace(options, order="original")
    assert options.memory is not None
    threads = thread_count(options.threads)
    lines = expected_lines(guesses)
    sample = sample_ids(inputs) if given is None else given.sample()
    largest = int(sample[-1]) if len(sample) else 0
    reading = max((guess.reading_bytes for guess in guesses), default=0)
    plan = plan or make_plan(options.memory - reading, lines, largest)
    spill = check_space(targets, options, lines, largest)
    with Workers(threads) as workers, Scratch(temporary(targets, options), spill, targets.files[0]) as scratch:
        job = (inputs, targets, options, sources, watch, workers, threads, list(notes))
        work = Work(*job, plan=plan, scratch=scratch, named=named, given=given)
        with watch.phase("read"):
            lists, intake, partitions, places = _read(work, sample)
        work.notes += [note for edges in lists for note in edges.notes]
        what = meaning(lists, options)
        counted = {
            "lines": intake.lines,
            "comment_lines": sum(edges.comment_lines for edges in lists),
            "skipped_lines": sum(edges.skipped_lines for edges in lists),
            "input_bytes": sum(edges.input_bytes for edges in lists),
            "self_loops": intake.self_loops,
        }
        with watch.phase("build"):
            numbering, partitions = _number(work, lists, intake, partitions, places)
        del intake
        require_result_fits(targets, numbering.n, options)
        edges, found = _build(work, lists, what, numbering, partitions, counted)
        counted |= found
        lost = asked == KEPT and lists[0].order is not None
        notes = [not_kept(inputs[0], "it takes more memory than it may"), *work.notes] if lost else work.notes
        return Outcome(numbering.n, edges, counted, len(partitions), scratch.written, tuple(notes))


def check_space(targets: Targets, options: ConvertOptions, lines: int, largest: int, there: int = 0) -> int:
    """Check that all files have room, of which ``there`` bytes are there; return the bytes to reserve (0: unknown)."""
    spill, result, beside = space_of(targets, options, lines, largest)
    require_space(temporary(targets, options), spill, targets.files[0], result, beside, there)
    return spill


def space_of(targets: Targets, options: ConvertOptions, lines: int, largest: int) -> tuple[int, int, int]:
    """Return about how many bytes the temporary files take, the result, and what of it is there beside all of them."""
    spill = spill_estimate(lines, largest)
    width = 4 if largest < 2**32 else 8
    edges = 2 * lines
    vertices = min(edges, largest + 1)
    result = (width * edges + 8 * vertices) * len(targets.files)
    if options.order == "degree":
        spill = max(spill, 3 * width * edges)
    # of a directed graph all of them are read twice, and go with the in-neighbours
    return spill, result, result * 5 // 8 if options.directed and options.in_edges else 0


def require_result_fits(targets: Targets, n: int, options: ConvertOptions) -> None:
    """Refuse more vertices than there is room for on the disk, which only ids that are kept can amount to."""
    path = targets.files[0]
    status = os.statvfs(path.parent)
    need, free = 8 * n * len(targets.files), status.f_bavail * status.f_frsize
    if need > free:
        remedies: tuple[RemedyLike, ...] = (("keep_ids", True),) if options.keep_ids else ()
        raise DoesNotFitError(
            f"{path}: {n:,} vertices take {size_needed(need)}, and {size_allowed(free)} are free there",
            remedies=(*remedies, "free some", ("output", None, "write elsewhere ({})")),
        )


def _read(work: Work, sample: np.ndarray) -> tuple[list[EdgeList], Intake, list[Partition], Map]:
    """Read all inputs into the spill."""
    options, plan = work.options, work.plan
    places = first_map(sample, plan.parts)
    writer = Writer(work.scratch, "lines", places, work.workers, work.threads)
    largest = int(sample[-1]) if len(sample) else 0
    intake = Intake(writer, work.workers, work.threads, largest, plan.present_bytes)
    sizes = sum(source["size"] for source in work.sources or [])
    lists = []
    with work.told(sizes, "B", "read and spill") as told:
        if work.given is not None:
            lists.append(work.given.feed(EdgeStream("names", intake)))
        for group, path in enumerate(work.inputs if work.given is None else []):
            edges = read_edges(
                path,
                format=options.format,
                rules=options.rules(),
                progress=told.advance,
                threads=options.threads,
                edges=EdgeStream(str(path), intake, group=group if options.directed else 0),
                block_bytes=plan.block_bytes,
                ahead_bytes=plan.room // 4,
            )
            intake.take_list(edges, group if options.directed else 0)
            lists.append(edges)
    options.require_direction(lists)
    work.named = work.named or names_of_inputs(lists)
    if work.sources is not None and cache.identify_sources(work.inputs) != work.sources:
        raise InputError(f"{', '.join(map(str, work.inputs))}: changed while it was read; convert it again")
    work.scratch.release()
    return lists, intake, writer.partitions(), places


def _number(
    work: Work, lists: list[EdgeList], intake: Intake, partitions: list[Partition], places: Map
) -> tuple[Numbering, list[Partition]]:
    """Return the numbering, and the partitions, those without a vertex left out."""
    declared = declared_ranges(lists, work.threads)
    ends = [end for _, end in declared] + [intake.largest + 1]
    numbering: Numbering
    if work.options.keep_ids:
        numbering = Consecutive(0, max(ends))
    elif all(edges.declared_n is not None for edges in lists) and len(declared) == 1:
        numbering = Consecutive(declared[0][0], declared[0][1] - declared[0][0])
    elif intake.declare(declared):
        numbering = Present(intake.present, work.workers, work.threads).simplest()
    else:
        with work.told(2 * len(partitions), "parts", "number the vertices") as told:
            shared = (work.plan, work.scratch, work.workers, work.threads)
            labelled, partitions = label(partitions, declared, places, *shared, told.advance)
        numbering = labelled
    low, end = numbering.extent()
    kept = [Partition(max(p.low, low), min(p.end, end), p.files) for p in partitions if p.low < end and p.end > low]
    return numbering, kept


def parts_of(what: Meaning, lists: list[EdgeList], loops: bool) -> tuple[list[Part], list[Part]]:
    """Return what the out-neighbours and the in-neighbours are made of; the same list where these are the same."""
    if what.both:
        out = [Part("out", loops=loops), Part("in", backward=True)]
        return out, out
    two_way = frozenset(i for i, edges in enumerate(lists) if edges.one_way_means_both)
    sides = []
    for stream, other in (("out", "in"), ("in", "out")):
        sides.append([Part(stream, loops=loops)] + ([Part(other, groups=two_way)] if two_way else []))
    return sides[0], sides[1]


def _build(
    work: Work,
    lists: list[EdgeList],
    what: Meaning,
    numbering: Numbering,
    partitions: list[Partition],
    counted: dict[str, int],
) -> tuple[int, dict[str, int]]:
    """Sort and write; return (edges, what the sorter counted)."""
    options = work.options
    out, into = parts_of(what, lists, options.keep_self_loops)
    sides = [out]
    if into is not out and (options.in_edges or options.order == "degree"):
        sides.append(into)
    sorter = _sorter(work, work.plan, numbering, what.copies)
    if not options.reordered:
        return write_graph(work, numbering, numbering.labels(), sorter, partitions, sides, counted, both=what.both)
    require_order_fits(numbering.n, work.plan)
    stage = StageSink(work.scratch, id_dtype(numbering.n))
    consume(work, sorter.rows(partitions, out, remove=True), [stage.add], pairs_of(partitions, out), "sort")
    found = sorter.counts()
    del sorter  # its memory is needed for the order
    twins = len(sides) == 2
    with work.watch.phase("build"), work.told(stage.edges, "edges", "order the vertices (degree)") as told:
        ordered = reorder(
            stage,
            twins=twins,
            plan=work.plan,
            scratch=work.scratch,
            workers=work.workers,
            threads=work.threads,
            advance=told.advance,
        )
    numbers = Consecutive(0, numbering.n)
    second = _sorter(work, beside_order(work.plan, numbering.n), numbers, AS_GIVEN)
    sides = [[Part("out", loops=True)], [Part("in", loops=True)]][: len(sides)]
    labels = _reordered_labels(numbering, ordered.order)
    counted = counted | found
    edges, _ = write_graph(work, numbers, labels, second, ordered.partitions, sides, counted, both=what.both)
    return edges, found


def _sorter(work: Work, plan: Plan, numbering: Numbering, copies: int) -> Sorter:
    return Sorter(plan, work.scratch, work.workers, work.threads, numbering, copies)


def _reordered_labels(numbering: Numbering, order: np.ndarray) -> Iterator[np.ndarray]:
    """Return the original id of each vertex in the new order."""
    stretches = numbering.labels()
    labels = None if stretches is None else np.concatenate(list(stretches))
    for first in range(0, len(order), CHUNK):
        here = order[first : first + CHUNK]
        yield here.astype(np.int64) + numbering.first_id if labels is None else labels[here]
