"""Components over several GPUs stay on one where it is as quick: graphs by degree that it has room for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.ranked_gpus import labels_of_one
from bigbfs.cli import cc
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.threads import run
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph


@dataclass
class Asked:
    """What the command line says of ranks, as far as it is asked here."""

    gpus: int | None = 2
    partition: str = "auto"


def by_degree() -> Graph:
    """Return a graph whose first vertices have the most neighbours."""
    ends = (np.random.default_rng(2).random((2, 4000)) ** 3 * 500).astype(np.int64)
    order = np.argsort(-np.bincount(ends.ravel(), minlength=500), kind="stable")
    for _ in range(20):  # repeated lines are dropped: until what is left descends
        numbers = np.empty(500, np.int64)
        numbers[order] = np.arange(500)
        plain = zoo.build(500, numbers[ends])
        if (np.diff(plain.degrees().astype(np.int64)) <= 0).all():
            break
        order = order[np.argsort(-plain.degrees().astype(np.int64), kind="stable")]
    return Graph(plain.adjacency, GraphFlags(relabelled=True))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_graphs_by_degree_for_which_one_has_room(size: int) -> None:
    ranked, other = by_degree(), zoo.shared()["kronecker"]

    def work(group: Group) -> list[bool]:
        def asks(graph: Graph, kind: str = "auto", room: int = 1 << 30) -> bool:
            def there() -> int:
                assert group.rank == 0
                return room

            return labels_of_one(graph, group, kind, there)

        return [asks(ranked), asks(ranked, "words"), asks(ranked, "ranges"), asks(ranked, room=1000), asks(other)]

    for found in run(size, work, limit=60.0):
        assert found == [size > 1, False, False, False, False]


def test_it_is_said_once(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(device, "probe", lambda: Asked)
    monkeypatch.setattr(Asked, "free_bytes", 1 << 30, raising=False)
    graph = by_degree()
    asked: Any = Asked()
    where = {"residency": "auto", "vram_budget": None}
    assert run(2, lambda group: cc._stays_on_one(graph, group, asked, where), limit=60.0) == [True, True]
    said = capfd.readouterr().err
    assert said.count("bigbfs: stays on one GPU") == 1
    assert "--partition whole takes 2 " in said and "--partition words shares" in said
    assert not cc._stays_on_one(graph, None, asked, where)
    on_cpus: Any = Asked(gpus=None)
    assert run(2, lambda group: cc._stays_on_one(graph, group, on_cpus, where), limit=60.0) == [False, False]


@pytest.mark.parametrize("said", [{"residency": "mapped"}, {"residency": "streamed"}, {"vram_budget": 20_000}])
def test_where_edges_are_to_lie_outside_or_one_budget_is_too_small_all_are_taken(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]
) -> None:
    monkeypatch.setattr(device, "probe", lambda: Asked)
    monkeypatch.setattr(Asked, "free_bytes", 1 << 30, raising=False)
    given: Any = Asked()
    graph, where = by_degree(), {"residency": "auto", "vram_budget": None} | said
    assert run(2, lambda group: cc._stays_on_one(graph, group, given, where), limit=60.0) == [False, False]
