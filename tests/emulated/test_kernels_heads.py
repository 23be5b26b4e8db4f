"""The head table and verification on the device, emulated: heads against NumPy, planted faults against the rules."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import zoo
from wide import CODECS, counted, in_core, split

from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import HEAD_GROUP
from bigbfs.errors import VerificationError
from emulated.runtime import SimtMapping, SimtRuntime, builds_here

HERE = builds_here()
GRAPHS = (
    "path",
    "clique",
    "two-hubs",
    "degree-32",
    "degree-1024",
    "kronecker-dense",
    "self-loops-kept",
    "wide-ids-hub",
)


def encoded(name, codec):
    graph = zoo.shared()[name]
    return graph.compress() if codec == "varint" else graph


def table(runtime, graph, groups, ranked):
    """Return the head table as heads[vertex, rank], up to the last vertex that has an edge."""
    placed = PlacedAdjacency(runtime, graph.adjacency, mapped=False, head_groups=groups, ranked=ranked)
    assert placed.invalid_ids == 0
    heads = runtime.download(placed.arrays["heads"]).reshape(groups, -1, HEAD_GROUP)
    return heads.transpose(1, 0, 2).reshape(-1, groups * HEAD_GROUP).astype(np.int64)


def cases(names):
    """Return (build, name, codec): ``make test`` takes few graphs where the build is slow, and one codec in turn."""
    return split(
        [(build, name, codec) for build in HERE for name in names for codec in CODECS],
        lambda build, name, codec: build == "plain" or in_core(build, codec, name),
    )


@pytest.mark.covered("build+codec", "ranked+codec")
@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize(("build", "name", "codec"), cases(GRAPHS))
def test_heads_are_neighbours_the_best_first(build, name, codec, ranked):
    graph = zoo.shared()[name]
    groups = 1 + (name == "clique") + (codec == "plain")
    heads = table(SimtRuntime(build=build), encoded(name, codec), groups, ranked)
    degrees, indptr = graph.degrees(), graph.adjacency.indptr.astype(np.int64)
    assert len(heads) == np.flatnonzero(degrees)[-1] + 1
    for v in range(len(heads)):
        row = graph.adjacency.indices[indptr[v] : indptr[v + 1]].astype(np.int64)
        others = row[row != v]
        found = heads[v][heads[v] != v]
        assert len(found) == min(len(others), heads.shape[1]) or len(row) > HEAD_GROUP * groups
        assert np.isin(found, others).all()
        assert (heads[v][len(found) :] == v).all(), "the filling comes last"
        if len(row) <= 128 and not ranked:
            best = np.sort(degrees[others])[::-1][: heads.shape[1]]
            assert degrees[found].tolist() == best.tolist()
        if ranked and codec == "plain":
            assert found.tolist() == [u for u in row[: heads.shape[1]] if u != v] or len(row) != len(others)


def run_tree(engine, source, spoil):
    engine.run_bfs(source)
    levels, parents = engine.tree_arrays()
    spoil(levels, parents)
    engine.verify_tree(source)


@pytest.mark.covered
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("build", HERE)
def test_a_tree_is_proved_and_planted_faults_are_found(build, codec):
    graph = encoded("kronecker-dense", codec)
    source = int(np.argmax(graph.degrees()))
    with GpuEngine(graph, residency="vram", runtime=SimtRuntime(build=build)) as engine:
        run_tree(engine, source, lambda levels, parents: None)
        engine.run_bfs(source)
        last = int(np.argmax(engine.tree_arrays()[0]))

        def set_level(value):
            return lambda levels, parents: levels.__setitem__(last, value)

        def set_parent(vertex):
            return lambda levels, parents: parents.__setitem__(last, vertex)

        stranger = int(np.flatnonzero(engine.tree_arrays()[0] < 0)[0])
        for spoil in (
            set_level(1),
            set_level(9),
            set_level(-1),
            set_level(0),
            set_parent(source),
            set_parent(stranger),
        ):
            with pytest.raises(VerificationError, match="break a rule"):
                run_tree(engine, source, spoil)
        with pytest.raises(VerificationError):
            run_tree(engine, source, lambda levels, parents: parents.__setitem__(source, last))


@pytest.mark.covered
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("build", HERE)
def test_labels_are_proved_and_planted_faults_are_found(build, codec):
    graph = encoded("two-components", codec)
    with GpuEngine(graph, residency="vram", runtime=SimtRuntime(build=build)) as engine:
        engine.run_components()
        engine.verify_labels()
        labels = engine.label_array()
        whole = labels.copy()
        member = int(np.flatnonzero(labels != np.arange(graph.n))[0])
        for wrong in (member, graph.n - 1):
            labels[:] = whole
            labels[member] = wrong
            with pytest.raises(VerificationError):
                engine.verify_labels()
        labels[:] = 0  # one label for two components: no edge and no label breaks a rule
        with pytest.raises(VerificationError, match=r"1 labels, and \d components"):
            engine.verify_labels()


class Stumbling(SimtRuntime):
    """Makes edges readable at odd ends, gives them up half-way, and begins again elsewhere."""

    ends = (1, 70, 71, 333, 1_500, 5_000)

    def map(self, array, use):
        for stumbles in (True, False):
            view = self.empty(array.shape, array.dtype)
            ends = [end for end in self.ends if end < len(array)]
            ends = ends[: len(ends) // 2] if stumbles else [*ends, len(array)]
            for begin, end in pairwise([0, *ends]):
                view[begin:end] = array[begin:end]
                use(view, begin, end)
            if stumbles:
                view.view(np.uint8)[:] = 0xCB
        return SimtMapping(view)


@pytest.mark.covered("build+codec")
@pytest.mark.parametrize(("build", "name", "codec"), cases([*GRAPHS, "directed-out-only", "late-isolated"]))
def test_tables_do_not_depend_on_the_steps_in_which_rows_become_readable(build, name, codec):
    adjacency = encoded(name, codec).adjacency
    room = adjacency.edges.nbytes * 2 // 3 + 2_000
    made = []
    for runtime in (SimtRuntime(build=build), Stumbling(build=build)):
        placed = PlacedAdjacency(runtime, adjacency, mapped=True, head_groups=2, hot_bytes=room)
        assert placed.invalid_ids == 0
        made.append((placed, {key: runtime.download(array) for key, array in placed.arrays.items()}))
    (one, first), (_, second) = made
    whole = table(SimtRuntime(build=build), encoded(name, codec), 2, ranked=False)
    heads = second["heads"].reshape(2, -1, HEAD_GROUP).transpose(1, 0, 2)
    assert np.array_equal(heads.reshape(len(whole), -1), whole)
    assert first.keys() == second.keys()
    for key in first.keys() - {"hot"}:  # between hot rows, which begin at whole lines, nothing is written
        assert np.array_equal(first[key], second[key]), key
    if "hot" in first:
        degrees = adjacency.degrees()[one.hubs]
        for hub, at in enumerate(first["hot_ptr"].astype(int)):
            row = adjacency.edges[slice(*adjacency.indptr[one.hubs[hub] :][:2].astype(int))]
            if degrees[hub] >= one.struct["hot_from"]:
                assert np.array_equal(second["hot"][at : at + len(row)], row)
    if "near" in first:
        start = int(one.struct["near_end"]) - len(first["near"])
        assert np.array_equal(second["near"], adjacency.edges[start : int(one.struct["near_end"])])


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("build", counted(HERE))
def test_mapped_rows_that_the_heads_hold_are_not_read(build, codec):
    """A ring, each vertex joined to sixteen: more than a thread reads alone, all of them heads."""
    size = 600
    here = np.arange(size)
    plain = zoo.build(size, zoo.join(*((here, (here + step) % size) for step in range(1, 9))))
    whole = plain.compress() if codec == "varint" else plain
    how = {"residency": "mapped", "strategy": "topdown", "head_groups": 4, "hot_bytes": 0}
    with GpuEngine(whole, **how, runtime=SimtRuntime(build=build)) as engine:
        engine.rows()._mapping.array[:] = 0
        for source in (0, 299):
            assert np.array_equal(engine.bfs(source).levels, reference_bfs(plain, source)[0])
