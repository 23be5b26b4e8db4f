"""What bigbfs plan --gpus predicts lies near what was measured, and the page says the same."""

from __future__ import annotations

from pathlib import Path

import predicted_gpus
import pytest

from bigbfs import generate
from bigbfs.algorithms.bfs.ranks.expected import degrees_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "results" / "distributed.md"


@pytest.mark.parametrize("row", predicted_gpus.ROWS, ids=lambda row: f"{row.graph}, {row.work}, {row.device}")
def test_near_what_was_measured(row: predicted_gpus.Row) -> None:
    """Within a quarter; and two GPUs pay, or do not, as they did."""
    profile = predicted_gpus.profiles()[row.device]
    one, two = (predicted_gpus.predicted(row, gpus, profile) for gpus in (1, 2))
    assert one == pytest.approx(row.one, rel=0.25)
    if row.two:
        assert two == pytest.approx(row.two, rel=0.25)
        assert (one > two) == (row.one > row.two)


@pytest.mark.parametrize(("kind", "made"), [("kronecker", predicted_gpus.rmat), ("uniform", predicted_gpus.uniform)])
def test_degrees_of_the_rule_are_those_of_graphs(kind: str, made) -> None:
    graph = degrees_of(generate.graph(kind, scale=14, edge_factor=16, seed=3).adjacency)
    rule = made(14)
    assert rule.busy == pytest.approx(graph.busy, rel=0.02)
    assert rule.middle == pytest.approx(graph.middle, rel=0.2)


def test_the_page_has_the_table() -> None:
    assert predicted_gpus.table() in PAGE.read_text(encoding="utf-8")
