"""Components of one rank of several GPUs of a machine that each have all rows, of vertices by descending degree.

In: all rows and their heads in device memory. Out: labels id of own vertices, those of one GPU. One meeting, and one
pass over own vertices; what few of them are outside of the giant costs what it is.

*Roots.* The first forest (each vertex below its first head, if that has a smaller id) follows from the head table, of
which every rank has all: the root of any vertex, whoever owns it, is some steps up the heads, and nothing of the forest
is asked of others. So all ranks know the giant of the same sample before they plant, and each stores the roots of its
own vertices at once, and puts down those with edges whose root is not the giant's: strays.

*Pairs.* A rank goes through the rows of its strays and tells the roots of both ends of an edge where they differ. An
edge whose ends both have the giant's root joins nothing; of any other one end is a stray, whose owner has it. All ranks
meet and link the pairs of all in their own forests. These hold own vertices, and of others' the roots that can be asked
for: those of strays, of pairs, and the giant's. A root that no pair names stays one.

*Labels.* A root is the smallest vertex of its tree, and links hang the larger root: what is on top is the label. Own
strays are pointed there; all own vertices only if the giant's root itself was hung.

Where the sample names no giant, a way up has more than 24 steps, or there are more pairs than vertices, on any rank,
all ranks go the way of :mod:`bigbfs.algorithms.components.gpu.peers.loop` on own rows instead; so do graphs that are
not stored by degree, those whose edges are not seen from both ends in one row, and switches that say what to link.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigbfs.algorithms.components.gpu.peers import arguments
from bigbfs.algorithms.components.gpu.peers.loop import JointForest
from bigbfs.algorithms.components.gpu.tops import STRAYS
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.gpu.runtime.arguments import WARP
from bigbfs.engines.gpu.runtime.runtime import Start


class Launches(NamedTuple):
    """The launches of a run, whose arguments are the same each time: who the giant is, own vertices, what all told."""

    giant: Start
    own: list[Start]
    met: list[Start]


class WholeForest(JointForest):
    """The forest of one rank, which has all rows; parameters of :class:`JointForest`.

    Attributes
    ----------
    at_once
        Whether the last run took one pass over own vertices.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.launch.load(arguments.WHOLE_KERNELS)
        self.at_once = False
        self._ready: Launches | None = None

    def warm(self) -> None:
        """Run every kernel on nothing. Nobody waits for others."""
        super().warm()
        nothing, rows = self.state.copy(), self.placed.out.struct.copy()
        nothing["n"] = rows["n"] = rows["chunks"] = nothing["part"]["words"] = nothing["part"]["size"] = 0
        self._at_once(self._launches(rows, nothing), nothing)
        self._runtime.synchronize()

    def _forest_of(self, options: ComponentsOptions) -> None:
        """Find the labels, in one pass if that can be."""
        asked = options.rounds is None and options.skips_giant
        self.at_once = bool(self.n and asked and self._by_id and self._heads and self.placed.incoming is self.rows[0])
        if self.at_once:
            if self._ready is None:
                self._ready = self._launches(self.placed.out.struct, self.state)
            self.known = False
            self._at_once(self._ready, self.state)
            self.at_once = not self._runtime.download(self._strays).view(STRAYS)[0]["lost"]
        if not self.at_once:
            super()._forest_of(options)

    def _launches(self, rows: np.ndarray, r: np.ndarray) -> Launches:
        """Lay out all launches; strays are listed where labels would be, which are the forest."""
        n, own, strays, listed = int(r["n"]), 64 * int(r["part"]["words"]), self._strays, self.labels
        giant, settled, forest, told = self._giant, self._settled, self.forest, (self._told, self._count, self._counts)
        ready, chunks = self.launch.ready, int(rows["chunks"])
        first = ready("whole_giant", 1, rows, self._count, giant, settled)
        own_pass = [
            ready("whole_plant", own // 4, rows, r, giant, settled, forest, listed, strays, self._count),  # 4 of a lane
            ready("whole_tell", own, rows, forest, giant, listed, strays, *told),
        ]
        if self.placed.out.chunks:
            own_pass.append(ready("whole_hubs", chunks * WARP, rows, forest, giant, strays, *told))
        met = [
            ready("whole_touch", n, r, giant, settled, forest, strays, self._moved),
            ready("whole_link", n, r, forest, strays),
            ready("whole_finish", own, r, giant, forest, listed, strays),
        ]
        return Launches(first, own_pass, met)

    def _at_once(self, ready: Launches, r: np.ndarray) -> None:
        """Launch all of it. The host empties what only later kernels count in when the first one is on its way."""
        self._runtime.fill(self._count, 0)
        ready.giant()
        for array in (self._strays, self._counts, self._moved):
            self._runtime.fill(array, 0)
        self._meetings.begin()
        for start in ready.own:
            start()
        self._meetings.meet(r)
        for start in ready.met:
            start()
