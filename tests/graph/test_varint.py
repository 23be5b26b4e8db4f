"""The delta-varint codec: round trips at every awkward size, the code to the byte, and refusal of damaged bytes."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from leb128 import leb128
from numba import njit

from bigbfs.errors import FormatError
from bigbfs.graph import rows, varint, varint_kernels
from bigbfs.graph.adjacency import BLOCK_IDS, CompressedAdjacency, PlainAdjacency
from bigbfs.jit.workers import held_to

IDS = [np.uint32, np.uint64]


def plain_of(lists, ids, n=None):
    """Adjacency of one sorted list for each vertex, then isolated vertices up to n."""
    n = max(len(lists), n or 0)
    degrees = [len(row) for row in lists] + [0] * (n - len(lists))
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint64)
    indices = np.concatenate([np.asarray(row, ids) for row in lists]) if lists else np.zeros(0, ids)
    return PlainAdjacency(indptr, indices.astype(ids))


def code(row):
    """Bytes of one row as the docstring of CompressedAdjacency defines them."""
    out = b""
    for start in range(0, len(row), BLOCK_IDS):
        block = [int(value) for value in row[start : start + BLOCK_IDS]]
        out += leb128(block[0]) + b"".join(leb128(b - a) for a, b in pairwise(block))
    return out


def check_round_trip(plain):
    packed = varint.encode(plain)
    assert packed.ids == plain.ids and packed.indptr.dtype == np.uint64 and packed.blob.dtype == np.uint8
    assert packed.hub_ptr.dtype == packed.block_ptr.dtype == np.uint64 and packed.hubs.dtype == plain.ids
    assert packed.m == plain.m and packed.n == plain.n
    back = varint.decode(packed)
    assert back.indices.dtype == plain.ids
    assert np.array_equal(back.indptr, plain.indptr) and np.array_equal(back.indices, plain.indices)
    return packed


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**30), max_size=30), max_size=8), st.sampled_from(IDS))
def test_bytes_are_the_defined_ones(lists, ids):
    lists = [sorted(row) for row in lists]
    packed = varint.encode(plain_of(lists, ids))
    assert packed.blob.tobytes() == b"".join(code(row) for row in lists)
    assert packed.indptr.tolist() == np.concatenate([[0], np.cumsum([len(code(row)) for row in lists])]).tolist()


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("length", [0, 1, 2, 1023, 1024, 1025, 2047, 2048, 2049, 5000])
def test_rows_around_the_block_size(length, ids):
    n = 6000
    rng = np.random.default_rng(length)
    hub = np.sort(rng.choice(n, length, replace=False))
    lists = [[3], hub, [], hub, [0, 0, n - 1, n - 1], [n - 1] * length]
    packed = check_round_trip(plain_of(lists, ids, n))
    assert packed.blob.tobytes() == b"".join(code(row) for row in lists)
    blocks = -(-length // BLOCK_IDS) if length > BLOCK_IDS else 0
    assert packed.hubs.tolist() == ([1, 3, 5] if blocks else [])
    assert packed.hub_ptr.tolist() == ([0, blocks, 2 * blocks, 3 * blocks] if blocks else [0])
    assert len(packed.block_ptr) == 3 * blocks
    for position, byte in enumerate(packed.block_ptr[:blocks]):  # each block restarts with an absolute id
        value, _ = varint.read_varint(packed.blob, np.int64(byte))
        assert value == hub[position * BLOCK_IDS]


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_edges(n, ids):
    check_round_trip(plain_of([], ids, n))


def test_encode_and_decode_leave_their_own_kind_alone():
    plain = plain_of([[0]], np.uint32)
    packed = varint.encode(plain)
    assert varint.decode(plain) is plain and varint.encode(packed) is packed


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3000), st.sampled_from(IDS), st.booleans())
def test_random_graphs_round_trip(seed, n, ids, skewed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, 12_000))
    src = (rng.random(m) ** (8 if skewed else 1) * n).astype(np.int64)
    dst = (rng.random(m) ** (4 if skewed else 1) * n).astype(np.int64)  # duplicates and loops stay
    src = np.sort(src)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=n))])
    check_round_trip(rows.plain_adjacency(indptr, dst, ids=ids))


@njit
def read_all(blob, count, how):
    out = np.empty(count, np.uint64)
    position = np.int64(0)
    for i in range(count):
        if how == 0:
            out[i], position = varint_kernels.read_varint(blob, position)
        elif how == 1:
            out[i], position = varint_kernels.read_varint_wide(blob, position)
        else:
            out[i], position = varint_kernels.read_varint_before(blob, position, np.int64(len(blob)))
    return out, position


@pytest.mark.parametrize("how", [0, 1, 2])
def test_readers_agree_on_every_length(how):
    values = [v for bits in range(0, 65) for v in {max(2**bits - 1, 0), min(2**bits, 2**64 - 1)}]
    bytes_of = b"".join(leb128(value) for value in values)
    blob = np.frombuffer(bytes_of + bytes(8), np.uint8)  # the wide reader needs 8 readable bytes
    out, position = read_all(blob, len(values), how)
    assert out.tolist() == values and position == len(bytes_of)


NO_ID = varint_kernels._NO_ID


@pytest.mark.parametrize("tail", [0, 1, 7, 8, 30])
@pytest.mark.parametrize("most_bits", [6, 14, 22, 29, 42])
def test_blocks_of_every_mixture_of_lengths(tail, most_bits):
    """Pairs from one word, single varints where a pair does not fit or is over, and the bytes before the end."""
    rng = np.random.default_rng(most_bits)
    read = varint_kernels.read_ids
    for count in (1, 2, 3, 100, BLOCK_IDS):
        deltas = rng.integers(0, 2 ** rng.integers(0, most_bits + 1, count, dtype=np.uint64), dtype=np.uint64)
        packed = b"".join(leb128(int(delta)) for delta in deltas)
        blob = np.frombuffer(packed + bytes([255]) * tail, np.uint8)
        end, n = np.int64(len(packed)), np.uint64(deltas.sum() + np.uint64(1))
        out = np.zeros(count + 2, np.uint64)
        assert read(blob, np.int64(0), end, n, out, np.int64(1), np.int64(count)) == deltas.sum()
        assert np.array_equal(out[1:-1], np.cumsum(deltas, dtype=np.uint64)) and out[0] == out[-1] == 0
        assert read(blob, np.int64(0), end, n - np.uint64(1), out, np.int64(1), np.int64(count)) == NO_ID
        assert read(blob, np.int64(0), end + np.int64(1), n, out, np.int64(1), np.int64(count)) == NO_ID
        assert read(blob, np.int64(0), end, n, out, np.int64(1), np.int64(count + 1)) == NO_ID


def test_a_value_that_never_stops_at_the_very_end():
    """Nine bytes, all of them to be continued, and no byte behind them that may be read."""
    none, ids = np.zeros(0, np.uint64), np.array([1], np.uint64)
    for size in range(8, 12):
        blob = np.full(size, 0x80, np.uint8)
        rows = CompressedAdjacency(np.array([0, size], np.uint64), ids, blob, none, np.zeros(1, np.uint64), none)
        with pytest.raises(FormatError, match=r"row 0|degree"):
            varint.decode(rows)


def test_differences_that_overflow_are_no_ids():
    packed = b"".join(leb128(delta) for delta in (5, 2**64 - 3, 2**63, 2**63))  # the sum is 2 again
    blob, out = np.frombuffer(packed + bytes(9), np.uint8), np.zeros(4, np.uint64)
    for count in (2, 4):
        end = np.int64(len(b"".join(leb128(delta) for delta in (5, 2**64 - 3, 2**63, 2**63)[:count])))
        last = varint_kernels.read_ids(blob, np.int64(0), end, np.uint64(100), out, np.int64(0), np.int64(count))
        assert last == NO_ID


def damaged(**changes):
    n = 3000
    lists = [[1, 2, 300], list(range(0, 2600)), [], [5, 2999]]
    packed = varint.encode(plain_of(lists, np.uint32, n))
    varint.decode(packed)
    for name, change in changes.items():
        array = getattr(packed, name).copy()
        result = change(array)
        packed = replace(packed, **{name: array if result is None else result})
    return packed


def put(place, value):
    def change(array):
        array[place] = value

    return change


@pytest.mark.parametrize(
    "changes",
    [
        {"indptr": put(1, 3)},
        {"indptr": put(1, 10**6)},
        {"indptr": put(-1, 5)},
        {"indptr": put(0, 1)},
        {"degree": put(0, 2)},
        {"degree": put(0, 4)},
        {"degree": put(2, 1)},
        {"degree": put(0, 2**32 - 1)},
        {"degree": put(slice(None), 2**32 - 1)},
        {"degree": put(1, 1000)},
        {"hubs": put(0, 0)},
        {"hubs": lambda array: array[:0]},
        {"hub_ptr": put(1, 2)},
        {"block_ptr": put(1, 2**63)},
        {"block_ptr": put(1, 0)},
        {"block_ptr": lambda array: array + np.uint64(1)},
        {"block_ptr": lambda array: array[:-1]},
        {"blob": put(0, 0x80)},
        {"blob": put(slice(None), 0xFF)},
        {"blob": put(slice(None), 0x7F)},
        {"blob": put(-1, 0x80)},
        {"blob": put(-1, 0x7F)},
        {"blob": lambda array: array[:-1]},
    ],
)
def test_damage_is_refused_never_decoded(changes):
    with pytest.raises(FormatError, match="corrupted"):
        varint.decode(damaged(**changes))
    with pytest.raises(FormatError, match=r"g.ccsr.*corrupted"):
        rows.require_valid(damaged(**changes), "g.ccsr")


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(IDS))
def test_noise_never_gives_ids_out_of_range(seed, ids):
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(1, 50)), int(rng.integers(0, 200))
    cuts = np.sort(rng.integers(0, size + 1, n - 1))
    indptr = np.concatenate([[0], cuts, [size]]).astype(np.uint64)
    blob = (rng.integers(0, 256, size) * (rng.random(size) < 0.3)).astype(np.uint8)
    degree = rng.integers(0, 5, n).astype(ids)
    empty = np.zeros(0, np.uint64)
    packed = CompressedAdjacency(indptr, degree, blob, empty.astype(ids), np.zeros(1, np.uint64), empty)
    try:
        plain = varint.decode(packed)
    except FormatError:
        return
    assert (plain.indices < n).all() and rows.scan(plain.indptr, plain.indices, n).unsorted_row == -1


@pytest.mark.parametrize("rows_or_blocks", [97, 194])
@pytest.mark.parametrize("threads", [1, 4, 16])
def test_no_run_is_skipped_whatever_their_number(threads, rows_or_blocks):
    for adjacency in (
        plain_of([[1, 5, 70]] * rows_or_blocks, np.uint32),
        plain_of([range(rows_or_blocks * BLOCK_IDS)], np.uint32, rows_or_blocks * BLOCK_IDS),
    ):
        with held_to(threads):
            assert np.array_equal(varint.decode(varint.encode(adjacency)).indices, adjacency.indices)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"indptr": put(1, 10**6)}, "indptr descends at entry 2"),
        ({"indptr": put(0, 1)}, "does not run from 0"),
        ({"degree": put(0, 2**32 - 1)}, "degree 4294967295 in a blob"),
        ({"degree": put(slice(0, 3000), 2000)}, "sum to more ids than"),
        ({"degree": put(0, 4)}, "row 0 does not hold"),
        ({"blob": put(-1, 0x80)}, "row 3 does not hold"),
        ({"hubs": put(0, 0)}, "hubs does not follow"),
        ({"block_ptr": put(1, 2**63)}, "block_ptr does not lie"),
    ],
)
def test_the_message_names_what_is_wrong(changes, says):
    """Nothing is allocated or decoded on the word of offsets that cannot be right."""
    with pytest.raises(FormatError, match=says):
        varint.decode(damaged(**changes))


def test_degrees_whose_sum_wraps_round():
    empty = np.zeros(0, np.uint64)
    degree = np.array([2**63, 2**63, 1], np.uint64)
    packed = CompressedAdjacency(
        np.array([0, 0, 0, 1], np.uint64), degree, np.zeros(1, np.uint8), empty, np.zeros(1, np.uint64), empty
    )
    with pytest.raises(FormatError, match="degree 9223372036854775808 in a blob of 1 bytes"):
        varint.decode(packed)


def test_blocks_of_a_row_that_do_not_ascend_are_refused():
    """Each by itself is in order, and has its bytes: two of them change places."""
    star = zoo.build(5_000, zoo.star(5_000, hub=0)).compress().adjacency
    ends = star.block_ptr[1:4].astype(int)
    blob = star.blob.copy()
    assert np.array_equal(np.diff(ends), [ends[1] - ends[0]] * 2)
    blob[ends[0] : ends[2]] = np.roll(blob[ends[0] : ends[2]], ends[1] - ends[0])
    with pytest.raises(FormatError, match=rf"block 2 of row {star.hubs[0]} does not hold as many ascending ids"):
        varint.decode(replace(star, blob=blob))
