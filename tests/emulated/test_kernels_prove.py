"""The proof of rows on the device, emulated, against that of the host: sound rows, and damage planted everywhere.

``make test`` takes few graphs in the slow builds.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import zoo
from wide import CODECS, damaged, in_core, in_turn, split

from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.placement.steps import Steps
from bigbfs.errors import FormatError
from bigbfs.graph import rows, varint
from bigbfs.graph.adjacency import BLOCK_IDS, PlainAdjacency
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
DAMAGED = ("clique", "degree-32", "two-hubs", "kronecker-dense", "wide-ids-hub")
EDGES = {"plain": "indices", "varint": "blob"}


def encoded(name, codec):
    graph = zoo.shared()[name]
    return (graph.compress() if codec == "varint" else graph).adjacency


SOUND = split(
    [(build, name, codec) for build in HERE for name in zoo.names(big=build == "plain") for codec in CODECS],
    lambda build, name, codec: build == "plain" or in_core(build, codec, name),
)


@pytest.mark.covered("build+codec")
@pytest.mark.parametrize(("build", "name", "codec"), SOUND)
def test_sound_rows_have_no_faults(build, name, codec):
    adjacency = encoded(name, codec)
    for mapped, hot in ((False, 0), (True, adjacency.edges.nbytes * 2 // 3 + 2_000)):
        runtime = SimtRuntime(build=build)
        placed = PlacedAdjacency(runtime, adjacency, mapped=mapped, hot_bytes=hot, prove=True)
        assert placed.sound
        placed.close()


class Proof:
    """The proof of ``adjacency``, placed once: asked again and again about damaged edges in its place.

    ``hot_bytes``: room for copies of rows, which are made anew of the damaged ones. The edges become readable step by
    step.
    """

    def __init__(self, build, adjacency, hot_bytes=0):
        self._adjacency = adjacency
        runtime = SimtRuntime(build=build)
        self._placed = PlacedAdjacency(runtime, adjacency, mapped=False)
        hot = self._placed._make_hot(adjacency, hot_bytes) if hot_bytes else None
        self._steps = Steps(runtime, self._placed, adjacency, hot, None, prove=True)
        self._name = EDGES[adjacency.codec]
        self.edges = adjacency.edges

    def device(self, edges):
        view = self._placed.arrays[self._name]
        view.view(np.uint8)[:] = 0xCB
        ends = [0, *(len(edges) * part // 5 for part in range(1, 5)), len(edges)]
        for begin, end in pairwise(ends):
            view[begin:end] = edges[begin:end]
            self._steps.use(view, begin, end)
        return self._steps.found()[1]

    def host(self, edges):
        try:
            rows.require_ids(replace(self._adjacency, **{self._name: edges}))
        except FormatError:
            return False
        return True


def attempts(size):
    """Return how often a graph of ``size`` edges or bytes is damaged: as often as a second of emulation allows."""
    return min(size, 60, 1_000_000 // size)


def plain_damage(adjacency, rng):
    """Yield indices with an id out of range, two neighbours swapped, or a row's last id copied to its beginning."""
    n, indptr = adjacency.n, adjacency.indptr.astype(int)
    for place in rng.choice(adjacency.m, attempts(adjacency.m), replace=False):
        edges = adjacency.indices.copy()
        row = int(np.searchsorted(indptr, place, side="right")) - 1
        kind = rng.integers(4)
        if kind == 0:
            edges[place] = (n, n + 1, np.iinfo(edges.dtype).max)[rng.integers(3)]
        elif kind == 1 and place > indptr[row]:
            edges[place - 1 : place + 1] = edges[place - 1 : place + 1][::-1]
        elif kind == 2:
            edges[indptr[row]] = edges[indptr[row + 1] - 1]
        else:
            edges[place] = rng.integers(n)
        yield edges


def varint_damage(adjacency, rng):
    """Yield blobs with a byte of another value, a bit flipped, a stop moved, or a stretch made of one byte."""
    size = len(adjacency.blob)
    for place in rng.choice(size, attempts(size), replace=False):
        edges = adjacency.blob.copy()
        kind = rng.integers(4)
        if kind == 0:
            edges[place] = rng.integers(256)
        elif kind == 1:
            edges[place] ^= np.uint8(1 << rng.integers(8))
        elif kind == 2:
            edges[place] ^= np.uint8(0x80)
            edges[min(place + rng.integers(1, 40), size - 1)] ^= np.uint8(0x80)
        else:
            edges[place : place + rng.integers(1, 12)] = rng.choice([0xFF, 0x80, 0x7F, 0x8F, 0x00])
        yield edges


BROKEN = split(
    [(build, name, codec) for build in HERE for name in DAMAGED for codec in CODECS],
    lambda build, name, codec: (
        name != "kronecker-dense"
        if build == "plain"
        else build == "asan" and name in ("degree-32", "two-hubs") and in_turn(codec, name)
    ),
)


