"""The catalogue of BFS strategies: one frozen dataclass each, found by name.

Both engines know the same names. On the GPU a strategy says which kernels a level may run; adding one means an entry
here and a .cu file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to expand frontiers.

    Attributes
    ----------
    name
        What ``--strategy`` takes.
    summary
        One line for ``bigbfs strategies``.
    source
        Where it comes from.
    frontier
        How a frontier is stored.
    mapping
        Which work a thread, a warp or a block takes.
    kernels
        .cu files of the package that a traversal runs.
    needs
        What it needs of a graph beyond its rows.
    bottom_up
        Whether levels may search for parents instead of expanding.
    loop
        ``"persistent"``: one launch for a whole traversal; ``"levels"``: the host runs level by level.
    backends, residencies
        Where it runs, and where its edges may live on a GPU, best first.
    """

    name: str
    summary: str
    source: str
    frontier: str
    mapping: str
    kernels: tuple[str, ...]
    needs: tuple[str, ...] = ()
    bottom_up: bool = False
    loop: str = "persistent"
    backends: tuple[str, ...] = ("cpu", "gpu")
    residencies: tuple[str, ...] = ("vram", "mapped", "streamed")


_MAPPING = "8 ids or less: a thread; up to 1024: a warp; longer: a warp for each chunk of 1024; thin levels: one block"

_KERNELS = ("algorithms/bfs/gpu/bfs_traverse.cu",)

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            name="auto",
            summary="direction-optimizing: each level top-down or bottom-up, whichever is predicted to cost less",
            source="Beamer et al., Direction-Optimizing Breadth-First Search, SC'12",
            frontier="queue for top-down levels, bitmap for bottom-up ones",
            mapping=_MAPPING,
            kernels=_KERNELS,
            needs=("in-neighbours of a directed graph (without them it stays top-down)",),
            bottom_up=True,
        ),
        Strategy(
            name="topdown",
            summary="top-down only: every edge of the reached component is read once",
            source="Merrill et al., Scalable GPU Graph Traversal, PPoPP'12; Min et al., EMOGI, VLDB'20",
            frontier="queue; in vertex order where it is large and edges are in host memory",
            mapping=_MAPPING,
            kernels=_KERNELS,
        ),
    )
}
"""Strategies by name; ``auto`` is the default."""
