"""The CPU beside a search on a device: what its thread walks, and who is believed to be quicker, without a device."""

import numpy as np
import zoo

from bigbfs.algorithms.bfs.gpu import standby
from bigbfs.algorithms.bfs.gpu.arguments import SLOT
from bigbfs.algorithms.bfs.gpu.pace import DEEP, EDGES, OWED, Pace
from bigbfs.algorithms.bfs.gpu.standby import Limits, Walked
from bigbfs.algorithms.bfs.gpu.tuning import SLOTS, Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.engines.cpu.rows import rows_of


class Rooms:
    """Memory for a walk, one after the other, of each so many columns at first, then more."""

    def __init__(self, ids, sizes):
        self._ids = ids
        self._sizes = iter([(k == 0, size, each[-1]) for each in sizes for k, size in enumerate(each)])
        self._memories, self._parts = [], []

    def __call__(self):
        new, size, most = next(self._sizes)
        if new:
            self._memories.append(np.zeros((standby.PARTS, most), self._ids))
            self._parts.append(None)
        return self._memories[-1], size

    def note(self, part):
        self._parts[-1] = part

    def found(self):
        """Return vertices, parents and levels."""
        found = [np.zeros((3, 0), self._ids)]
        for rows, part in zip(self._memories, self._parts, strict=True):
            columns = np.arange(part.begin, part.end)
            depths = part.depth + np.searchsorted(rows[2, : part.levels], columns, "right")
            found.append(np.stack([rows[0, columns], rows[1, columns], depths.astype(self._ids)]))
        return np.concatenate(found, axis=1)


def test_a_walk_goes_through_a_wide_level_and_ends_where_many_are():
    """What levels have above ``thin`` is owed, and paid back by those that have less."""
    path, hubs = np.arange(299), np.repeat([100, 200, 201, 202], 50)  # wide levels among such of two edges
    graph = zoo.build(500, (np.concatenate([path, hubs]), np.concatenate([path + 1, 300 + np.arange(200)])))
    walker = standby.Walker(rows_of(graph.adjacency))

    def walk(thin, most, last=1000, sizes=((600,),)):
        rooms = Rooms(graph.ids, sizes)
        visited = np.zeros(walker.words // 2, np.uint64)
        visited[0], walked = 1, standby.Walked(0, 1)
        for part in walker.walk(visited, np.zeros(1, graph.ids), walked, Limits(last, thin, most), rooms):
            rooms.note(part)
        assert part.over
        vertices, parents, depths = rooms.found()
        levels = reference_bfs(graph, 0)[0]
        np.testing.assert_array_equal(levels[vertices], depths)
        np.testing.assert_array_equal(levels[parents] + 1, depths)
        assert walked.found == len(vertices) == np.count_nonzero((levels > 0) & (levels <= walked.depth))
        table = walker.records(walked)
        np.testing.assert_array_equal(table["frontier"], np.bincount(levels)[: walked.levels])
        edges = np.bincount(levels[levels >= 0], graph.degrees()[levels >= 0])
        np.testing.assert_array_equal(table["edges"], edges[: walked.levels])
        assert walked.read == table["edges"].sum() and table["on_cpu"].all()
        assert walked.edges == (edges[walked.depth] if walked.count else 0)
        return walked.levels

    everything = int(reference_bfs(graph, 0)[0].max()) + 1
    assert [walk(3, most) for most in (0, 48, 49, 97, 98, 147, 148, 246, 247, 295, 296)] == [
        100, 100, 101, 101, 201, 201, 202, 202, 203, 203, everything,
    ]  # fmt: skip
    assert walk(52, 0) == 201 and walk(102, 0) == everything
    assert walk(3, 500, last=40) == 40
    # memory of which more may be used again and again, and other memory; a level too wide for the room left in it
    assert walk(3, 500, sizes=((60, 70, 140), (60, 160), (400,))) == everything
    assert walk(102, 0, sizes=((10, 100), (60,), (105, 106, 107, 500))) == everything
    assert walk(102, 0, sizes=((10, 50), (20, 40), (20,), (20,))) == 100  # no memory for the wide level
    for last in range(1, 9):
        assert walk(3, 500, last=last, sizes=((5, 6, 7), (8,))) == last


def slots_of(edges, cycles=1000):
    slots = np.zeros(len(edges), SLOT)
    slots["edges"], slots["frontier"], slots["direction"] = edges, 1, 1
    slots["clock"] = cycles * np.arange(len(edges))
    return slots, cycles * len(edges)


def test_the_pace_is_that_of_the_last_levels_and_of_the_last_walk():
    pace = Pace(Tuning(look=4, cpu_edge_ns=100))
    pace.begin()
    assert pace.slots == 4
    slots, end = slots_of([2] * 8)
    assert pace.launched(slots, end, 8e-6) and pace.thin_seconds == 8e-6  # 1,000 ns a level; the CPU: 300
    assert pace.slots == SLOTS
    wide, end = slots_of([2] * 8 + [20] * 4)
    assert not pace.launched(wide, end, 12e-6)
    thin, end = slots_of([200] * 8 + [2] * 4)
    assert pace.launched(thin, end, 12e-6)
    limits = pace.limits(7)
    assert limits == Limits(7, EDGES[0], OWED[1]) and sum(EDGES) + sum(OWED) > pace.most_edges >= EDGES[1] + OWED[1]
    assert pace.goes_on(5000, 10_000, 1e-4) and pace.limits(7).thin == 100  # 10 ns an edge; 4.9 ms saved
    pace.walked(Walked(0, 1, levels=5000, read=10_000), 1e-4)
    assert pace.slots == 4
    assert pace.goes_on(50, 100, 3e-4) and pace.limits(7).thin == 100  # 250 us behind; too short to learn from
    assert pace.goes_on(50, 100, 4e-5) and not pace.goes_on(50, 100, 2e-4)  # 240, 390
    pace.walked(Walked(0, 1, levels=50, read=100), 1e-4)
    assert pace.slots == 8
    assert not pace.goes_on(50, 2000, 4e-4)  # 200 ns
    pace.begin()
    assert pace.slots == 4 and pace.launched(*slots_of([1] * 4), 4e-6) is True
    assert not pace.launched(*slots_of([5] * 4), 4e-6)  # 6 times 180 ns in 1,000
    for _ in range(10):
        pace.begin()
    assert pace.launched(*slots_of([5] * 4), 4e-6)


def test_the_next_search_begins_on_the_cpu_where_the_last_was_deep_from_its_source_on():
    pace = Pace(Tuning(look=4, cpu_edge_ns=100))
    pace.launched(*slots_of([2] * 4), 4e-6)  # 1,000 ns a level

    def after(levels, seconds, first=4):
        pace.begin()
        pace.walked(Walked(first + levels, 1, levels=levels, read=levels), seconds)
        return pace.begins_on_cpu

    assert not pace.begins_on_cpu
    assert after(DEEP, 1e-5) and after(DEEP, 1e-5, first=0)
    assert not after(DEEP - 1, 1e-5)
    assert not after(DEEP, 1.0)  # the device would have been quicker
    assert not after(DEEP, 1e-5, first=5)  # wide levels before