@pytest.mark.covered("build+codec")
@pytest.mark.parametrize(("build", "name", "codec"), BROKEN)
def test_the_device_refuses_what_the_host_refuses(build, name, codec):
    adjacency = encoded(name, codec)
    room = adjacency.edges.nbytes
    proofs = [Proof(build, adjacency, hot_bytes) for hot_bytes in (0, room // 3 + 2_000, 2 * room + 10_000)]
    rng = np.random.default_rng(7)
    verdicts = []
    for number, edges in enumerate((plain_damage if codec == "plain" else varint_damage)(adjacency, rng)):
        proof = proofs[number % 3]
        verdicts.append(proof.host(edges))
        assert proof.device(edges) == verdicts[-1]
    assert verdicts.count(False) > 10
    assert all(proof.device(adjacency.edges) for proof in proofs)


def rows_of(degrees, n):
    """Return plain rows of these degrees, the ids from 0 on, and no others."""
    degrees = np.array([*degrees, *[0] * (n - len(degrees))])
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint64)
    return PlainAdjacency(indptr, np.concatenate([np.arange(degree, dtype=np.uint32) for degree in degrees]))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("build", damaged(HERE))
def test_rows_of_every_length_are_looked_at(build, codec):
    degrees = (*range(1, 12), 31, 32, 33, 100, 128, 129, BLOCK_IDS - 1, BLOCK_IDS, BLOCK_IDS + 1, 2 * BLOCK_IDS + 1)
    sound = rows_of(degrees, 3_000)
    proof = Proof(build, sound)
    for row in range(len(degrees)):
        edges = sound.indices.copy()
        edges[int(sound.indptr[row + 1]) - 1] = sound.n
        if codec == "varint":
            proof = Proof(build, varint.encode(PlainAdjacency(sound.indptr, edges)))
            edges = proof.edges
        assert not proof.device(edges) and not proof.host(edges), degrees[row]


@pytest.mark.parametrize("build", damaged(HERE))
def test_every_two_neighbours_are_compared(build):
    """Across lanes, slots, loads and chunks."""
    sound = rows_of([8, 300, BLOCK_IDS + 100], 3_000)
    proof = Proof(build, sound)
    places = [3, 4, *range(8 + 26, 8 + 38), *range(8 + 120, 8 + 140), *range(308 + 250, 308 + 262)]
    for place in [*places, *range(308 + BLOCK_IDS - 10, 308 + BLOCK_IDS + 10)]:
        edges = sound.indices.copy()
        edges[place : place + 2] = edges[place : place + 2][::-1]
        assert not proof.device(edges) and not proof.host(edges), place


@pytest.mark.parametrize("build", damaged(HERE))
def test_a_row_that_ends_inside_a_value(build):
    """As many ids as there should be, and then the beginning of another one."""
    for degree in (1, 2, 3, 4, 5, 20, 123, 124, 125, 126, 127):
        whole = varint.encode(rows_of([degree], 200))
        indptr = whole.indptr.copy()
        indptr[1:] += np.uint64(1)
        proof = Proof(build, replace(whole, indptr=indptr, blob=np.append(whole.blob, np.uint8(0x80))))
        assert not proof.device(proof.edges) and not proof.host(proof.edges), degree


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("build", damaged(HERE))
def test_blocks_of_a_hub_ascend_from_one_to_the_next(build, codec):
    """Each by itself is in order: two of them change places."""
    star = zoo.build(5_000, zoo.star(5_000, hub=0))
    adjacency = (star.compress() if codec == "varint" else star).adjacency
    proof = Proof(build, adjacency)
    hub = int(np.argmax(adjacency.degrees()))
    if codec == "plain":
        start = int(adjacency.indptr[hub])
        ends = [start + block * BLOCK_IDS for block in (1, 2, 3)]
    else:
        first = int(adjacency.hub_ptr[np.searchsorted(adjacency.hubs, hub)])
        ends = [int(end) for end in adjacency.block_ptr[first + 1 : first + 4]]
    edges = adjacency.edges.copy()
    one, two = edges[ends[0] : ends[1]].copy(), edges[ends[1] : ends[2]].copy()
    assert len(one) == len(two)  # offsets stay right
    edges[ends[0] : ends[1]], edges[ends[1] : ends[2]] = two, one
    assert not proof.device(edges) and not proof.host(edges)


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("build", damaged(HERE))
def test_values_longer_than_an_id(build, ids):
    """One byte too many, or one bit, in a row of one id: seen wherever the value begins in a word."""
    n, most = 40, (5 if ids is np.uint32 else 10)
    for shift in range(8):
        graph = zoo.build(n, (np.arange(shift), np.arange(shift) + 1), directed=True, ids=ids, in_rows=False).compress()
        adjacency = graph.adjacency
        for tail, sound in (((0x00,), True), ((0x80, 0x00), False), ((0x10 if most == 5 else 0x02,), False)):
            value = np.array([0x83, *[0x80] * (most - 2), *tail], np.uint8)
            indptr, degree = adjacency.indptr.copy(), adjacency.degree.copy()
            blob = np.concatenate([adjacency.blob, value])
            indptr[n:], degree[n - 1] = len(blob), 1
            longer = replace(adjacency, indptr=indptr, degree=degree, blob=blob)
            proof = Proof(build, longer)
            assert proof.device(blob) == proof.host(blob) == sound, (shift, tail)


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("build", damaged(HERE))
def test_a_sum_that_goes_round(build, ids):
    """The ids 5 and 2, by way of a difference of -3: both are vertices in sums of as many bits as an id has."""
    pair = (
        zoo.build(9, (np.zeros(2, int), np.array([5, 8])), directed=True, ids=ids, in_rows=False).compress().adjacency
    )
    back = [0xFD, *[0xFF] * (3 if ids is np.uint32 else 8), 0x0F if ids is np.uint32 else 0x01]
    for value, sound in (([0x03], True), (back, False)):
        blob = np.array([5, *value], np.uint8)
        indptr = np.array([0] + [len(blob)] * pair.n, np.uint64)
        moved = replace(pair, indptr=indptr, blob=blob)
        placed = PlacedAdjacency(SimtRuntime(build=build), moved, mapped=True, prove=True)
        assert placed.sound == sound
