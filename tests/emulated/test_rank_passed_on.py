"""Edges that each of several GPUs copies in part and has from the others: all of them are there, on every rank."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import zoo
from wide import CODECS

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.ranked_gpus import ranked_on_gpus
from bigbfs.engines.gpu.ranks import passed_on
from bigbfs.engines.gpu.runtime.stretches import Partly, Source
from bigbfs.engines.ranks.threads import run
from emulated.loader import machine
from emulated.peers import SPINS
from emulated.runtime import SimtRuntime, builds_here

BUILD = builds_here()[0]


class InParts(SimtRuntime):
    """A device to which nothing comes but the span of what is copied."""

    def upload(self, array: Source) -> np.ndarray:
        """Copy to guarded memory."""
        found = super().upload(array)
        if isinstance(array, Partly):
            assert 0 < array.span[1] - array.span[0] < array.nbytes
            outside = found.view(np.uint8)
            outside[: array.span[0]], outside[array.span[1] :] = 0xA5, 0xA5
        return found


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("unit", [1, 4, 8])
def test_parts_are_whole_lines_and_all_there_is(size: int, unit: int) -> None:
    for count in (0, 1, 127, 1000, 4096):
        parts = passed_on.parts_of(count, unit, size)
        assert parts[0][0] == 0 and parts[-1][1] == count
        assert all(end == begin for (_, end), (begin, _) in pairwise(parts))
        assert all(begin * unit % 128 == 0 or begin == count for begin, _ in parts)


STEPS = ("its levels are shared", "those that others copied have come", "own edges are copied", "heads are made")


def require_steps(told: list[str]) -> None:
    """Require that a rank has said when it did each step of placing, one after the other."""
    seconds = [float(each.split(" s: ")[0]) for each in told]
    assert seconds == sorted(seconds)
    texts = [each.split(" s: ", 1)[1].split(":")[0] for each in told]
    assert [each for each in dict.fromkeys(texts) if each in STEPS] == list(STEPS)


@pytest.mark.parametrize("window", [256, 1 << 20])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["two-hubs", "directed-in-rows"])
def test_edges_of_others_come_through_the_window(
    name: str, codec: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passed_on, "LEAST", 128)
    monkeypatch.setattr(passed_on, "WINDOW", window)
    machine(BUILD)
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    source = int(plain.degrees().argmax())

    def rank(group: Any) -> Any:
        runtime = InParts(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
        told: list[str] = []
        how = {"kind": "whole", "runtime": runtime, "tell": told.append}
        with ranked_on_gpus(graph, group, (BfsOptions(),), **how) as engine:
            arrays = [each.arrays for each in engine._placed._placed]
            own = [np.array(each["blob" if codec == "varint" else "indices"]) for each in arrays]
            return told, own, engine.measure(BfsOptions(source), verify=True).internal

    rows = [graph.adjacency] if graph.in_adjacency in (None, graph.adjacency) else [graph.adjacency, graph.in_adjacency]
    for number, (told, own, result) in enumerate(run(3, rank, limit=120.0)):
        require_steps(told)
        assert all(np.array_equal(mine, each.edges) for mine, each in zip(own, rows, strict=True))
        if number == 0:
            assert np.array_equal(result.levels, reference_bfs(plain, source)[0])
