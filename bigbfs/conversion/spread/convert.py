"""The conversion by several ranks: read slices and exchange pairs, number, sort own rows, put the file together.

In: edge lists, .npy and tables that all ranks see. Out: the same bytes that one process writes. Where the shares of all
fit it goes in memory (:mod:`bigbfs.conversion.spread.in_memory`). Else it is the conversion in bounded memory
(``on_disk/``), whose partitions have ranks for owners: each spills what it gets, and sorts that alone; what is finished
is kept for a run after one that was killed (:mod:`bigbfs.conversion.spread.checkpoint`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from bigbfs.conversion import cache
from bigbfs.conversion.finish import tidy
from bigbfs.conversion.folders import expand
from bigbfs.conversion.inputs import as_inputs_say
from bigbfs.conversion.memory import default_allowance
from bigbfs.conversion.on_disk.work import Job, Sources
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.report import ConvertReport, Stopwatch, peak_rss_bytes, said_once
from bigbfs.conversion.spread.assemble import Whole
from bigbfs.conversion.spread.checkpoint import Checkpoint, checkpoint_of, whose
from bigbfs.conversion.spread.fitting import fits
from bigbfs.conversion.spread.in_memory import convert_in_memory
from bigbfs.conversion.spread.slices import is_sliced
from bigbfs.conversion.spread.whole import takers
from bigbfs.conversion.targets import Targets, choose_targets, temporary
from bigbfs.engines.ranks.agreeing import Agreed, together
from bigbfs.engines.ranks.commons import seen_by_all
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import Argument, BigBfsError, DoesNotFitError, UsageError
from bigbfs.formats.atomic import require_writable
from bigbfs.formats.ours import GRAPH, require_ours
from bigbfs.formats.readers.named import holds_names
from bigbfs.formats.readers.read import estimate
from bigbfs.jit.workers import Workers, thread_count


def convert_over_ranks(
    inputs: Sequence[str | Path], output: str | Path | None, options: ConvertOptions, group: Group
) -> ConvertReport:
    """Convert ``inputs`` by all ranks of ``group``; every rank makes this call, and gets the report.

    Parameters
    ----------
    options
        ``memory`` and ``threads`` are of each rank; ``order`` is None or "original": graph files,
        whose order could be kept, are for one process.

    Raises
    ------
    UsageError
        An input or an option has no form over ranks; the ranks see different inputs. What else
        :func:`bigbfs.conversion.convert` refuses.
    InputError, FileAccessError, DoesNotFitError
        As :func:`bigbfs.conversion.convert`: on every rank what the first has met that failed. Nothing is left behind.
    """
    options = replace(options, order=options.order or "original")
    try:
        if options.shards is not None:
            paths = together(group, lambda: expand(inputs))
            said = together(group, lambda: as_inputs_say(paths, options))
            from bigbfs.conversion.spread.shards import spread_to_shards

            return spread_to_shards(inputs, output, said, group, _converted)
        with ExitStack() as stack:
            return _converted(inputs, output, options, group, None, stack)
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
    inputs: Sequence[str | Path],
    output: str | Path | None,
    options: ConvertOptions,
    group: Group,
    final: Path | None,
    stack: ExitStack,
) -> ConvertReport:
    """Convert; ``final`` is what is made of the output, ``stack`` removes temporary files at its end."""
    watch = Stopwatch()
    targets, inputs, options, known = together(group, lambda: _prepared(inputs, output, options, group))
    sources = together(group, lambda: cache.identify_sources(inputs))
    _require_the_same(group, inputs, sources)
    if known is not None:
        together(group, lambda: tidy(targets, options, sources))
        report = _report(targets, known, watch, cached=True)
        return replace(report, notes=said_once(report.notes, inputs))
    told = together(group, lambda: cache.told_of(targets.files[0], sources, options.identity()))
    whole = targets.files[0].resolve() if final is None else final
    codecs = [codec for codec, path in (("plain", targets.plain), ("varint", targets.compressed)) if path is not None]
    mine = whose(sources, options.identity(), whole, codecs, group.size)
    kept = checkpoint_of(temporary(targets, options), mine, group, stack)
    found = _convert(inputs, targets, options, sources, watch, kept, group)
    notes = (*(() if told is None else (told,)), *said_once(found.notes, inputs), *kept.notes)
    return _report(targets, replace(found, notes=notes), watch, cached=False)


def _prepared(
    inputs: Sequence[str | Path], output: str | Path | None, options: ConvertOptions, group: Group
) -> tuple[Targets, list[str | Path], ConvertOptions, Whole | None]:
    """Return what is to be written of what, and what is there already; refuse what ranks cannot do."""
    targets = choose_targets(inputs, None if output is None else Path(output), options.compressed)
    paths = expand(inputs)
    given = {"order": options.reordered, "bipartite": options.bipartite}
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
        require_ours(target, options.force, replaces=GRAPH)
    share = default_allowance() // group.host_size
    options = replace(options, progress=options.progress and group.rank == 0)
    return targets, paths, replace(options, memory=share if options.memory is None else options.memory), None


def _require_the_same(group: Group, inputs: Sequence[str | Path], sources: Sources) -> None:
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
    sources: Sources,
    watch: Stopwatch,
    kept: Checkpoint,
    group: Group,
) -> Whole:
    threads = thread_count(options.threads)
    common = seen_by_all(group)
    readers, fitting = together(group, lambda: _looked_at(inputs, options, common, kept, group))
    with Workers(threads) as workers:
        job = (inputs, targets, options, sources, watch, workers, threads)
        if all(group.lengths(int(fitting))):
            try:
                return convert_in_memory(Job(*job), readers, group)
            except Agreed as agreed:
                if not isinstance(agreed.error, DoesNotFitError):
                    raise  # else there were more edges than their beginning let expect
        from bigbfs.conversion.spread.on_disk import convert_on_disk

        return convert_on_disk(Job(*job), kept, group)


def _looked_at(
    inputs: Sequence[str | Path], options: ConvertOptions, common: bool, kept: Checkpoint, group: Group
) -> tuple[list[int | None], bool]:
    """Return which rank reads each input, and whether the shares of ranks fit in memory.

    A close look takes time: it is for what may not fit by a loose one. ``common``: as of :func:`fits`.
    """
    readers = takers(inputs, options, group.size)
    if kept.phase is not None:
        return readers, False
    for loosely in (True, False):
        guesses = [estimate(path, format=options.format, rules=options.rules(), loosely=loosely) for path in inputs]
        if fits(inputs, guesses, readers, options, group.size, common=common):
            return readers, True
    return readers, False


def _report(targets: Targets, whole: Whole, watch: Stopwatch, *, cached: bool) -> ConvertReport:
    compressed = targets.compressed
    counts: dict[str, Any] = {name: whole.counted[name] for name in cache.COUNTS}
    return ConvertReport(
        output=str(targets.files[0]),
        compressed=None if compressed is None else str(compressed),
        vertices=whole.vertices,
        edges=whole.edges,
        **counts,
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
