"""A graph in place on a device: what a program gets to work on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.config import DeviceProfile
from bigbfs.engines.gpu.placement.arrays import Pool
from bigbfs.engines.gpu.placement.damage import require_no_invalid_ids
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.placement.renumbered import Renumbered
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class PlacedGraph:
    """A graph in place.

    Attributes
    ----------
    runtime
        The device.
    graph
        What was placed: vertices with numbers of their own are under these.
    out
        Its rows.
    incoming
        In-neighbours: ``out`` itself for a symmetric graph, None where a directed graph does not store them.
    residency
        ``"vram"``, ``"mapped"`` or ``"streamed"``.
    pool
        Memory for the state of programs.
    profile
        Rates of the device; None: those of an H200.
    numbers
        Numbers that vertices have of their own; None: they are those of the file.
    """

    runtime: Runtime
    graph: Graph
    out: PlacedAdjacency
    incoming: PlacedAdjacency | None
    residency: str
    pool: Pool
    profile: DeviceProfile | None = None
    numbers: Renumbered | None = None

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.graph.n

    @property
    def ids(self) -> np.dtype:
        """Dtype of an id."""
        return self.graph.ids

    @property
    def codec(self) -> str:
        """Encoding of the rows, as kernels are compiled for it."""
        return self.out.codec

    def require_vertices(self, invalid: int) -> None:
        """Refuse the result of a run that met ``invalid`` ids that are no vertices, and one on rows with such heads.

        Raises
        ------
        FormatError
            There were any.
        """
        twin = self.incoming is not None and self.incoming is not self.out
        rows = (self.out, self.incoming) if twin else (self.out,)
        n, numbers = self.n, self.numbers
        why = f"not below {n}" if numbers is None else f"not below {numbers.n}, or without edges of their own"
        require_no_invalid_ids(self.graph, invalid + sum(each.invalid_ids for each in rows if each is not None), why)
