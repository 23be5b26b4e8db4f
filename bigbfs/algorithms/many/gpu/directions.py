"""Which way a level of many searches runs on a device: top-down, bottom-up, or both.

Bottom-up a row is read until no wanted source is missing, so that one source with a narrow frontier makes everybody
read to the end. Such sources can be spread top-down first, for the edges of their frontiers together. What that takes,
and what the others save, is told from a sample of vertices drawn by their edges: how many of them are in the frontier
of each source, and in that of any source of a mask.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.many.gpu.arguments import MOST_MASKS, SAMPLE, WIDTHS
from bigbfs.algorithms.many.gpu.places import degrees_and_places
from bigbfs.algorithms.many.gpu.tuning import SHARES, SHARES_OUTSIDE, Tuning
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import HEAD_GROUP, WARP
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.graph.adjacency import Adjacency

TOP_DOWN, BOTTOM_UP = "top-down", "bottom-up"
NO_WAY = 2**64 - 1
"""Edges of a frontier that none has."""

WORDS = WIDTHS[-1] // 64
_GROWTH = 2.0 ** np.arange(24)
"""Ids read at which the chance of having found all is looked at."""

_WORTH = 0.25
"""What rows cost at most, as a share of looking at every vertex, where nobody asks how to read less of them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How a level runs.

    Attributes
    ----------
    how
        ``"top-down"`` or ``"bottom-up"``.
    asked
        The sources that are asked for bottom-up; the others are spread. uint64 (8,).
    spread
        How many these others are.
    sparse
        Neighbours are looked up in the frontier's bitmap first.
    """

    how: str
    asked: np.ndarray
    spread: int = 0
    sparse: bool = False


class Sample:
    """Vertices drawn by their edges, those whose rows lie beyond the link last.

    Parameters
    ----------
    adjacency
        Rows.
    placed
        The same in place.
    held
        Rows of so many ids are read from the heads.

    Attributes
    ----------
    vertices
        int64, (SAMPLE,), or none where there is no edge.
    degrees
        Of their rows.
    cold
        Number of the first beyond the link.
    """

    def __init__(self, adjacency: Adjacency, placed: PlacedAdjacency, held: int = 0) -> None:
        indptr = adjacency.indptr
        units = int(indptr[-1])
        rng = np.random.default_rng(SAMPLE)
        at = np.sort(rng.integers(0, max(units, 1), SAMPLE if units else 0)).astype(np.uint64)
        vertices = np.searchsorted(indptr, at, side="right").astype(np.int64) - 1
        degrees, hot = degrees_and_places(adjacency, placed, vertices)
        hot |= degrees <= held
        order = np.argsort(~hot, kind="stable")
        self.vertices, self.degrees = vertices[order], degrees[order].astype(np.float64)
        self.cold = int(hot.sum())

    def rows_by_growth(self, heads: int) -> np.ndarray:
        """Return what ids read of rows of the lengths ``_GROWTH`` say of a share of all: (2, 24), all and those beyond.

        Rows that the heads hold are not read. Between two lengths what is read grows evenly.
        """
        found = np.zeros((2, len(_GROWTH)))
        long = self.degrees > heads
        degrees = np.minimum(self.degrees[long], _GROWTH[-1])
        at = np.minimum(np.log2(np.maximum(degrees, 1)).astype(np.int64), len(_GROWTH) - 2)
        part = (degrees - _GROWTH[at]) / (_GROWTH[at + 1] - _GROWTH[at])
        share = 1.0 / self.degrees[long]
        far = np.flatnonzero(long) >= self.cold
        for row, which in zip(found, (np.ones(len(far), bool), far), strict=True):
            np.add.at(row, at[which], (share * (1 - part))[which])
            np.add.at(row, at[which] + 1, (share * part)[which])
        return found


class Directions:
    """Chooses the direction of a level.

    Parameters
    ----------
    placed
        The graph.
    out, incoming
        Rows that top-down expands, and those that bottom-up reads; None: there are none.
    adjacency
        What ``out`` was placed from.
    kernels
        Of the batches.
    tuning
        What things cost.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        out: PlacedAdjacency,
        incoming: PlacedAdjacency | None,
        adjacency: Adjacency,
        kernels: Launcher,
        tuning: Tuning,
    ) -> None:
        self._runtime, self._m, self._tuning = placed.runtime, placed.graph.m, tuning
        self._kernels, self._rows = kernels, incoming
        self._streamed = placed.residency == "streamed"
        usual = SHARES if placed.residency == "vram" else SHARES_OUTSIDE
        self._shares = usual if tuning.shares is None else tuning.shares
        self._far_edge, self._far_pull_edge = tuning.far_edge, tuning.far_pull_edge
        if self._streamed:
            self._far_edge, self._far_pull_edge = tuning.file_edge, tuning.file_pull_edge
        self._sample = Sample(adjacency, out, int(out.struct["head_groups"]) * HEAD_GROUP if self._streamed else 0)
        self._vertices = placed.pool.sizes.reachable
        self._heads = 0 if incoming is None else int(incoming.struct["head_groups"]) * HEAD_GROUP
        self._ids = placed.ids
        self.begin()
        self._rows_by_growth = self._sample.rows_by_growth(self._heads)

    def fill(self, array: Array) -> None:
        """Write the sample to ``array``."""
        padded = np.zeros(SAMPLE, self._ids)
        padded[: len(self._sample.vertices)] = self._sample.vertices
        self._runtime.write(array, padded)

    def warm(self, state: np.ndarray, arrays: dict[str, Array]) -> None:
        """Launch the kernels once, on no vertices."""
        sample, weights, nothing = arrays["many_sample"], arrays["many_weights"], np.uint64(0)
        self._kernels("many_weigh", 1, state, sample, nothing, weights)
        self._kernels("many_try", 1, state, sample, nothing, nothing, arrays["many_masks"], nothing, weights)

    def begin(self) -> None:
        """Forget the last batch: no vertex is full."""
        self._caught_up, self._behind, self._spent = 0, 0, 0.0

    def leave_full(self, stand: np.void) -> bool:
        """Return whether the level bottom-up that begins leaves full vertices alone: once many are full, all do."""
        new = int(stand["full"]) - self._caught_up
        if self._behind or new >= max(1.0, self._tuning.full_share * self._vertices):
            self._behind = new
        return self._behind > 0

    def catch_up(self, stand: np.void) -> bool:
        """Return whether full vertices are behind, which are not any more."""
        behind = self._behind > 0
        self._caught_up, self._behind, self._spent = int(stand["full"]), 0, 0.0
        return behind

    def threshold(self, stand: np.void) -> int:
        """Return from how many edges on a frontier is worth asking about: bottom-up looks at whom it does not know to
        be full."""
        if self._rows is None:
            return NO_WAY
        edge = self._tuning.push_edge + (self._far_edge if self._streamed else 0.0)
        return max(0, int(self._tuning.pull_vertex * (self._vertices - int(stand["full"])) / edge))

    def choose(self, stand: np.void, state: np.ndarray, arrays: dict[str, Array]) -> Choice:
        """Return how the next level runs."""
        tuning, edges, left = self._tuning, int(stand["edges"]), int(stand["left"])
        active = np.array(stand["active"])
        plain = Choice(BOTTOM_UP, active, 0, edges < tuning.sparse_share * self._m)
        base = tuning.pull_vertex * (self._vertices - int(stand["full"]))
        far_pull = self._far_pull_edge if self._sample.cold < len(self._sample.vertices) else 0.0
        most = (tuning.pull_edge + far_pull) * left
        if not int(stand["level"]) or edges < self.threshold(stand):
            return plain if self._behind and self._waits(base + most, edges) else Choice(TOP_DOWN, active)
        if min(edges, left) < tuning.split_from or most < _WORTH * base or not len(self._sample.vertices):
            far, far_pull = (self._far_edge, far_pull) if self._streamed and far_pull else (0.0, 0.0)
            pull, push = (tuning.pull_edge + far_pull) * left, (tuning.push_edge + far) * edges
            return plain if base + pull < push else Choice(TOP_DOWN, active)
        weights = self._weigh(state, arrays)
        masks = self._masks(weights[0], active)
        spreading = self._try(state, arrays, masks)
        push = tuning.push_edge * edges + self._far_edge * self._m * self._share(spreading[-1])
        asked = active & ~masks[:-1]
        costs = [
            base + pull + self._m * (tuning.push_edge * found[0] / SAMPLE + self._far_edge * self._share(found))
            for pull, found in zip(self._costs_of_pull(weights, asked, left), spreading, strict=False)
        ]
        least, at = min((cost, i) for i, cost in enumerate(costs) if not i or asked[i].any())
        if least >= push:
            return Choice(TOP_DOWN, active)
        return Choice(BOTTOM_UP, asked[at], int(_bits(masks[at]).sum()), plain.sparse)

    def _waits(self, pull: float, edges: int) -> bool:
        """Return whether a level runs bottom-up, though top-down were cheaper, because full vertices are behind.

        No longer than what that takes more in all is as much as they cost.
        """
        tuning = self._tuning
        push = (tuning.push_edge + (self._far_edge if self._streamed else 0.0)) * edges
        self._spent += max(0.0, pull + tuning.pull_level - push)
        return self._spent < tuning.catch_up_vertex * self._behind

    def _share(self, found: np.ndarray) -> float:
        """Return the share of all edges that are beyond the link and lead on from the vertices found."""
        return float(found[1]) / SAMPLE

    def _weigh(self, state: np.ndarray, arrays: dict[str, Array]) -> np.ndarray:
        """Return how many vertices of the sample are in the frontier of each source, and lack it: (2, 512)."""
        weights, count = arrays["many_weights"], len(self._sample.vertices)
        self._runtime.fill(weights, 0)
        self._kernels("many_weigh", count * WARP // 8, state, arrays["many_sample"], np.uint64(count), weights)
        return self._runtime.download(weights).astype(np.float64).reshape(2, -1)

    def _masks(self, weights: np.ndarray, active: np.ndarray) -> np.ndarray:
        """Return choices of sources that could be spread: none, those below each share, and all. uint64 (choices, 8).

        A source that the sample has not met is not asked for unless nothing else is chosen.
        """
        limits = [SAMPLE * share for share in self._shares[: MOST_MASKS - 2]]
        chosen = [np.zeros(len(weights), bool), *(weights < limit for limit in limits), np.ones(len(weights), bool)]
        return np.stack([_words(each) for each in chosen]) & active

    def _try(self, state: np.ndarray, arrays: dict[str, Array], masks: np.ndarray) -> np.ndarray:
        """Return, for each mask, the vertices of the sample that it hits, and those beyond the link: (masks, 2)."""
        sample, found, count = self._sample, arrays["many_weights"], len(self._sample.vertices)
        padded = np.zeros((MOST_MASKS, WORDS), np.uint64)
        padded[: len(masks)] = masks
        self._runtime.write(arrays["many_masks"], padded.reshape(-1))
        self._runtime.fill(found, 0)
        numbers = (np.uint64(count), np.uint64(sample.cold))
        self._kernels(
            "many_try", count * WARP // 8, state, arrays["many_sample"], *numbers, arrays["many_masks"],
            np.uint64(len(masks)), found,
        )  # fmt: skip
        return self._runtime.download(found)[: 2 * len(masks)].reshape(-1, 2).astype(np.float64)

    def _costs_of_pull(self, weights: np.ndarray, asked: np.ndarray, left: int) -> np.ndarray:
        """Return, for each choice of sources, what reading rows costs until what is lacking is found, all by chance."""
        tuning = self._tuning
        reach, lacked = np.clip(weights / SAMPLE, 0.0, 1.0 - 1e-9)
        lack = np.log1p(-lacked * np.exp(np.outer(_GROWTH, np.log1p(-reach))))
        bits = np.stack([_bits(each) for each in asked]).astype(np.float64)
        missing = 1 - np.exp(np.einsum("gs,cs->gc", lack, bits))  # (ids read, choices); too little for a team of BLAS
        steps = np.diff(_GROWTH)[:, None] * (missing[1:] + missing[:-1]) / 2
        reads = 1.0 + np.concatenate([np.zeros_like(missing[:1]), np.cumsum(steps, axis=0)])  # of a row that long
        all_of_them, far = np.einsum("rg,gc->rc", self._rows_by_growth, reads) / SAMPLE * self._m
        most = np.minimum(1.0, left / np.maximum(all_of_them, 1.0))
        if self._streamed:  # a row comes as a whole, if its vertex lacks something after the heads
            after = missing[int(np.log2(max(1, self._heads)))]
            far = np.minimum(after * (self._rows_by_growth[1] @ _GROWTH) / SAMPLE * self._m, left)
            return np.asarray(tuning.pull_edge * all_of_them * most + self._far_pull_edge * far)
        return np.asarray((tuning.pull_edge * all_of_them + self._far_pull_edge * far) * most)


def _words(bits: np.ndarray) -> np.ndarray:
    """Return booleans of sources as words, uint64 (8,)."""
    return np.packbits(bits, bitorder="little").view(np.uint64)


def _bits(words: np.ndarray) -> np.ndarray:
    """Return words of sources as booleans."""
    return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
