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
    alpha, beta
        Go bottom-up when the frontier grows and ``alpha`` times its edges exceed the edges of the unvisited; stay there
        until it shrinks and has less than one vertex in ``beta``.
    """

    name: str
    summary: str
    source: str
    frontier: str
    mapping: str
    kernels: tuple[str, ...]
    needs: tuple[str, ...] = ()
    bottom_up: bool = False
    alpha: float = 15.0
    beta: float = 18.0

    def goes_bottom_up(
        self, *, was: bool, frontier: int, frontier_before: int, edges: int, edges_left: int, n: int
    ) -> bool:
        """Return whether the next level searches bottom-up.

        Parameters
        ----------
        was
            Whether the level before did.
        frontier, edges
            Vertices of the frontier, and edges of their rows.
        frontier_before
            Vertices of the frontier before it.
        edges_left
            Edges of the rows of the vertices not reached yet.
        n
            Vertices of the graph.
        """
        if not self.bottom_up:
            return False
        grows = frontier > frontier_before
        if was:
            return grows or frontier * self.beta >= n
        return grows and edges * self.alpha > edges_left


_MAPPING = "8 ids or less: a thread; up to 1024: a warp; longer: a warp for each chunk of 1024"

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            name="auto",
            summary="direction-optimizing: top-down while the frontier is small, bottom-up while it is large",
            source="Beamer et al., Direction-Optimizing Breadth-First Search, SC'12",
            frontier="bitmap, and a queue in vertex order for top-down levels",
            mapping=_MAPPING,
            kernels=("bfs_frontier.cu", "bfs_topdown.cu", "bfs_bottomup.cu"),
            needs=("in-neighbours of a directed graph (without them it stays top-down)",),
            bottom_up=True,
        ),
        Strategy(
            name="topdown",
            summary="top-down only: every edge of the reached component is read once",
            source="Merrill et al., Scalable GPU Graph Traversal, PPoPP'12; Min et al., EMOGI, VLDB'20",
            frontier="bitmap, and a queue in vertex order",
            mapping=_MAPPING,
            kernels=("bfs_frontier.cu", "bfs_topdown.cu"),
        ),
    )
}
"""Strategies by name; ``auto`` is the default."""
