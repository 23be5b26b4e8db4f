"""The command lines of tools/bench_ranks.py: what is asked of several GPUs is shared by them."""

from __future__ import annotations

from pathlib import Path

import pytest
from rank_suite import cases, runs

SUITE = cases.read(Path(__file__).resolve().parents[2] / "configs" / "bench-ranks.toml")
ON_GPUS = [each for row in SUITE.rows for each in cases.measurements(row, 1) if row.on_gpus and each.ranks == 2]


@pytest.mark.parametrize("measurement", ON_GPUS, ids=lambda each: f"{each.row.name}, {each.work}")
def test_components_by_degree_are_shared(measurement):
    line = " ".join(runs.arguments(measurement, Path("g.csrbin")))
    assert "--gpus 2" in line
    named = measurement.work == "cc" and measurement.row.order == "degree"
    assert ("--partition words" in line) == named, "one GPU alone takes these unless a partition is named"


def test_the_suite_has_some():
    asked = {(each.work, each.row.order) for each in ON_GPUS}
    assert ("cc", "degree") in asked and ("cc", "original") in asked and ("bfs", "degree") in asked


def test_one_gpu_is_asked_for_nothing_of_ranks():
    lone = [each for row in SUITE.rows for each in cases.measurements(row, 1) if row.on_gpus and each.ranks == 1]
    assert lone and not any("--partition" in runs.arguments(each, Path("g.csrbin")) for each in lone)
