"""The conversion by several ranks: read slices and exchange pairs, number, sort own rows, put the file together.

In: edge lists, .npy and tables that all ranks see. Out: the same bytes that one process writes. It is the conversion in
bounded memory (``on_disk/``), whose partitions have ranks for owners: each spills what it gets, and sorts that alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.conversion import cache
from bigbfs.conversion.folders import expand
from bigbfs.conversion.inputs import as_inputs_say
from bigbfs.conversion.memory import default_allowance
from bigbfs.conversion.on_disk.convert import check_space, parts_of, require_result_fits, temporary
from bigbfs.conversion.on_disk.plan import Plan, expected_lines, first_map, make_plan
from bigbfs.conversion.on_disk.rows import Part, Sorter
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.spill import Map, Partition
from bigbfs.conversion.on_disk.stream import EdgeStream, Intake
from bigbfs.conversion.on_disk.work import Work
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.report import ConvertReport, Stopwatch, peak_rss_bytes
from bigbfs.conversion.sampling import sample_ids
from bigbfs.conversion.sorting.rule import Meaning, meaning
from bigbfs.conversion.spread.assemble import OwnRows, Whole, assemble
from bigbfs.conversion.spread.exchange import ExchangingWriter, OtherFailed
from bigbfs.conversion.spread.numbering import Numbering, number_all
from bigbfs.conversion.spread.shards import spread_to_shards
from bigbfs.conversion.spread.slices import Share, is_sliced, read_share
from bigbfs.conversion.spread.whole import nothing_of, read_whole, takers, told_of_others
from bigbfs.conversion.targets import Targets, choose_targets
from bigbfs.engines.ranks.agreeing import Agreed, agree, together
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import Argument, BigBfsError, InputError, UsageError
from bigbfs.formats.atomic import require_writable
from bigbfs.formats.ours import require_ours
from bigbfs.formats.readers.named import holds_names
from bigbfs.formats.readers.read import estimate
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import Workers, thread_count

MOST_HELD = 64 << 20
"""Bytes of pairs that a rank gathers before a round, at most."""


@dataclass
class _Read:
    """What has been read: shares of the inputs, the table of ids, own partitions; how pairs are dealt and gathered."""

    shares: list[Share]
    intake: Intake
    partitions: list[Partition]
    places: Map
    held: int


def convert_over_ranks(
    inputs: Sequence[str | Path], output: str | Path | None, options: ConvertOptions, group: Group
) -> ConvertReport:
    """Convert ``inputs`` by all ranks of ``group``; every rank makes this call, and gets the report.

    Parameters
    ----------
    options
        ``memory`` and ``threads`` are of each rank; ``order`` is "original".

    Raises
    ------
    UsageError
        An input or an option has no form over ranks; the ranks see different inputs. What else
        :func:`bigbfs.conversion.convert` refuses.
    InputError, FileAccessError, DoesNotFitError
        As :func:`bigbfs.conversion.convert`: on every rank what the first has met that failed. Nothing is left behind.
    """
    try:
        if options.shards is not None:
            paths = together(group, lambda: expand(inputs))
            said = together(group, lambda: as_inputs_say(paths, options))
            return spread_to_shards(inputs, output, said, group, _converted)
        return _converted(inputs, output, options, group)
    except Agreed as agreed:
        group.barrier()  # nobody ends, and ends the others, before all have tidied up
        if isinstance(agreed.error, BigBfsError):
            _send_to_one_process(agreed.error)
        raise agreed.error from None


ALONE = ("order", "bipartite", "names", "skip_bad_lines")
"""Options that only a conversion by one process has."""


def _send_to_one_process(error: BigBfsError) -> None:
    """Say of the remedies that one process has, and ranks have not, that they are for one."""
    error.remedies = tuple(
        each._replace(words=f"convert without ranks and {each.words}")
        if isinstance(each.what, Argument) and each.what.name in ALONE
        else each
        for each in error.remedies
    )


def _converted(
    inputs: Sequence[str | Path], output: str | Path | None, options: ConvertOptions, group: Group
) -> ConvertReport:
    watch = Stopwatch()
    targets, inputs, options, known = together(group, lambda: _prepared(inputs, output, options, group))
    sources = cache.identify_sources(inputs)
    _require_the_same(group, inputs, sources)
    if known is not None:
        return _report(targets, known, watch, cached=True)
    told = together(group, lambda: cache.told_of(targets.files[0], sources, options.identity()))
    found = _convert(inputs, targets, options, sources, watch, group)
    report = _report(targets, found, watch, cached=False)
    return report if told is None else replace(report, notes=(told, *report.notes))


def _prepared(
    inputs: Sequence[str | Path], output: str | Path | None, options: ConvertOptions, group: Group
) -> tuple[Targets, list[str | Path], ConvertOptions, Whole | None]:
    """Return what is to be written of what, and what is there already; refuse what ranks cannot do."""
    targets = choose_targets(inputs, None if output is None else Path(output), options.compressed)
    paths = expand(inputs)
    given = {"order": options.order != "original", "bipartite": options.bipartite}
    given |= {"names": bool(options.names), "skip_bad_lines": options.skip_bad_lines > 0}
    for name, is_given in given.items():
        if is_given:
            about = ((name, getattr(options, name)),)
            raise UsageError("is for one process; leave it out, or convert without ranks", about=about)
    for path in paths:
        is_sliced(path, options)
    if holds_names(paths, options.format, options.rules()):
        raise UsageError(f"{paths[0]}: its ids are names, which one process numbers; convert it without ranks")
    options = as_inputs_say(paths, options)
    known = None if options.force else cache.lookup(targets.files[0], cache.identify_sources(paths), options.identity())
    if known is not None and all(path.exists() for path in targets.files):
        return targets, paths, options, Whole.of_file(targets.files[0], known)
    for target in targets.files:
        require_writable(target)
        require_ours(target, options.force)
    share = default_allowance() // group.host_size
    options = replace(options, progress=options.progress and group.rank == 0)
    return targets, paths, replace(options, memory=share if options.memory is None else options.memory), None


def _require_the_same(group: Group, inputs: Sequence[str | Path], sources: object) -> None:
    """Refuse ranks that see different files under these names."""
    everyone = group.objects(sources)
    for rank, theirs in enumerate(everyone):
        if theirs != everyone[0]:
            raise Agreed(
                UsageError(
                    f"rank 0 (host {group.hosts[0]}) and rank {rank} (host {group.hosts[rank]}) see different files as "
                    f"{', '.join(map(str, inputs))}; give all the same",
                    names_ranks=True,
                )
            )


def _convert(
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    sources: object,
    watch: Stopwatch,
    group: Group,
) -> Whole:
    threads = thread_count(options.threads)
    sample, plan = together(group, lambda: _planned(inputs, targets, options, group))
    with ExitStack() as stack:
        workers = stack.enter_context(Workers(threads))
        scratch = together(group, lambda: stack.enter_context(Scratch(temporary(targets, options))))
        work = Work(inputs, targets, options, sources, plan, scratch, workers, threads, watch)  # type: ignore[arg-type]
        with watch.phase("read"):
            read = _read(work, sample, group)
        lists = [share.edges for share in read.shares]
        work.notes += [note for edges in lists for note in edges.notes]
        what = meaning(lists, options)
        counted = _counted(read, group)
        with watch.phase("build"):
            numbering, partitions = number_all(work, read.intake, read.partitions, read.places, read.held, group)
        del read.intake
        together(group, lambda: require_result_fits(targets, numbering.n, options))
        own, found, symmetric = _sorted(work, lists, what, numbering, partitions, group)
        counted |= found
        flags = options.flags(symmetric=what.both or symmetric, self_loops=counted["self_loops"])
        return assemble(work, own, flags, counted, symmetric or not options.in_edges, group)


def _planned(
    inputs: Sequence[str | Path], targets: Targets, options: ConvertOptions, group: Group
) -> tuple[np.ndarray, Plan]:
    """Return a sample of the ids and the plan, in which partitions and the table of ids are as on every other rank."""
    assert options.memory is not None
    guesses = [estimate(path, format=options.format, rules=options.rules()) for path in inputs]
    lines, sample = expected_lines(guesses), sample_ids(inputs)
    largest = int(sample[-1]) if len(sample) else 0
    reading = max((guess.reading_bytes for guess in guesses), default=0)
    plan = make_plan(options.memory - reading, -(-lines // group.size), largest)
    if group.rank == 0:
        check_space(targets, options, lines, largest)
    return sample, plan


def _read(work: Work, sample: np.ndarray, group: Group) -> _Read:
    """Read own slices of all inputs, and spill what others have read of own rows."""
    options, plan = work.options, work.plan
    parts = max(4, *group.lengths(plan.parts)) * group.size
    places = first_map(sample, min(parts, 1 << 10))
    held = min(MOST_HELD, max(1 << 16, plan.room // (8 * group.size)))
    writer = ExchangingWriter(work.scratch, "lines", places, work.workers, work.threads, group, held)
    largest = int(sample[-1]) if len(sample) else 0
    intake = Intake(writer, work.workers, work.threads, largest, plan.present_bytes)
    shares: list[Share] = []
    failure: Exception | None = None
    readers = takers(work.inputs, options, group.size)
    sizes = sum(Path(path).stat().st_size for path in work.inputs) // group.size
    stopped = False
    try:
        with work.told(sizes, "B", "read, exchange and spill") as told:
            for number, path in enumerate(work.inputs):
                stream = EdgeStream(str(path), intake, group=number if options.directed else 0)
                how: Any = {"block_bytes": plan.block_bytes, "progress": told.advance}
                if readers[number] is None:
                    share = read_share(path, stream, options, group.rank, group.size, **how)
                elif readers[number] == group.rank:
                    share = read_whole(path, stream, options, ahead_bytes=plan.room // 4, **how)
                else:
                    share = nothing_of()
                shares.append(share)
    except OtherFailed:
        stopped = True
    except Exception as error:
        failure = error
    if not stopped:
        with suppress(OtherFailed):
            writer.finish(failure is not None)
    agree(group, failure or writer.failure)
    shares = told_of_others(shares, readers, group)
    _require_edges(work.inputs, shares, group)
    together(group, lambda: _require_unchanged(work))
    return _Read(shares, intake, writer.own(), places, held)


def _require_unchanged(work: Work) -> None:
    if cache.identify_sources(work.inputs) != work.sources:
        raise InputError(f"{', '.join(map(str, work.inputs))}: changed while it was read; convert it again")


def _require_edges(inputs: Sequence[str | Path], shares: list[Share], group: Group) -> None:
    """Refuse inputs without an edge, and lines of ids whose number changes from one rank's share to another's."""
    everyone = group.objects([(share.found, share.columns, share.edges.comment_lines) for share in shares])
    for path, *theirs in zip(inputs, *everyone, strict=True):
        found, columns, comments = (list(each) for each in zip(*theirs, strict=True))
        if not sum(found):
            lines = f"only {sum(comments)} comment and blank lines" if sum(comments) else "nothing"
            raise Agreed(InputError(f"{path}: no edge in it, {lines}; an edge list needs a line with two ids"))
        several = sorted({each for each in columns if each})
        if len(several) > 1:
            what = f"{path}: some lines have {several[0]} ids and others {several[1]}, as in an adjacency list"
            ways = (
                ("format", "adjlist", "read it with {} (or metis)"),
                ("columns", (1, 2), "insist on an edge list with {}"),
            )
            raise Agreed(InputError(what, remedies=ways))


def _counted(read: _Read, group: Group) -> dict[str, int]:
    lists = [share.edges for share in read.shares]
    mine = {
        "lines": read.intake.lines,
        "comment_lines": sum(edges.comment_lines for edges in lists),
        "skipped_lines": 0,
        "input_bytes": sum(edges.input_bytes for edges in lists),
        "self_loops": read.intake.self_loops,
    }
    return dict(zip(mine, group.sum(list(mine.values())).tolist(), strict=True))


def _sorted(
    work: Work, lists: list[EdgeList], what: Meaning, numbering: Numbering, partitions: list[Partition], group: Group
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
    own = together(
        group,
        lambda: OwnRows.sorted(work, sorter, partitions, sides, numbering, first, rows, id_dtype(numbering.n)),
    )
    found = group.sum(own.found).tolist()
    symmetric = len(sides) == 2 and all(group.lengths(int(own.symmetric)))
    return own, {"duplicates": found[0], "reversed": found[1] // 2}, symmetric


def _report(targets: Targets, whole: Whole, watch: Stopwatch, *, cached: bool) -> ConvertReport:
    compressed = targets.compressed
    return ConvertReport(
        output=str(targets.files[0]),
        compressed=None if compressed is None else str(compressed),
        vertices=whole.vertices,
        edges=whole.edges,
        **{name: whole.counted[name] for name in cache.COUNTS},
        output_bytes=targets.files[0].stat().st_size,
        compressed_bytes=0 if compressed is None else compressed.stat().st_size,
        seconds=watch.total(),
        phases=watch.phases,
        peak_rss_bytes=peak_rss_bytes(),
        method="ranks",
        partitions=whole.partitions,
        spilled_bytes=whole.spilled_bytes,
        cached=cached,
        notes=whole.notes,
    )
