"""One test for each way in which a result can be wrong: the validator finds it and says what it is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zoo import build, cases, names, random, shared

from bigbfs.algorithms import rules
from bigbfs.algorithms.bfs.reference import bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.errors import VerificationError

# 0-1-2-3-4-5 and 0-6-3: 3 hangs on 2 or 6 would be a shortcut; 7-8 apart; 9 alone
EDGES = ([0, 1, 2, 3, 4, 0, 6, 7], [1, 2, 3, 4, 5, 6, 3, 8])
GRAPH = build(10, EDGES, first_id=100)
LEVELS, PARENTS = bfs(GRAPH, 0)


def broken(message, *, levels=None, parents=None, graph=GRAPH, source=0, depth=None):
    """Change single entries of the right result and expect the error."""
    right_levels, right_parents = bfs(graph, source, max_depth=depth)
    validate_tree(graph, source, right_levels, right_parents, max_depth=depth)
    for vertex, value in (levels or {}).items():
        right_levels[vertex] = value
    for vertex, value in (parents or {}).items():
        right_parents[vertex] = value
    with pytest.raises(VerificationError, match=message):
        validate_tree(graph, source, right_levels, right_parents, max_depth=depth)


def test_the_right_result_is_as_expected():
    assert LEVELS.tolist() == [0, 1, 2, 2, 3, 4, 1, -1, -1, -1]
    assert PARENTS.tolist() == [-1, 0, 1, 6, 3, 4, 0, -1, -1, -1]


def test_source_with_a_level():
    broken("source 100: level 1, parent -1", levels={0: 1})


def test_source_with_a_parent():
    broken("source 100: level 0, parent 1", parents={0: 1})


def test_second_root():
    broken("vertex 107 has level 0 .*only the source", levels={7: 0})


def test_wrong_parent_of_the_right_level_that_is_no_neighbour():
    broken(r"vertex 105 \(level 3\) has parent 102, but there is no edge", levels={5: 3}, parents={5: 2})
    broken(r"vertex 103 \(level 2\) has parent 101, but there is no edge 101 -> it", parents={3: 1})


def test_parent_that_is_a_neighbour_of_the_wrong_level():
    broken("vertex 103 has level 2 and parent 102, which has level 2 .*one level up", parents={3: 2})


def test_parent_that_is_no_vertex():
    broken("vertex 105 has level 4 and parent 10, of 10 vertices", parents={5: 10})
    broken("vertex 105 has level 4 and parent -2, of 10 vertices", parents={5: -2})


def test_parent_that_is_unreached():
    broken("parent 107, which has level -1", parents={1: 7})


def test_level_skipped():
    # 4 and 5 a level too deep: every tree edge but one still goes down by one
    broken("vertex 104 has level 4 and parent 103, which has level 2", levels={4: 4, 5: 5})


def test_longer_way_than_needed():
    # 3 through 2 at level 3: a tree of the graph, but the edge 6 -> 3 leads down two levels
    broken("edge 106 -> 103 leads from level 1 to level 3", levels={3: 3, 4: 4, 5: 5}, parents={3: 2})


def test_cycle_of_parents():
    broken(
        "vertex 107 has level 1 and parent 108, which has level 1; its chain of parents is a cycle",
        levels={7: 1, 8: 1},
        parents={7: 8, 8: 7},
    )
    broken("cycle", levels={9: 1}, parents={9: 9})


def test_reachable_but_not_reached():
    broken("edge 104 -> 105 leads from level 3 to an unreached vertex", levels={5: -1}, parents={5: -1})


def test_reached_but_not_reachable():
    broken("vertex 109 .*has parent 100, but there is no edge", levels={9: 1}, parents={9: 0})


def test_level_without_parent_and_parent_without_level():
    broken("vertex 105 has level 4 and no parent", parents={5: -1})
    broken("vertex 107 has level -1 and parent 100", parents={7: 0})


def test_levels_out_of_range():
    broken("vertex 107 has level -2", levels={7: -2})
    broken("vertex 105 has level 11", levels={5: 11})


def test_max_depth_too_far_and_not_far_enough():
    broken("vertex 104 has level 3 .*levels run from -1 to 2", depth=2, levels={4: 3}, parents={4: 3})
    broken(
        "edge 106 -> 103 leads from level 1 to an unreached vertex .*up to level 2",
        depth=2,
        levels={3: -1},
        parents={3: -1},
    )
    with pytest.raises(VerificationError, match="edge 103 -> 104"):
        validate_tree(GRAPH, 0, *bfs(GRAPH, 0, max_depth=2))


def test_wrong_shape_and_dtype():
    for levels, parents in (
        (LEVELS[:-1], PARENTS),
        (LEVELS, PARENTS[:-1]),
        (LEVELS.astype(np.int64), PARENTS),
        (LEVELS, PARENTS.astype(np.int32)),
    ):
        with pytest.raises(VerificationError, match="one per vertex"):
            validate_tree(GRAPH, 0, levels, parents)


def test_tree_edges_run_from_parent_to_child():
    # 0 -> 1 -> 2 -> 0 and 0 -> 3 <- 2: the parent of 2 is 1; 2 -> 0 is an edge but 0 -> 2 is none
    graph = build(4, ([0, 1, 2, 0, 2], [1, 2, 0, 3, 3]), directed=True)
    broken("vertex 2 .*has parent 0, but there is no edge 0 -> it", graph=graph, levels={2: 1}, parents={2: 0})
    # back edges may climb any number of levels
    validate_tree(graph, 0, *bfs(graph, 0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({0: 1}, "source 100 has level 1"),
        ({7: 0}, "vertex 107 has level 0"),
        ({5: 11}, "vertex 105 has level 11"),
        ({9: 1}, r"no edge leads to vertex 109 \(level 1\)"),
        ({5: -1}, "to an unreached vertex"),
        ({3: 3, 4: 4, 5: 5}, "to level 3"),
        ({4: 4, 5: 5}, "edge 103 -> 104 leads from level 2 to level 4"),
    ],
)
def test_levels_alone(change, message):
    validate_tree(GRAPH, 0, LEVELS, None)
    levels = LEVELS.copy()
    for vertex, value in change.items():
        levels[vertex] = value
    with pytest.raises(VerificationError, match=message):
        validate_tree(GRAPH, 0, levels, None)


@given(st.integers(0, 10**6))
def test_any_changed_level_or_foreign_parent_is_found(seed):
    rng = np.random.default_rng(seed)
    name, source = cases(big=False, count=3)[seed % len(cases(big=False, count=3))]
    graph = shared()[name]
    levels, parents = bfs(graph, source)
    vertex = int(rng.integers(graph.n))
    if seed % 2:
        levels[vertex] += rng.choice([-2, -1, 1, 2])
    else:
        neighbours = set(graph.adjacency.indices.tolist()) if graph.n < 2 else set(in_neighbours(graph, vertex))
        strangers = [v for v in range(-1, graph.n) if v not in neighbours and v != parents[vertex]]
        if not strangers:
            return
        parents[vertex] = rng.choice(strangers)
    with pytest.raises(VerificationError):
        validate_tree(graph, source, levels, parents)


def in_neighbours(graph, vertex):
    rows = np.repeat(np.arange(graph.n), graph.degrees())
    return rows[graph.adjacency.indices == vertex].tolist()


# --- labels -----------------------------------------------------------------------------------------------------


def wrong_labels(message, changes, graph=GRAPH):
    labels = components(graph)
    validate_labels(graph, labels)
    for vertex, value in changes.items():
        labels[vertex] = value
    with pytest.raises(VerificationError, match=message):
        validate_labels(graph, labels)


def test_wrong_label():
    wrong_labels("edge 103 -> 104 joins labels 100 and 104", {4: 4})
    wrong_labels("vertex 105 has label 101, and that vertex has label 100", {5: 1})


def test_label_that_is_no_vertex():
    wrong_labels("vertex 105 has label -1", {5: -1})
    wrong_labels("vertex 109 has label 10 of 10 vertices", {9: 10})


def test_label_that_is_not_the_smallest():
    wrong_labels("vertex 107 has label 108 .*smallest", {7: 8, 8: 8})


def test_merged_components():
    wrong_labels("no path joins vertex 107 to its label 100", {7: 0, 8: 0})
    wrong_labels("no path joins vertex 109 to its label 107", {9: 7})


def test_split_component():
    wrong_labels("edge 103 -> 104 joins labels 100 and 104", {4: 4, 5: 4})


def test_merged_giants_and_a_swap_of_members():
    wrong_labels("no path joins", dict.fromkeys(range(1_000, 2_000), 0), shared()["two-giants"])
    # the odd and the even exchange a vertex: as many labels as components, each of the right size
    odd_and_even = build(10, (np.arange(8), np.arange(2, 10)))
    wrong_labels("edge 6 -> 8 joins labels 0 and 1", {8: 1, 9: 0}, odd_and_even)


def test_labels_of_the_wrong_dtype():
    with pytest.raises(VerificationError, match="int32"):
        validate_labels(GRAPH, components(GRAPH).astype(np.int32))


def test_weak_components_joined_by_in_edges_alone():
    # every vertex but the last has no out-edge: only whole rows of others prove that they are connected
    graph = build(40, (np.full(39, 39), np.arange(39)), directed=True)
    validate_labels(graph, np.zeros(40, np.int64))
    wrong_labels("no path joins", {1: 0}, build(3, ([2], [0]), directed=True))


@given(st.integers(0, 10**6))
def test_any_changed_label_is_found(seed):
    rng = np.random.default_rng(seed)
    many = [name for name in names(big=False) if shared()[name].n > 1]
    graph = shared()[many[seed % len(many)]]
    labels = components(graph)
    vertex = int(rng.integers(graph.n))
    labels[vertex] = rng.choice(np.delete(np.arange(graph.n), labels[vertex]))
    with pytest.raises(VerificationError):
        validate_labels(graph, labels)


def test_violations_deep_inside_a_large_graph_are_found_in_every_piece(monkeypatch):
    monkeypatch.setattr(rules, "STRETCH", 1_000)
    graph = build(20_000, random(20_000, 60_000, seed=1))
    levels, parents = bfs(graph, 0)
    labels = components(graph)
    for vertex in (1, 5_000, 12_345, 19_999):
        wrong = levels.copy()
        wrong[vertex] += 1
        with pytest.raises(VerificationError):
            validate_tree(graph, 0, wrong, parents)
        moved = labels.copy()
        moved[vertex] = vertex if labels[vertex] != vertex else 0
        with pytest.raises(VerificationError):
            validate_labels(graph, moved)


# --- every result there is, for graphs small enough ---------------------------------------------------------------


def accepted(check, *arguments, **options):
    try:
        check(*arguments, **options)
    except VerificationError:
        return False
    return True


@pytest.mark.parametrize("depth", [None, 1])
@pytest.mark.parametrize(
    "edges",
    [[], [(0, 1), (1, 2)], [(0, 1), (0, 2), (1, 2)], [(0, 2), (2, 0)], [(1, 0), (2, 0)], [(0, 1), (1, 0), (2, 1)]],
)
def test_a_tree_is_accepted_exactly_if_it_is_right(edges, depth):
    graph = build(3, tuple(np.array(edges, int).reshape(-1, 2).T), directed=True)
    right = bfs(graph, 0, max_depth=depth)[0]
    count = 0
    anything = range(-1, 3)
    for levels in product((0, 1), anything, anything):
        for parents in product((-1, 2), anything, anything):
            result = np.array(levels, np.int32), np.array(parents, np.int64)
            expected = list(levels) == right.tolist() and all(
                parent == -1 if level <= 0 else (parent, vertex) in edges and levels[parent] == level - 1
                for vertex, (level, parent) in enumerate(zip(levels, parents, strict=True))
            )
            assert accepted(validate_tree, graph, 0, *result, max_depth=depth) == expected, (levels, parents)
            count += expected
    assert count >= 1


def test_labels_are_accepted_exactly_if_they_are_right():
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for chosen in product([False, True], repeat=6):
        edges = np.array([pair for pair, taken in zip(pairs, chosen, strict=True) if taken], int).reshape(-1, 2).T
        for graph in (build(4, tuple(edges)), build(4, tuple(edges), directed=True)):
            right = components(graph).tolist()
            for labels in product(range(1), range(2), range(3), range(4)):  # none above its vertex
                assert accepted(validate_labels, graph, np.array(labels)) == (list(labels) == right)
