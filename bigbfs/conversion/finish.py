"""What a conversion ends with: the graph files, the report of them, and nothing left beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bigbfs.conversion import cache
from bigbfs.conversion.on_disk.scratch import remove_left
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.report import ConvertReport, Stopwatch, peak_rss_bytes
from bigbfs.conversion.targets import Targets, temporary
from bigbfs.formats.atomic import remove_stale
from bigbfs.formats.container import csrbin
from bigbfs.formats.container.compress import save_compressed
from bigbfs.graph.graph import Graph
from bigbfs.report.progress import Progress

if TYPE_CHECKING:
    from bigbfs.conversion.on_disk.convert import Outcome


def write_files(
    graph: Graph,
    targets: Targets,
    provenance: cache.Provenance,
    watch: Stopwatch,
    told: Progress,
    confirm: Callable[[], object] | None = None,
) -> None:
    """Write the graph files; ``confirm`` is called before the first gets its name."""
    if targets.plain is None:
        with watch.phase("compress"), told.step(f"compress to {targets.files[0]}", cache.edges_of(graph), "edges"):
            save_compressed(graph, targets.files[0], provenance, confirm=confirm, encoded=told.advance)
        return
    total = sum(array.nbytes for array in graph.adjacency.arrays().values())
    with watch.phase("write"), told.step(f"write {targets.plain}", total, "B"):
        csrbin.save_graph(graph, targets.plain, provenance, confirm=confirm, progress=told.advance)
    if targets.compressed is not None:
        with watch.phase("compress"), told.step(f"compress to {targets.compressed}", cache.edges_of(graph), "edges"):
            cache.write_compressed(graph, targets.plain, targets.compressed, provenance, told.advance)


def report_of(
    targets: Targets,
    vertices: int,
    edges: int,
    counted: dict[str, int],
    watch: Stopwatch,
    *,
    cached: bool,
    external: Outcome | None = None,
) -> ConvertReport:
    """Return the report of graph files that are there; ``counted`` has what ``cache.COUNTS`` names."""
    output, compressed = targets.files[0], targets.compressed
    counts: dict[str, Any] = {name: counted[name] for name in cache.COUNTS}
    return ConvertReport(
        output=str(output),
        compressed=None if compressed is None else str(compressed),
        vertices=vertices,
        edges=edges,
        **counts,
        output_bytes=output.stat().st_size,
        compressed_bytes=0 if compressed is None else compressed.stat().st_size,
        seconds=watch.total(),
        phases=watch.phases,
        peak_rss_bytes=peak_rss_bytes(),
        cached=cached,
        method="in memory" if external is None else "external",
        partitions=0 if external is None else external.partitions,
        spilled_bytes=0 if external is None else external.spilled_bytes,
    )


def tidy(targets: Targets, options: ConvertOptions, sources: Any = None) -> None:
    """Remove what killed processes have left, half-written and where temporary files go, needed or not.

    What ranks left to be taken up for the same output goes too, where here is one process that makes it anew. Where it
    is there whole, and of ``sources``, only what was left of the same: a run of others can still be taken up.
    """
    made = None if sources is None else (sources, options.identity())
    remove_left(temporary(targets, options), targets.files[0].resolve(), made)
    for target in targets.files:
        remove_stale(target)
