"""Rows summarized: medians, and speed-ups from the same sources alone."""

import bench_records as records
import pytest

from bigbfs.report.rows import Record
from bigbfs.report.summary import fastest, label, summarize

GRAPH = "as-caida2007"


def rows(*made):
    record = Record()
    for row in made:
        record.add(row)
    return summarize(record)


def timed(strategy, seconds, source=1, **more):
    return records.row(GRAPH, strategy, source=source, seconds=(seconds,), edges=1_000_000_000, **more)


def test_speedups_are_over_the_same_sources():
    lines = rows(
        timed("auto", 1.0, 1), timed("auto", 2.0, 2), timed("quadratic", 4.0, 1),
        timed("reference", 10.0, 2, backend="serial"), timed("auto", 5.0, 1, backend="cpu"),
    )  # fmt: skip
    auto = lines[0]
    assert auto.contender == "auto"
    assert auto.speedups == {"quadratic": 4.0, "serial": 5.0, "cpu": 5.0, "auto": 1.0}
    assert lines[1].speedups == {"quadratic": 1.0, "cpu": 1.25, "auto": 0.25}


def test_the_harmonic_mean_is_the_rate_of_doing_all():
    (line,) = rows(timed("auto", 1.0, 1), timed("auto", 3.0, 2))
    assert line.sources == 2
    assert line.harmonic_gteps == pytest.approx(2 / 4)
    assert line.gteps == pytest.approx((1 + 1 / 3) / 2)


def test_parts_split_kernels_from_the_host_loop():
    (line,) = rows(timed("queue", 1.0, kernel_seconds=(0.25,)))
    assert line.parts["kernels"] == 0.25
    assert line.parts["host loop"] == 0.75
    assert sum(line.parts.values()) == pytest.approx(line.end_to_end)
    (line,) = rows(timed("auto", 1.0, kernel_seconds=()))
    assert line.parts["traversal"] == 1.0


def test_redundancy_counts_what_is_enqueued_beyond_need():
    (line,) = rows(timed("two-phase", 1.0, reached=101, enqueued=420))
    assert line.redundancy == 4.2


def test_labels_say_in_what_a_contender_differs():
    assert label(timed("queue", 1.0)) == "queue"
    assert label(timed("queue", 1.0, residency="mapped", codec="varint")) == "queue (mapped, varint)"
    assert label(timed("auto", 1.0, backend="cpu", residency="host")) == "auto (CPU)"
    assert label(timed("auto", 1.0, order="degree", parents=False)) == "auto (by degree, no parents)"
    assert label(timed("reference", 1.0, backend="serial")) == "serial reference"


def test_the_fastest_of_each_graph():
    lines = rows(timed("auto", 2.0), timed("queue", 1.0))
    assert fastest(lines)[GRAPH].contender == "queue"
    reference = timed("reference", 0.5, backend="serial")
    assert fastest(rows(timed("auto", 2.0), reference, timed("queue", 1.0)))[GRAPH].contender == "queue"
    assert fastest(rows(reference))[GRAPH].contender == "serial reference"


def test_unknown_figures_stay_unknown():
    (line,) = rows(timed("auto", 1.0, launches=None, kernels=(), moved_bytes=None, kernel_seconds=()))
    assert (line.launches, line.registers, line.bytes_per_second, line.kernel) == (None, None, None, None)
