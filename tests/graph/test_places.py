"""Many original ids to vertices at once."""

from __future__ import annotations

import numpy as np
import pytest
import zoo

from bigbfs.graph.original_ids import SWEEPS


@pytest.mark.parametrize("kind", ["counted", "ascending", "in any order", "far apart"])
def test_places_of_many_ids(kind):
    """None that there is not, whichever way they are found: a few by one look at all labels, in the end by order."""
    n, generator = 5_000, np.random.default_rng(4)
    labels = {
        "counted": None,
        "ascending": np.arange(3, 3 * n + 3, 3),
        "in any order": generator.permutation(2 * n)[:n],
        "far apart": generator.permutation(np.append(generator.integers(0, 2**62, n - 2), [2**63 - 1, 0])),
    }[kind]
    graph = zoo.build(n, zoo.path(n), **({"first_id": 7} if labels is None else {"labels": labels}))
    originals = np.asarray(graph.original(np.arange(n)))
    have = set(originals.tolist())
    others = [each for each in (-(2**63), -1, 1, 6, n + 7, 2**40, 2**63 - 2) if each not in have]
    for turn in range(SWEEPS + 2):
        vertices = generator.integers(0, n, 40)
        wanted = np.concatenate([originals[vertices], others])
        assert graph.places(wanted).tolist() == [*vertices.tolist(), *[-1] * len(others)]
        relabelled = kind in ("in any order", "far apart")
        assert ("_ascending" in graph.__dict__) == ((turn >= SWEEPS and relabelled) or kind == "ascending")
    assert graph.places(originals).tolist() == list(range(n))
    assert graph.places(np.zeros(0, np.int64)).tolist() == []
