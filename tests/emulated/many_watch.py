"""What must hold between the launches of many searches, whichever way a level ran."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.gpu.arguments import ROWS, STAND
from bigbfs.engines.gpu.placement.ledger import reachable
from emulated.invariants import array_at


class FrontierWatch:
    """Between launches: who differs in the two arrays is the frontier, in its bitmap, and, top-down, in its queue."""

    def __init__(self, graph, width):
        self.graph, self.words, self.launches, self.behind = graph, width // 64, 0, 0
        self.alive = np.zeros(width // 64, np.uint64)

    def check_full(self, state, stand, seen, other, pulled):
        """A vertex is full if it has all the sources that were under way, no sooner; close those that are behind."""
        n, level, words = len(seen), int(stand["level"]), -(-len(seen) // 32)
        frontier, full = (
            np.unpackbits(array_at(at, words, np.uint32).view(np.uint8), bitorder="little")[:n].astype(bool)
            for at in (state["claimed"] + np.uint64(level % 2 * words * 4), state["full"])
        )
        behind = full & ~frontier
        closed = seen | other
        if not state["by_full"]:
            assert (seen == other)[behind].all(), "a full vertex is behind that others look at"
        seen[behind] = other[behind] = closed[behind]
        lacks = (stand["active"][: self.words] & ~seen).any(axis=1)
        assert not (lacks & full).any(), "a vertex is full that lacks a source"
        self.behind += int(bool(state["by_full"]) and behind.any())
        if pulled:
            assert int(stand["full"]) == full.sum(), "the counter of full vertices differs"
            asked = self.alive & ~seen
            rows = (self.graph.in_adjacency or self.graph.adjacency).indptr
            looked_at = (np.diff(rows.astype(np.int64)) > 0)[:n]
            assert full[looked_at & ~asked.any(axis=1)].all(), "a vertex that has all sources is not full"
        self.alive = stand["active"][: self.words].copy()

    def __call__(self, name, grid, block, args):
        n, state = reachable(self.graph), args[0]
        if name not in ("many_push", "many_close") or int(state["out"]["n"]) != self.graph.n:
            return
        if name == "many_push" and state["hubs_apart"]:  # a part of the level has run already
            return
        assert int(state["vertices"]) == n
        stand = array_at(state["many_stand"], 1, STAND)[0]
        if int(stand["ending"]) == ROWS:  # another part follows
            return
        self.launches += 1
        level, count, words = int(stand["level"]), int(stand["count"]), -(-n // 32)
        arrays = (array_at(state[name], n * self.words, np.uint64) for name in ("seen", "other"))
        seen, other = (array.reshape(n, self.words).copy() for array in arrays)
        self.check_full(state, stand, seen, other, name == "many_close")
        assert not (other & ~seen).any(), "a bit is there before it is seen"
        frontier = np.flatnonzero((other != seen).any(axis=1))
        assert len(frontier) == count, "the counter of the frontier differs"
        bitmap = array_at(state["claimed"], 2 * words, np.uint32)[level % 2 * words :][:words]
        bits = np.unpackbits(bitmap.view(np.uint8), bitorder="little")[:n]
        assert np.array_equal(np.flatnonzero(bits), frontier), "the bitmap is not the frontier"
        assert int(stand["edges"]) == self.graph.degrees()[:n][frontier].sum(), "the counter of edges differs"
        alive = np.bitwise_or.reduce(seen & ~other, axis=0, initial=np.uint64(0))
        assert np.array_equal(stand["active"][: self.words], alive), "the active sources are not the frontier's"
        if name == "many_push":
            queue = array_at(state["queues"], 2 * n, self.graph.ids)[level % 2 * n :][:count]
            assert np.array_equal(np.sort(queue), frontier), "the queue is not the frontier"


class PartsWatch:
    """Who brings nothing in the words of a lane is in its bitmap, and the same by ids of the file, but for those that
    have no number."""

    def __init__(self, vertices, width):
        self.vertices, self.words, self.launches = vertices, width // 64, 0

    def __call__(self, name, grid, block, args):
        state = args[0]
        if name != "many_parts" or not int(state["in"]["file_n"]):  # nothing: to warm up
            return
        self.launches += 1
        n, file_n, lanes = int(state["vertices"]), int(state["in"]["file_n"]), 1 << int(state["group_bits"])
        words, table = -(-n // 32), -(-file_n // 32)
        parts = array_at(state["parts"], lanes * (words + table), np.uint32)
        own, found = (
            np.unpackbits(each.reshape(lanes, -1).view(np.uint8), axis=1, bitorder="little")
            for each in (parts[: lanes * words], parts[lanes * words :])
        )
        asked = array_at(state["many_stand"], 1, STAND)[0]["asked"]
        width = self.words
        seen, other = (array_at(state[each], n * width, np.uint64).reshape(n, width) for each in ("seen", "other"))
        brings = (seen & ~other & asked[:width]).reshape(n, lanes, -1).any(axis=2)
        assert np.array_equal(own[:, :n], ~brings.T), "who brings nothing is not in the bitmap"
        expected = np.zeros((lanes, file_n), np.uint8)
        expected[:, self.vertices] = own[:, :n]
        assert np.array_equal(found[:, :file_n], expected), "by ids of the file the bitmap has others"
