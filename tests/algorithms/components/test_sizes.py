"""Sizes of components, against NumPy."""

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.components.result import ComponentsRecord, ComponentsResult
from bigbfs.algorithms.components.sizes import TOP, SizeClass, first_members, size_of_each, sizes_of


def labels_of(sizes, seed=None):
    """Return the labels of components of ``sizes``, each the smallest of its vertices; shuffled by ``seed``."""
    part = np.repeat(np.arange(len(sizes)), sizes)
    if seed is not None:
        np.random.default_rng(seed).shuffle(part)
    first = np.full(len(sizes), len(part))
    np.minimum.at(first, part, np.arange(len(part)))
    return first[part].astype(np.int64)


def by_numpy(labels):
    """Return the classes and the largest components, by sorting."""
    found, counts = np.unique(labels, return_counts=True)
    classes = []
    for bit in range(63):
        inside = counts[(counts >= 1 << bit) & (counts < 2 << bit)]
        if len(inside):
            classes.append(SizeClass(1 << bit, (2 << bit) - 1, len(inside), int(inside.sum())))
    top = sorted(zip(found.tolist(), counts.tolist(), strict=True), key=lambda each: (-each[1], each[0]))
    return tuple(classes), tuple(top[:TOP])


@pytest.mark.parametrize(
    "sizes",
    [
        [],
        [1],
        [3],
        [1] * 9,
        [1, 1, 2, 3, 4, 7, 8, 1023, 1024],
        [5, 9, 9, 5, 9, 1, 9, 9, 9, 2],  # more of the largest than are told
        [1, 2, 3, 4, 5, 6, 7],
        [7, 6, 5, 4, 3, 2, 1],
        [2, 40_000, 1, 1, 65_536, 1],
    ],
)
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_sizes_are_those_of_numpy(sizes, seed):
    labels = labels_of(sizes, seed)
    found = sizes_of(labels)
    assert (found.classes, found.top) == by_numpy(labels)
    assert found.components == len(sizes)
    assert found.largest == max(sizes, default=0)
    for one, other in zip(size_of_each(labels), np.unique(labels, return_counts=True), strict=True):
        assert one.dtype == np.int64 and one.tolist() == other.tolist()


def test_every_size_falls_into_the_class_of_its_bits():
    assert sizes_of(labels_of([1, 1, 2, 3, 4, 7, 8, 1023, 1024])).classes == (
        SizeClass(1, 1, 2, 2),
        SizeClass(2, 3, 2, 5),
        SizeClass(4, 7, 2, 11),
        SizeClass(8, 15, 1, 8),
        SizeClass(512, 1023, 1, 1023),
        SizeClass(1024, 2047, 1, 1024),
    )


def test_the_first_member_is_that_of_the_smallest_id():
    labels = labels_of([4, 1, 300, 2, 60], seed=3)
    ids = np.random.default_rng(4).permutation(len(labels))
    wanted = np.array([label for label, _ in sizes_of(labels).top])
    expected = [np.flatnonzero(labels == label)[ids[labels == label].argmin()] for label in wanted]
    assert first_members(labels, ids, wanted).tolist() == expected
    assert first_members(labels, ids, np.array([-5])).tolist() == [-1]


@pytest.mark.parametrize("relabelled", [False, True])
def test_a_result_names_members_by_their_original_ids(relabelled):
    labels = labels_of([2, 5, 1, 3], seed=5)
    n = len(labels)
    ids = np.random.default_rng(6).permutation(n) * 7 if relabelled else np.arange(n) * 7 + 3
    graph = zoo.build(n, ([], []), labels=ids)
    assert graph.flags.relabelled == relabelled
    result = ComponentsResult(labels, ComponentsRecord(4, 5, 0.0))
    expected = [(int(ids[labels == label].min()), size) for label, size in by_numpy(labels)[1]]
    assert result.largest_of(graph) == expected
    assert result.in_largest().tolist() == (labels == by_numpy(labels)[1][0][0]).tolist()
    assert result.sizes is result.sizes


@pytest.mark.parametrize("first", [0, 5, 2**62])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("relabelled", [False, True])
def test_a_result_in_original_ids_counts_the_same(first, step, relabelled):
    """Its labels are no places in an array of so many words as there are vertices."""
    labels = labels_of([2, 5, 1, 3], seed=5)
    n = len(labels)
    ids = first + step * (np.random.default_rng(6).permutation(n) if relabelled else np.arange(n))
    graph = zoo.build(n, ([], []), labels=ids)
    internal = ComponentsResult(labels, ComponentsRecord(4, 5, 0.0))
    result = internal.original(graph)
    assert (result.sizes.classes, result.sizes.top) == by_numpy(result.labels)
    assert result.sizes.classes == internal.sizes.classes
    for one, other in zip(result.size_of_each(), np.unique(result.labels, return_counts=True), strict=True):
        assert one.tolist() == other.tolist()
    assert result.largest_of(graph) == internal.largest_of(graph)
    assert result.in_largest().tolist() == graph.in_original_order(internal.in_largest()).tolist()


def test_nothing_has_no_largest():
    result = ComponentsResult(np.empty(0, np.int64), ComponentsRecord(0, 0, 0.0))
    assert result.in_largest().tolist() == []
    assert result.largest_of(zoo.build(0, ([], []))) == []
