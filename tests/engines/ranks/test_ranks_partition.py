"""Every vertex has one owner, whatever the partition, and ranges are chosen where neighbours lie close together."""

from __future__ import annotations

import numpy as np
import pytest

from bigbfs.engines.ranks.partition import LINE_WORDS, Partition, choose, cut, deal, deal_lines
from bigbfs.errors import UsageError


def partitions(n: int, size: int) -> list[Partition]:
    skewed = np.concatenate([[0], np.cumsum(np.arange(n)[::-1])])
    return [deal(n, size), deal(n, size, 4), deal(n, size, 16), cut(np.arange(n + 1), size), cut(skewed, size)]


@pytest.mark.covered
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000, 4096])
@pytest.mark.parametrize("size", [1, 2, 3, 8, 100])
def test_every_vertex_has_one_owner(n: int, size: int) -> None:
    for partition in partitions(n, size):
        owned = [partition.vertices(rank) for rank in range(size)]
        assert sorted(np.concatenate(owned).tolist()) == list(range(n))
        assert [partition.local_vertices(rank) for rank in range(size)] == [len(each) for each in owned]
        assert sum(partition.counts()) == partition.words
        bitmap = np.zeros(partition.words, np.int64)
        for rank in range(size):
            assert len(bitmap[partition.own_words(rank)]) == partition.counts()[rank]
            bitmap[partition.own_words(rank)] += 1
        assert (bitmap == 1).all()


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_own_words_of_the_first_vertices_come_first(size: int) -> None:
    for partition in partitions(4096, size):
        words = np.arange(partition.words)
        for vertices in (0, 1, 64, 65, 1000, 4096):
            below = [partition.words_below(rank, vertices) for rank in range(size)]
            own = [words[partition.own_words(rank)] for rank in range(size)]
            assert below == [int((each < -(-vertices // 64)).sum()) for each in own]


def test_lines_are_dealt_whole_where_there_are_many() -> None:
    assert [deal_lines(1000 * scale, 2).together for scale in (1, 500, 600)] == [1, 1, LINE_WORDS]
    line = 64 * LINE_WORDS
    own = deal_lines(600 * line, 2).vertices(1)
    assert (own // line % 2 == 1).all() and len(own) == 300 * line


def test_ranges_share_the_work() -> None:
    offsets = np.concatenate([[0], np.cumsum(np.full(64_000, 3)), 3 * 64_000 + np.cumsum(np.full(64_000, 30))])
    work = [int(offsets[v[-1] + 1] - offsets[v[0]]) + 8 * len(v) for v in map(cut(offsets, 4).vertices, range(4))]
    assert max(work) < 1.01 * min(work)


def test_ranges_where_neighbours_lie_close_together() -> None:
    offsets, ends = np.arange(0, 20_001, 2), np.arange(10_000)
    near, far = np.minimum(ends + 1, 9_999), ends * 7_919 % 10_000
    assert choose(offsets, (ends, near), 4).kind == "ranges"
    assert choose(offsets, (ends, far), 4).kind == "words"
    assert choose(offsets, (ends, far), 4, "ranges").kind == "ranges"
    assert choose(offsets, (ends, far), 4, even_ranges=True).kind == "ranges"
    skewed = np.concatenate([offsets[:5000], offsets[5000] + 40 * np.arange(5001)])
    assert choose(skewed, (ends, far), 4, even_ranges=True).kind == "words"
    assert choose(offsets, (ends, near), 4, "words").kind == "words"
    with pytest.raises(UsageError, match="choose one of auto, words, ranges"):
        choose(offsets, (ends, near), 4, "rows")
