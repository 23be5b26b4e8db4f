"""Reading rows on the device, each way that the kernels have, against the ids that were encoded.

BFS and components on small graphs never meet an id of five or ten bytes; these rows do, and end at the last byte.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import BLOCK, defines
from bigbfs.graph import varint
from bigbfs.graph.adjacency import PlainAdjacency
from emulated import loader
from emulated.runtime import SimtRuntime, builds_here

KERNELS = Path(__file__).parent / "kernels"
HERE = builds_here()
THREAD, TOGETHER, HANDED_OVER = range(3)


def rows_of(kind, ids):
    """Return ascending rows: sizes around every edge of a lane, a warp, a block; deltas of one to all bytes."""
    rng = np.random.default_rng(7)
    top = int(np.iinfo(ids).max)
    bits = np.iinfo(ids).bits
    sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 0, 63, 64, 65, 127, 128, 129, 0, 1, 300]
    if kind == "hubs":
        sizes = [1023, 0, 1024, 1025, 3, 2047, 2048, 2049, 1, 3000]
    rows = []
    for size in sizes:
        if kind == "equal":
            row = np.full(size, top)
        elif kind == "widths":  # values of all byte lengths, in random order
            widths = rng.integers(1, bits + 1, size)
            steps = [int(rng.integers(0, 2**63, dtype=np.uint64)) * 2 + 1 for _ in range(size)]
            total, row = 0, []
            for width, step in zip(widths, steps, strict=True):
                total = min(top, total + (step & ((1 << int(width)) - 1) >> (3 if width > 40 else 0)))
                row.append(total)
        else:
            row = np.sort(rng.integers(0, min(top, 10**9 if kind == "sparse" else 4 * size + 1), size))
        rows.append(np.array([int(x) for x in row], dtype=ids))
    return rows


def place(rows, codec, ids, runtime):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.uint64)
    plain = PlainAdjacency(indptr, np.concatenate(rows).astype(ids))
    placed = PlacedAdjacency(runtime, varint.encode(plain) if codec == "varint" else plain, mapped=False)
    return placed, runtime.upload(indptr)


def kernel(name, ids, codec, build):
    return loader.load(KERNELS / "rows.cu", dict(defines(np.dtype(ids), codec)), build).get_function(name)


def check_rows(rows, kind, placed, offsets, ids, codec, runtime, build):
    """Read ``rows`` in every way."""
    dump = kernel("dump_rows", ids, codec, build)
    lengths = [len(row) for row in rows]
    ways = [(THREAD, 0), (TOGETHER, 0), *((HANDED_OVER, loads) for loads in (0, 1, 2, 5))]
    for way, loads in ways if kind != "hubs" else []:
        out, counts = runtime.zeros(sum(lengths), ids), runtime.zeros(len(rows), np.uint64)
        dump(2, BLOCK, (placed.struct, np.uint32(way), np.uint32(loads), offsets, out, counts))
        assert counts.tolist() == lengths, f"way {way}, {loads} loads"
        assert [sorted(part) for part in np.split(out, offsets[1:-1].astype(int))] == [list(row) for row in rows]
    out, counts = runtime.zeros(sum(lengths), ids), runtime.zeros(len(rows), np.uint64)
    kernel("dump_chunks", ids, codec, build)(2, BLOCK, (placed.struct, offsets, out, counts))
    assert counts.tolist() == [length if length > 1024 else 0 for length in lengths]
    parts = np.split(out, offsets[1:-1].astype(int))
    assert all(sorted(part) == list(row) for part, row in zip(parts, rows, strict=True) if len(row) > 1024)


@pytest.mark.covered("kind+build", "kind+codec", "codec+ids", "build+ids", "build+codec")
@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("kind", ["dense", "sparse", "widths", "equal", "hubs"])
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("build", HERE)
def test_every_way_to_read_a_row_gives_each_id_once(build, codec, kind, ids):
    rows = rows_of(kind, ids)
    runtime = SimtRuntime(build=build)
    placed, offsets = place(rows, codec, ids, runtime)
    check_rows(rows, kind, placed, offsets, ids, codec, runtime, build)
    counts = runtime.zeros(len(rows), np.uint64)
    kernel("degrees", ids, codec, build)(1, BLOCK, (placed.struct, counts))
    assert counts.tolist() == [len(row) for row in rows]


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("kind", ["widths", "hubs"])
@pytest.mark.parametrize("build", HERE)
def test_varint_rows_may_begin_and_end_at_any_byte_of_memory(build, kind, ids):
    rows = rows_of(kind, ids)
    runtime = SimtRuntime(build=build)
    placed, offsets = place(rows, "varint", ids, runtime)
    blob = runtime.download(placed.arrays["blob"])
    for shift in (1, 2, 3, 62):
        # no byte more behind the blob: the address sanitizer sees who reads one
        moved = runtime.upload(np.concatenate([np.full(shift, 0x85, np.uint8), blob]))
        placed.struct["data"] = runtime.pointer(moved) + shift
        check_rows(rows, kind, placed, offsets, ids, "varint", runtime, build)


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("build", HERE)
def test_bytes_that_encode_nothing_are_read_without_a_fault(build, ids):
    # a row of continuation bytes alone: no id ends, no shift is wider than an id
    runtime = SimtRuntime(build=build)
    rows = [np.full(40, np.iinfo(ids).max, ids)] * 5
    placed, offsets = place(rows, "varint", ids, runtime)
    placed.arrays["blob"].fill(0xFF)
    out, counts = runtime.zeros(200, ids), runtime.zeros(5, np.uint64)
    for way in (THREAD, TOGETHER):
        kernel("dump_rows", ids, "varint", build)(
            1, BLOCK, (placed.struct, np.uint32(way), np.uint32(0), offsets, out, counts)
        )
    assert counts.tolist() == [0] * 5


@pytest.mark.parametrize("build", HERE)
def test_set_bits(build):
    rng = np.random.default_rng(3)
    patterns = [
        np.zeros(32), np.full(32, 2**32 - 1), np.full(32, 2**31), np.full(32, 1), np.eye(32)[31] * 2**31, np.eye(32)[0],
        *(rng.integers(0, 2**32, 32) & rng.integers(0, 2**32, 32) for _ in range(4)),
        *(np.where(rng.random(32) < 0.1, rng.integers(0, 2**32, 32), 0) for _ in range(6)),
    ]  # fmt: skip
    words = loader.copy(np.concatenate(patterns).astype(np.uint32), build)
    warps = len(patterns)
    out, totals = loader.copy(np.zeros(1024 * warps, np.uint32), build), loader.copy(np.zeros(warps, np.uint32), build)
    function = kernel("set_bits", np.uint32, "plain", build)
    function(warps // 2, 64, (np.uint64(warps), words, out, totals))
    for w in range(warps):
        bits = np.flatnonzero(np.unpackbits(words[32 * w : 32 * w + 32].view(np.uint8), bitorder="little"))
        assert totals[w] == len(bits)
        assert np.array_equal(out[1024 * w : 1024 * w + len(bits)], bits)


@pytest.mark.parametrize("build", HERE)
def test_a_claimed_bit_has_one_winner(build):
    vertices = np.random.default_rng(5).integers(0, 90, 3_000).astype(np.uint32)
    runtime = SimtRuntime(build=build)
    bitmap, winners = runtime.zeros(3, np.uint32), runtime.zeros(90, np.uint32)
    options = loader.LaunchOptions(seed=17 * (build == "preempt"), resident=3)
    args = (np.uint64(3_000), runtime.upload(vertices), bitmap, winners)
    kernel("claim", np.uint32, "plain", build)(3, 64, args, 0, options)
    assert np.array_equal(winners, np.bincount(vertices, minlength=90) > 0)
    assert bitmap.tolist() == [0xFFFFFFFF, 0xFFFFFFFF, (1 << 26) - 1]
