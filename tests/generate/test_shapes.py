"""Small worlds, preferential attachment, points in a square, web-like graphs, combs and trees."""

import math

import numpy as np
import pytest

from bigbfs import generate
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.errors import UsageError
from bigbfs.generate import geometric, rng


def edges_of(kind, **parameters):
    edges = generate.generate(kind, **parameters)
    return edges.src.astype(np.int64), edges.dst.astype(np.int64)


def test_a_ring_without_shortcuts():
    src, dst = edges_of("smallworld", vertices=50, links=3, rewire=0)
    assert sorted(zip(src.tolist(), dst.tolist(), strict=True)) == sorted(
        (v, (v + step) % 50) for v in range(50) for step in (1, 2, 3)
    )


def test_shortcuts_of_a_small_world():
    n, links = 20_000, 4
    src, dst = edges_of("smallworld", vertices=n, links=links, rewire=0.1)
    assert (np.bincount(src, minlength=n) == links).all() and (src != dst).all()
    away = (dst - src) % n > links
    assert abs(away.mean() - 0.1) < 0.005
    assert abs(((dst - src) % n)[away].mean() / n - 0.5) < 0.02


def word(key, index, counter):
    return np.uint64(rng.draw(np.uint64(rng.stream(key, np.uint64(index))), np.uint64(counter)))


def chosen(bits, limit):
    return int(rng.below(bits, np.uint64(limit)))


def ends_one_after_the_other(n, links, seed):
    """Preferential attachment with the list of all ends, as the paper has it."""
    key = rng.make_key(seed, 0)
    ends, pairs = [0], []  # vertex 0 has one end more
    for edge in range((n - 1) * links):
        newcomer = 1 + edge // links
        place = chosen(word(key, edge, 0), len(ends))
        pairs.append((newcomer, ends[place]))
        ends += pairs[-1]
    return pairs


@pytest.mark.parametrize("links", [1, 3])
def test_preferential_attachment_is_the_list_of_ends(links):
    src, dst = edges_of("preferential", vertices=300, links=links, seed=9, permute=False)
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == ends_one_after_the_other(300, links, 9)


def test_the_popular_become_more_popular():
    src, dst = edges_of("preferential", vertices=20_000, links=3, permute=False)
    degrees = np.sort(np.bincount(np.concatenate([src, dst])))[::-1]
    assert degrees[0] > 30 * degrees.mean() and degrees[-1] == 3
    tail = [(degrees >= at).mean() for at in (10, 40)]  # degrees fall by the power 3, so what is above by 2
    assert 1.7 < math.log(tail[0] / tail[1]) / math.log(4) < 2.3


@pytest.mark.parametrize(("n", "degree"), [(400, 8), (60, 14), (300, 0.5), (2, 0.4), (1, 0)])
def test_all_near_points_are_joined_and_no_others(n, degree):
    parameters = {"vertices": n, "degree": degree, "seed": 5}
    src, dst = edges_of("geometric", **parameters, permute=False)
    x, y = np.empty((2, n), np.int64)
    cells = max(1, min(geometric.SIDE // max(1, radius_of(n, degree)), math.isqrt(n)))
    cell = np.empty(n, np.int64)
    geometric._points(0, n, x, y, cell, cells, rng.make_key(5, 0))
    order = np.argsort(cell, kind="stable")
    x, y = x[order], y[order]
    near = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 <= radius_of(n, degree) ** 2
    wanted = np.argwhere(np.triu(near, 1)).tolist()
    assert sorted(map(sorted, zip(src.tolist(), dst.tolist(), strict=True))) == wanted


def radius_of(n, degree):
    return min(geometric.SIDE, int(geometric.SIDE * math.sqrt(degree / (math.pi * max(1, n - 1)))))


def test_mean_degree_of_a_geometric_graph():
    src, _ = edges_of("geometric", vertices=30_000, degree=12)
    assert 0.93 < 2 * len(src) / 30_000 / 12 < 1.0


def links_one_after_the_other(n, links, span, copy, near, seed):
    """The web with a list of all links, each page after the other."""
    key = rng.make_key(seed, 0)
    links_of = [[]]
    for page in range(1, n):
        links_of.append([])
        for number in range(links):
            words = [word(key, (page - 1) * links + number, i) for i in range(6)]
            back = 1 + chosen(words[1], min(span, page))
            if int(words[0]) >> 32 < int(copy * 2**32) and back < page:
                links_of[-1].append(links_of[page - back][number])
            elif int(words[2]) >> 32 < int(near * 2**32):
                links_of[-1].append(page - back)
            else:
                far = page - 1
                for bits in words[3:]:
                    far = chosen(bits, far + 1)
                links_of[-1].append(far)
    return [(page, link) for page in range(n) for link in links_of[page]]


def test_pages_copy_links():
    src, dst = edges_of("web", vertices=250, links=4, span=10, copy=0.6, near=0.7, seed=3)
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == links_one_after_the_other(250, 4, 10, 0.6, 0.7, 3)


def test_the_web_is_local_and_has_popular_pages():
    src, dst = edges_of("web", vertices=20_000)
    assert (dst < src).all()
    assert (src - dst <= 256).mean() > 0.7
    assert np.bincount(dst).max() > 500


@pytest.mark.parametrize(("n", "tooth"), [(1, 0), (10, 0), (11, 1), (40, 6), (5, 9)])
def test_a_comb(n, tooth):
    src, dst = edges_of("comb", vertices=n, tooth=tooth)
    wanted = [(v - (tooth + 1) if v % (tooth + 1) == 0 else v - 1, v) for v in range(1, n)]
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == wanted


def test_trees_are_as_deep_as_they_say():
    graph = generate.graph("tree", vertices=20_000, span=16)
    levels, _ = reference_bfs(graph, 0)
    assert graph.m == 2 * 19_999 and (levels >= 0).all()
    assert 0.5 < levels.max() / (2 / 16 * 20_000) < 1.5


@pytest.mark.parametrize(
    ("kind", "parameters", "words"),
    [
        ("smallworld", {"vertices": 16, "links": 8}, "no 8 neighbours"),
        ("geometric", {"vertices": 40, "degree": 10}, "needs more than 40 vertices"),
        ("geometric", {"vertices": 2**33}, "are more than 4,294,967,296"),
        ("preferential", {"scale": 40, "links": 2**20}, "are more than"),
        ("comb", {"tooth": 1}, "the size is missing: give scale"),
    ],
)
def test_what_cannot_be_is_refused(kind, parameters, words):
    with pytest.raises(UsageError, match=words):
        generate.generate(kind, **parameters)
