"""bigbfs.graph.rows: what is accepted, what is refused, and that facts and transposes agree with SciPy."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from bigbfs.errors import FormatError, InputError
from bigbfs.graph import row_kernels as kernels
from bigbfs.graph import rows, varint
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.views import row_chunks
from bigbfs.jit.team import DOOR, team_of

IDS = [np.uint32, np.uint64]


def csr(n, src, dst):
    """Rows in input order (unsorted), duplicates kept."""
    order = np.argsort(src, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=n))])
    return indptr.astype(np.int64), np.asarray(dst, np.int64)[order]


@st.composite
def edges(draw):
    n = draw(st.integers(1, 40))
    m = draw(st.integers(0, 120))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n, m), (rng.random(m) ** 3 * n).astype(np.int64)
    if draw(st.booleans()):
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    return n, src, dst


@settings(max_examples=60, deadline=None)
@given(edges(), st.sampled_from(IDS))
def test_rows_facts_and_transpose_agree_with_a_dense_matrix(graph, ids):
    n, src, dst = graph
    dense = np.zeros((n, n), np.int64)
    np.add.at(dense, (src, dst), 1)
    plain = rows.plain_adjacency(*csr(n, src, dst), ids=ids)
    assert plain.indptr.dtype == np.uint64 and plain.indices.dtype == ids
    expected = np.repeat(np.tile(np.arange(n), n), dense.ravel())
    assert plain.indices.tolist() == expected.tolist()
    facts = rows.inspect(plain)
    assert facts.symmetric == bool((dense == dense.T).all())
    assert facts.duplicates == int(np.maximum(dense - 1, 0).sum())
    assert facts.loops == int(np.trace(dense))
    missing = rows.missing_twin(plain)
    assert (missing is None) == facts.symmetric
    if missing:
        u, v = missing
        assert dense[u, v] > dense[v, u]
    turned = rows.transpose(plain)
    assert turned.indices.dtype == ids
    assert turned.indices.tolist() == np.repeat(np.tile(np.arange(n), n), dense.T.ravel()).tolist()
    assert turned.indptr.tolist() == np.concatenate([[0], np.cumsum(dense.sum(axis=0))]).tolist()


def test_a_larger_graph_with_hubs_agrees_with_scipy():
    rng = np.random.default_rng(5)
    n, m = 70_001, 400_000
    src = np.where(rng.random(m) < 0.3, 7, rng.integers(0, n, m))  # one row beyond LONG_ROW
    dst = np.where(rng.random(m) < 0.2, n - 1, rng.integers(0, n, m))
    plain = rows.plain_adjacency(*csr(n, src, dst))
    assert plain.indptr[8] - plain.indptr[7] > rows.LONG_ROW
    turned = rows.transpose(plain)
    ours = csr_array((np.ones(m, np.int32), turned.indices.astype(np.int32), turned.indptr.astype(np.int32)), (n, n))
    theirs = csr_array((np.ones(m, np.int32), (dst, src)), (n, n))
    assert (ours - theirs).nnz == 0
    back = rows.transpose(turned)
    assert np.array_equal(back.indices, plain.indices) and np.array_equal(back.indptr, plain.indptr)


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
@pytest.mark.parametrize("offsets", [np.uint64, np.int64])
def test_right_arrays_are_used_in_place(dtype, offsets):
    indptr, indices = np.array([0, 2, 3], offsets), np.array([0, 1, 0], dtype)
    plain = rows.plain_adjacency(indptr, indices)
    assert np.shares_memory(plain.indptr, indptr) and np.shares_memory(plain.indices, indices)


def test_unsorted_input_is_copied_and_never_changed():
    for dtype in (np.uint32, np.int64, np.uint64):
        indices = np.array([2, 0, 1, 1, 0], dtype)
        plain = rows.plain_adjacency([0, 3, 4, 5], indices, ids=np.uint64)
        assert indices.tolist() == [2, 0, 1, 1, 0]
        assert plain.indices.tolist() == [0, 1, 2, 1, 0]


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("ids", IDS)
def test_graphs_without_edges(n, ids):
    plain = rows.plain_adjacency(np.zeros(n + 1, np.int64), [], ids=ids)
    assert (plain.n, plain.m, plain.ids) == (n, 0, ids)
    assert rows.inspect(plain) == rows.RowFacts(True, 0, 0)
    assert rows.transpose(plain).indptr.tolist() == [0] * (n + 1)
    assert rows.missing_twin(plain) is None
    rows.require_valid(plain)


@pytest.mark.parametrize(
    ("indptr", "indices", "says"),
    [
        ([], [], "n \\+ 1 entries"),
        ([1, 2], [0], "start with 0"),
        ([0, 2, 1], [0], "indptr\\[2\\] = 1"),
        ([0, 1], [0, 0], "last entry of indptr is 1"),
        ([0, 3], [0], "last entry of indptr is 3"),
        ([0, 1], [1], "indices\\[0\\] = 1 \\(row 0\\)"),
        ([0, 0, 2], np.array([1, -1], np.int32), "indices\\[1\\] = -1 \\(row 1\\)"),
        ([0, 0, 2], np.array([1, -1], np.int64), "indices\\[1\\] = -1 \\(row 1\\)"),
        ([0, 0, 2], np.array([1, -1], np.int8), "indices\\[1\\] = -1 \\(row 1\\)"),
        ([0, 1], np.array([2**63 + 5], np.uint64), "no vertex"),
        ([0, 1], [0.0], "integers"),
        ([0.0, 1.0], [0], "integers"),
        ([[0, 1]], [0], "one dimension"),
        (np.array([0, -1], np.int64), [], "indptr\\[1\\] = -1"),
        (np.array([0, 2**63 + 1], np.uint64), [], "more edges than"),
    ],
)
def test_what_is_no_csr_is_refused(indptr, indices, says):
    with pytest.raises(InputError, match=says):
        rows.plain_adjacency(indptr, indices)


def test_require_valid_names_the_place():
    def adjacency(indptr, indices):
        return PlainAdjacency(np.array(indptr, np.uint64), np.array(indices, np.uint32))

    rows.require_valid(adjacency([0, 2, 2], [0, 1]))
    for indptr, indices, says in [
        ([0, 2, 1, 2], [0, 1], "descends at entry 2"),
        ([0, 1], [0, 0], "does not run"),
        ([1, 2], [0, 0], "does not run"),
        ([0, 1, 2], [0, 2], "indices\\[1\\] = 2"),
        ([0, 0, 2], [1, 0], "row 1 does not ascend"),
    ]:
        with pytest.raises(FormatError, match=says):
            rows.require_valid(adjacency(indptr, indices), "g.csrbin")


def test_require_ids_sees_any_one_id_that_is_wrong(monkeypatch):
    """Rows longer and shorter than a stretch, empty ones, several runs: an id that is none, or one out of order."""
    monkeypatch.setattr(rows, "thread_count", lambda: 2)
    stretch, rng = kernels._STRETCH, np.random.default_rng(3)
    lengths = [0, 1, 2, 0, stretch - 3, 1, 2 * stretch, 0, 5, *rng.integers(0, 9, 300).tolist(), 0]
    n = 4 * stretch
    indices = np.concatenate([np.sort(rng.integers(1, n - 1, each)) for each in lengths]).astype(np.uint32)
    lengths += [0] * (n - len(lengths))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    indptr = ends.astype(np.uint64)
    rows.require_ids(PlainAdjacency(indptr, indices))
    tried = {
        0,
        1,
        2,
        len(indices) - 1,
        *(ends[:12] - 1),
        *ends[:12],
        stretch,
        2 * stretch,
        *rng.integers(0, ends[-1], 40),
    }
    for place in sorted(int(at) for at in tried if 0 <= at < len(indices)):
        row = int(np.searchsorted(ends, place, side="right")) - 1
        for value, says in ((n, rf"indices\[{place}\] = {n} "), (0, "does not ascend"), (n - 1, "does not ascend")):
            wrong = indices.copy()
            wrong[place] = value
            own = wrong[ends[row] : ends[row + 1]].astype(np.int64)
            if value < n and (np.diff(own) >= 0).all():  # the first of its row may be 0, the last the largest
                rows.require_ids(PlainAdjacency(indptr, wrong))
            else:
                with pytest.raises(FormatError, match=says):
                    rows.require_ids(PlainAdjacency(indptr, wrong))


def test_row_chunks_cover_the_rows_once():
    for degrees in ([0] * 10, [5] * 10, [0, 0, 1000, 0, 0], [1], [10**12, 1, 1]):
        indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint64)
        for parts in (1, 2, 7, 64):
            bounds = row_chunks(indptr, parts)
            assert bounds[0] == 0 and bounds[-1] == len(degrees) and (np.diff(bounds) >= 0).all()


@pytest.mark.parametrize("ids", [np.int32, np.uint16, np.float64])
def test_ids_of_another_dtype_are_refused(ids):
    with pytest.raises(InputError, match="use uint32"):
        rows.plain_adjacency([0, 1], [0], ids=ids)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there are no helpers")
def test_rows_without_edges_are_work_to_share(monkeypatch):
    """A graph may have far more vertices than edges."""
    team = np.zeros_like(team_of(4))  # nobody comes
    for module in (rows, varint):
        monkeypatch.setattr(module, "team_of", lambda members: team)
    plain = PlainAdjacency(np.zeros(20_001, np.uint64), np.zeros(0, np.uint32))
    shared = []
    for work in (
        lambda: rows.scan(plain.indptr, plain.indices, plain.n),
        lambda: rows._sort_rows(plain.indptr, plain.indices.copy()),
        lambda: rows._fingerprint(plain),
        lambda: varint.encode(plain),
        lambda: varint.decode(varint.encode(plain)),
    ):
        before = int(team[DOOR] >> np.uint64(32))
        work()
        shared.append(int(team[DOOR] >> np.uint64(32)) - before)
    assert shared == [1, 1, 1, 1, 2]
