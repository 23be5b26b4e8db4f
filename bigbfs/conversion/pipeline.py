"""convert: inputs -> graph file(s), with cache, memory check, and times of each phase.

What only some conversions need is imported by them: most are of a text that fits in memory, and over in a moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bigbfs.conversion import cache
from bigbfs.conversion.bvgraphs import comes_ready, is_one_bvgraph
from bigbfs.conversion.finish import report_of, tidy, write_files
from bigbfs.conversion.folders import expand
from bigbfs.conversion.in_memory.build import build
from bigbfs.conversion.in_memory.direct import finished_graph, movable_graph
from bigbfs.conversion.inputs import as_inputs_say, lost_order, read_all
from bigbfs.conversion.memory import default_allowance, guessed, may_spill, must_spill
from bigbfs.conversion.on_disk.scratch import Scratch, require_folder, without_inputs
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders import KEPT
from bigbfs.conversion.report import ConvertReport, Stopwatch, said_once
from bigbfs.conversion.sorting.named_inputs import names_of_inputs
from bigbfs.conversion.targets import Targets, choose_targets, temporary
from bigbfs.errors import DoesNotFitError, InputError
from bigbfs.formats.atomic import require_writable
from bigbfs.formats.container import csrbin
from bigbfs.formats.ours import GRAPH, require_ours
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.named import holds_names
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.graph import Graph
from bigbfs.graph.names import Names
from bigbfs.jit.workers import Workers, held_to, thread_count
from bigbfs.report.progress import Progress

if TYPE_CHECKING:
    from bigbfs.conversion.names.listed import Listed, Wanted

Sources = list[dict[str, Any]] | None


def convert(
    inputs: Sequence[str | Path], output: str | Path | None = None, options: ConvertOptions | None = None
) -> ConvertReport:
    """Convert edge lists and graph files of other tools; several inputs are one graph.

    Parameters
    ----------
    inputs
        Paths, ``-`` for standard input, or folders of tables.
    output
        A .csrbin or a .ccsr; None: the first input's name with .csrbin. With ``options.shards`` a folder.
    options
        None: the defaults.

    Raises
    ------
    UsageError
        The output cannot be meant: no suffix of ours, an input, a file of somebody else's (and no ``force``), or none
        named for standard input. ``options.tmp`` is no folder to write to.
    InputError, FileAccessError
        An input is not what its format says, changed while it was read, or cannot be read; the output not be written.
    DoesNotFitError
        It takes more memory than it may.
    """
    watch, options = Stopwatch(), options or ConvertOptions()
    require_folder(options.tmp)
    if options.shards is not None:
        from bigbfs.conversion.into_shards import convert_to_shards

        paths = expand(inputs)
        said = as_inputs_say(paths, options)
        report = convert_to_shards(inputs, output, said, convert)
        return replace(report, notes=(*lost_order(paths, options, said), *report.notes))
    targets = choose_targets(inputs, None if output is None else Path(output), options.compressed)
    inputs = expand(inputs)
    sources = cache.identify_sources(inputs)
    asked, options = options, as_inputs_say(inputs, options)
    lost = lost_order(inputs, asked, options)
    known = None if options.force else cache.lookup(targets.files[0], sources, options.identity())
    if known is not None:
        tidy(targets, options, sources)
        report = _from_cache(targets, known, watch, Progress(options.progress))
        return replace(report, order=cache.order_of(known), notes=(*lost, *said_once(report.notes, inputs)))
    for target in targets.files:
        require_writable(target)
        require_ours(target, options.force, replaces=GRAPH)
    told = cache.told_of(targets.files[0], sources, options.identity())
    options = replace(options, memory=default_allowance() if options.memory is None else options.memory)
    tidy(targets, options)
    report = _by_kind(inputs, targets, options, sources, watch)
    notes = (*lost, *said_once(report.notes, inputs), *without_inputs(temporary(targets, options)))
    notes = notes if told is None else (told, *notes)
    return replace(report, order=cache.order_in(targets.files[0]), notes=notes)


def _by_kind(
    inputs: Sequence[str | Path], targets: Targets, options: ConvertOptions, sources: Sources, watch: Stopwatch
) -> ConvertReport:
    """Convert inputs by what they are: rows that are there, rows that come in order, edges, with names or without."""
    if is_one_bvgraph(inputs, options):
        from bigbfs.conversion.names.listed import list_of_names

        wanted = list_of_names(inputs, options)
        if wanted is not None:
            return _listed(wanted, inputs, targets, options, sources, watch)
    if holds_names(inputs, options.format, options.rules()):
        return _named(inputs, targets, options, sources, watch)
    with watch.phase("read"):
        finished = None if options.rules().given() else finished_graph(inputs, options)
    if finished is not None:
        with finished:
            return _taken_over(finished, inputs, targets, options, sources, watch, moved=False)
    movable = None if options.rules().given() else movable_graph(inputs, options)
    if movable is not None:
        from bigbfs.conversion.moving import can_be_moved

        with movable:
            if can_be_moved(movable, options):
                return _taken_over(movable, inputs, targets, options, sources, watch, moved=True)
    if comes_ready(inputs, options):
        return _ready(inputs, targets, options, sources, watch)
    return _sorted(inputs, targets, options, sources, watch)


def _sorted(
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    sources: Any,
    watch: Stopwatch,
    listed: Listed | None = None,
) -> ConvertReport:
    """Read edges and sort them, in memory or by way of the disk; ``listed`` has the names of the vertices, if any."""
    with watch.phase("read"):
        guesses = guessed(inputs, options)
        external = must_spill(inputs, guesses, options)
    if not external:
        try:
            return _in_memory(inputs, targets, options, sources, watch, listed)
        except DoesNotFitError:  # more edges than their beginning let expect
            if sources is None or not may_spill(guesses, options):
                raise
    from bigbfs.conversion.on_disk.convert import convert_external

    shared = (inputs, targets, options, sources, guesses, watch)
    done = convert_external(*shared, named=listed, notes=_notes_of(listed))
    report = report_of(targets, done.vertices, done.edges, done.counted, watch, cached=False, external=done)
    return replace(report, notes=done.notes)


def _in_memory(
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    sources: Sources,
    watch: Stopwatch,
    listed: Listed | None,
) -> ConvertReport:
    """Convert what fits in memory."""
    with watch.phase("read"):
        lists = _read(inputs, _sizes(sources), options)
        options.require_direction(lists)
        _require_unchanged(inputs, sources)
        lists[0].notes = (*_notes_of(listed), *lists[0].notes)
    return _built(lists, targets, options, sources, watch, None if listed is None else listed.names())


def _notes_of(listed: Listed | None) -> tuple[str, ...]:
    return () if listed is None else listed.notes


def _sizes(sources: Sources) -> int:
    return sum(source["size"] for source in sources or [])


def _require_unchanged(inputs: Sequence[str | Path], sources: Sources) -> None:
    if sources is not None and cache.identify_sources(inputs) != sources:
        raise InputError(f"{', '.join(map(str, inputs))}: changed while it was read; convert it again")


def _scratch(targets: Targets, options: ConvertOptions) -> Scratch:
    return Scratch(temporary(targets, options), output=targets.files[0])


def _named(
    inputs: Sequence[str | Path], targets: Targets, options: ConvertOptions, sources: Sources, watch: Stopwatch
) -> ConvertReport:
    """Convert edges between vertices that have names."""
    from bigbfs.conversion.names.reading import gather_names
    from bigbfs.conversion.on_disk.convert import convert_external

    threads = thread_count(options.threads)
    with Workers(threads) as workers, _scratch(targets, options) as scratch:
        with watch.phase("read"):
            named, counted, notes = gather_names(inputs, options, scratch, workers, _sizes(sources))
            _require_unchanged(inputs, sources)
            guesses = [named.estimate(_sizes(sources))]
            external = must_spill(inputs, guesses, options)
        if external:
            named.to_disk()
            done = convert_external(
                inputs, targets, options, sources, guesses, watch, named=named, given=named, notes=notes
            )
            counted |= {name: done.counted[name] for name in ("self_loops", "duplicates", "reversed")}
            found = report_of(targets, done.vertices, done.edges, counted, watch, cached=False, external=done)
            return replace(found, notes=done.notes)
        with watch.phase("read"):
            edges = replace(named.feed(EdgeBuffer("names")), input_bytes=counted["input_bytes"], notes=tuple(notes))
        return _built([edges], targets, options, sources, watch, named.names())


def _listed(
    wanted: Wanted,
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    sources: Sources,
    watch: Stopwatch,
) -> ConvertReport:
    """Convert a BVGraph beside which the names of its vertices lie."""
    from bigbfs.conversion.names.listed import read_list

    options = replace(options, names=None)
    with _scratch(targets, options) as scratch:
        with watch.phase("read"):
            listed = read_list(wanted, scratch, options.memory or 0, Progress(options.progress))
        if comes_ready(inputs, options):
            return _ready(inputs, targets, options, sources, watch, listed)
        return _sorted(inputs, targets, options, sources, watch, listed)


def _built(
    lists: list[EdgeList],
    targets: Targets,
    options: ConvertOptions,
    sources: Sources,
    watch: Stopwatch,
    names: Names | None = None,
) -> ConvertReport:
    """Build the graph of edges in memory, and write it."""
    counted = {
        "lines": sum(len(edges.src) for edges in lists),
        "comment_lines": sum(edges.comment_lines for edges in lists),
        "skipped_lines": sum(edges.skipped_lines for edges in lists),
        "input_bytes": sum(edges.input_bytes for edges in lists),
    }
    notes = tuple(note for edges in lists for note in edges.notes)
    told = Progress(options.progress)
    with watch.phase("build"), told.step("build"):
        names = names_of_inputs(lists) if names is None else names
        graph, found = build(lists, options, told, coming=targets.plain is not None and targets.compressed is None)
        graph.names = names
    counted |= {"self_loops": found.self_loops, "duplicates": found.duplicates, "reversed": found.reversed}
    if options.order == KEPT and not graph.flags.relabelled:
        options = replace(options, order="original")
    provenance = cache.provenance(sources, options, counted, notes)
    with held_to(options.threads):
        write_files(graph, targets, provenance, watch, told)
    return replace(report_of(targets, graph.n, graph.m, counted, watch, cached=False), notes=notes)


def _ready(
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    sources: Sources,
    watch: Stopwatch,
    listed: Listed | None = None,
) -> ConvertReport:
    """Write the rows of an input as they come."""
    from bigbfs.conversion.on_disk.ready import convert_ready

    with held_to(options.threads):
        done = convert_ready(inputs, targets, options, sources, watch, listed, _notes_of(listed))
    report = report_of(targets, done.vertices, done.edges, done.counted, watch, cached=False)
    return replace(report, method="direct", notes=done.notes)


def _taken_over(
    graph: Graph,
    inputs: Sequence[str | Path],
    targets: Targets,
    options: ConvertOptions,
    sources: Sources,
    watch: Stopwatch,
    *,
    moved: bool,
) -> ConvertReport:
    """Write the rows of an input, as they are or, ``moved``, one by one, in the numbers that they get."""

    def confirm() -> None:
        _require_unchanged(inputs, sources)

    counted = {
        "lines": graph.m,
        "comment_lines": 0,
        "skipped_lines": 0,
        "input_bytes": sources[0]["size"] if sources else 0,
        "self_loops": 0,
        "duplicates": 0,
        "reversed": 0 if options.directed else graph.m // 2,
    }
    provenance = cache.provenance(sources, options, counted)
    told = Progress(options.progress)
    with held_to(options.threads):
        if moved:
            from bigbfs.conversion.moving import write_moved

            write_moved(graph, targets, options, provenance, watch, confirm)
        else:
            with watch.phase("read"), told.step("check the checksums and the rows"):
                # the copy gets checksums of its own: damage must not become sound by them
                csrbin.require_checksums(Path(inputs[0]))
                plain = graph.decompress()
                if targets.plain is not None:
                    plain.require_valid()
            write_files(plain, targets, provenance, watch, told, confirm)
    return replace(report_of(targets, graph.n, graph.m, counted, watch, cached=False), method="direct")


def _read(inputs: Sequence[str | Path], sizes: int, options: ConvertOptions) -> list[EdgeList]:
    """Read all inputs."""
    told = Progress(options.progress)
    with told.step("read", sizes, "B"):
        how: dict[str, Any] = {"format": options.format, "rules": options.rules(), "threads": options.threads}
        return read_all(inputs, told.advance, memory=options.memory, **how)


def _from_cache(targets: Targets, known: cache.Provenance, watch: Stopwatch, told: Progress) -> ConvertReport:
    """Report what is there; make the .ccsr where only that is missing or stale."""
    cached = True
    if targets.plain is not None and targets.compressed is not None:
        with watch.phase("compress"):
            cached = targets.compressed.exists() and cache.is_compressed_from(targets.compressed, targets.plain)
            cache.ensure_compressed(targets.plain, told)
    with Graph.open(targets.files[0]) as graph:
        report = report_of(targets, graph.n, graph.m, known["counts"], watch, cached=cached)
    return replace(report, notes=tuple(known.get("notes", ())))
