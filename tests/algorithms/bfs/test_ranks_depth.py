"""How many levels a small search on the host says to expect: the same rows whatever reads them, from few starts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from weakref import WeakKeyDictionary

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.ranks import depth
from bigbfs.engines.cpu.ranked import sample_neighbours
from bigbfs.engines.cpu.rows import row_lengths, rows_of


@pytest.mark.parametrize("name", ["kronecker", "two-hubs", "directed-in-rows"])
def test_plain_rows_are_read_as_the_compiled_loop_reads_them(name: str) -> None:
    rows = rows_of(zoo.shared()[name].adjacency)
    frontier = np.random.default_rng(1).permutation(len(rows.indptr) - 1)
    lengths = row_lengths(rows, frontier)
    wanted = np.empty(int(lengths.sum()), np.int64)
    sample_neighbours(rows, frontier, lengths, wanted)
    assert np.array_equal(depth._neighbours(rows, frontier, lengths), wanted)
    assert len(depth._neighbours(rows, frontier[:0], lengths[:0])) == 0


@pytest.mark.parametrize("name", ["kronecker", "two-components"])
def test_both_encodings_have_the_same_depth(name: str) -> None:
    plain = zoo.shared()[name]
    assert depth.expected_levels(rows_of(plain.adjacency)) == depth.expected_levels(rows_of(plain.compress().adjacency))


def test_no_level_reads_more_edges_than_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks wait for it, and it sorts all that it reads: at most a few edges for each vertex that ends it."""
    assert depth.MOST_EDGES <= 4 * depth.MOST_VERTICES
    rows, read = rows_of(zoo.shared()["kronecker"].adjacency), []
    monkeypatch.setattr(depth, "MOST_EDGES", 2000)
    neighbours = depth._neighbours
    monkeypatch.setattr(
        depth, "_neighbours", lambda rows, of, lengths: read.append(int(lengths.sum())) or neighbours(rows, of, lengths)
    )
    assert depth.expected_levels(rows) < depth.DEEP
    assert read and max(read) <= 2000


def test_who_meets_a_hub_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, begun = rows_of(zoo.shared()["kronecker"].adjacency), []
    monkeypatch.setattr(depth, "MOST_EDGES", 64)
    grow = depth._grow
    monkeypatch.setattr(depth, "_grow", lambda rows, start: begun.append(start) or grow(rows, start))
    assert depth.expected_levels(rows) < depth.DEEP
    assert len(begun) == 1


def test_the_small_search_is_made_once_for_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread asks first, so that nobody waits later; another graph is another search."""
    graphs, searched = [zoo.shared()[name] for name in ("kronecker", "path")], []
    search = depth.expected_levels
    monkeypatch.setattr(depth, "_EXPECTED", WeakKeyDictionary())  # other tests have asked, too
    monkeypatch.setattr(depth, "expected_levels", lambda rows: searched.append(rows) or search(rows))
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda graph: depth.thin_levels(graph, 2), graphs * 8))
    assert len(searched) == 2 and told[::2] == [told[0]] * 8 and told[1::2] == [told[1]] * 8
