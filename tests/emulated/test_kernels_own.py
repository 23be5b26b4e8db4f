"""Own rows of one of several emulated GPUs: heads, copies and the proof are made of them, and of nothing else.

Mapped rows become readable step by step, a third at a time; what is not there yet is poison.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import zoo
from wide import CODECS, damaged, in_core, split

from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.ranks.own import OwnAdjacency
from bigbfs.engines.gpu.ranks.shares import share_of
from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.engines.ranks import partition as partitions
from bigbfs.engines.ranks.partition import Partition
from bigbfs.graph.adjacency import Adjacency
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
NAMES = (
    "empty", "isolated", "path", "two-hubs", "degree-1024", "kronecker-dense", "late-isolated", "wide-ids-hub",
    "directed-in-rows", "directed-wide-ids",
)  # fmt: skip
CASES = split(
    [(build, name, codec) for build in HERE for name in NAMES for codec in CODECS],
    lambda build, name, codec: build == "plain" or in_core(build, codec, name),
)


def rows_of(name: str, codec: str) -> list[Adjacency]:
    """Return the rows of a graph of the zoo, and its in-rows where they are others."""
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    incoming = graph.in_adjacency
    return [graph.adjacency] + ([] if incoming is None or incoming is graph.adjacency else [incoming])


def cuts(adjacency: Adjacency) -> Iterator[Partition]:
    """Yield ways to own words: dealt and in ranges, one rank and more ranks than words."""
    words = -(-adjacency.n // 64)
    for size in (2, words + 2):
        yield partitions.deal(adjacency.n, size)
    for size in (1, 3, words + 1):
        yield partitions.cut(np.asarray(adjacency.indptr), size)


def held(own: OwnAdjacency) -> Any:
    """Return the array with the edges that ``own`` has, mapped or in device memory."""
    if own._mapping is not None:
        return own._mapping.array
    return next(own.arrays[name] for name in ("indices", "blob", "edges") if name in own.arrays)


@pytest.mark.covered("build+codec")
@pytest.mark.parametrize(("build", "name", "codec"), CASES)
def test_heads_are_those_of_one_gpu_and_rows_are_sound(build: str, name: str, codec: str) -> None:
    """Whatever is chosen by degrees is chosen by those of all vertices; what ranks own is all there is, once."""
    for adjacency in rows_of(name, codec):
        degrees, indptr = adjacency.degrees(), adjacency.indptr
        with PlacedAdjacency(SimtRuntime(build=build), adjacency, mapped=False, head_groups=2) as one:
            heads = one.arrays["heads"].reshape(2, adjacency.rows_end, 4)
        for partition in cuts(adjacency):
            assert sum(share_of(adjacency, partition, rank).own for rank in range(partition.size)) == indptr[-1]
            for rank in {0, partition.size // 2}:
                share, mine = share_of(adjacency, partition, rank), partition.vertices(rank)
                mine = mine[degrees[mine] <= 128]  # of longer ones heads are nearly the best
                mine = mine[mine < adjacency.rows_end]  # and behind the last that has an edge there are none
                for options in ({"mapped": False}, {"mapped": True}, {"mapped": True, "hot_bytes": 700}):
                    runtime = SimtRuntime(build=build)
                    how = {"head_groups": 2, "prove": True} | options
                    with OwnAdjacency(runtime, adjacency, partition, rank, **how) as own:
                        assert own.sound and own.invalid_ids == 0
                        got = own.arrays["heads"].reshape(2, adjacency.rows_end, 4)
                        assert np.array_equal(got[:, mine], heads[:, mine])
                        read = held(own).nbytes + (0 if share.dealt else own.hot_bytes)
                        whole = share.stretch if options["mapped"] else share.copied
                        assert abs(read - whole.nbytes) <= LINE * (own.hot_bytes > 0)
                        assert own.hot_bytes <= options.get("hot_bytes", 0)


@pytest.mark.covered("build+codec")
@pytest.mark.parametrize("build", damaged(HERE))
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["degree-1024", "kronecker-dense", "wide-ids-hub"])
def test_damage_is_found_by_its_owner_alone(build: str, name: str, codec: str) -> None:
    """Also where neighbours in the file, in the same line, are another rank's; and in every chunk of a hub."""
    (adjacency, *_) = rows_of(name, codec)
    indptr, degrees = adjacency.indptr.astype(np.int64), adjacency.degrees()
    for kind, size, mapped in (("words", 3, False), ("words", 2, True), ("ranges", 3, False), ("ranges", 2, True)):
        partition = partitions.deal(adjacency.n, size) if kind == "words" else partitions.cut(indptr, size)
        firsts = [int(64 * word) for word in partition.bounds[1:-1]] if kind == "ranges" else [64, 128]
        longest = int(degrees.argmax())
        rows = dict.fromkeys([longest, *(v for first in firsts for v in (first - 1, first)), adjacency.n - 1])
        for v in (v for v in rows if v < adjacency.n and degrees[v]):
            at = int(indptr[v + 1]) - 1
            edges = np.array(adjacency.edges)
            edges[at] = 0x80 if codec == "varint" else adjacency.n
            broken = replace(adjacency, **{"blob" if codec == "varint" else "indices": edges})
            for rank in range(size):
                runtime = SimtRuntime(build=build)
                with OwnAdjacency(runtime, broken, partition, rank, mapped=mapped, prove=True) as own:
                    assert own.sound == (v not in partition.vertices(rank)), (kind, mapped, v, rank)


def test_what_ranges_read_is_their_rows_in_whole_lines() -> None:
    """Ranges overlap in a line at most, and what is read is cut off at the end of the edges alone."""
    for codec in CODECS:
        (adjacency, *_) = rows_of("degree-2048", codec)
        line = LINE // adjacency.edges.itemsize
        partition = partitions.cut(np.asarray(adjacency.indptr), 5)
        shares = [share_of(adjacency, partition, rank) for rank in range(5)]
        assert (shares[0].first, shares[-1].last) == (0, len(adjacency.edges))
        for share, after in pairwise(shares):
            assert share.last % line == after.first % line == 0
            assert 0 <= share.last - after.first <= line and share.ends[-1] == after.begins[0]


def test_a_rank_without_rows_reads_nothing() -> None:
    for codec in CODECS:
        (adjacency, *_) = rows_of("late-isolated", codec)
        for partition in (partitions.deal(adjacency.n, 4), partitions.deal(adjacency.n, 9)):
            rank = partition.size - 1
            assert share_of(adjacency, partition, rank).stretch.nbytes == 0
            for mapped in (False, True):
                runtime = SimtRuntime(build=HERE[0])
                with OwnAdjacency(runtime, adjacency, partition, rank, mapped=mapped, head_groups=1, prove=True) as own:
                    assert own.sound and own.with_edges == own.host_bytes == held(own).nbytes == 0
