import pytest

from bigbfs.algorithms.bfs.result import BfsSummary, RunRecord
from bigbfs.record import gteps


def run(edges, seconds):
    return RunRecord(source=0, reached=1, depth=0, edges=edges, seconds=seconds)


def test_gteps_counts_directed_edges_per_nanosecond():
    assert run(3_000_000_000, 0.5).gteps == 6.0
    assert gteps(5, 0.0) == 0.0


def test_means():
    summary = BfsSummary([run(1_000_000_000, 1.0), run(4_000_000_000, 1.0), run(2_000_000_000, 1.0)])
    assert summary.median_gteps == 2.0
    assert summary.harmonic_mean_gteps == pytest.approx(3 / (1 + 1 / 4 + 1 / 2))


def test_a_run_without_edges_makes_the_harmonic_mean_zero():
    assert BfsSummary([run(0, 1.0), run(10**9, 1.0)]).harmonic_mean_gteps == 0.0


def test_no_runs():
    assert (BfsSummary().median_gteps, BfsSummary().harmonic_mean_gteps) == (0.0, 0.0)
