"""What a topological order is, and what a run measured.

The round of a vertex is the number of edges on the longest path that ends there: 0 where no edge leads. It is the same
whoever computes it. The order goes by rounds and, in a round, by vertex, so it is the same as well, on every backend
and with any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bigbfs.algorithms.columns import Tabular, ids_of
from bigbfs.jit.njit import njit

if TYPE_CHECKING:
    from bigbfs.algorithms.columns import Table
    from bigbfs.graph.graph import Graph
    from bigbfs.graph.original_ids import VertexIds

THIN = 32
"""A round of at most so many vertices is thin: a warp or one core is enough for it."""


@dataclass(slots=True)
class TopologicalRecord:
    """One run.

    Attributes
    ----------
    rounds
        Rounds: vertices on the longest path.
    widest
        Vertices of the widest round.
    thin
        Rounds of at most ``THIN`` vertices.
    edges
        Directed edges, each taken off once.
    seconds
        Time from the first in-degree to the last vertex in the queue.
    ran
        How many rounds ran where: ``"one thread"``, ``"all threads"``, ``"one block"``, ``"whole grid"``.
    verified
        True, False, or None when nobody asked.
    """

    rounds: int
    widest: int
    thin: int
    edges: int
    seconds: float
    ran: dict[str, int] = field(default_factory=dict)
    verified: bool | None = None

    @property
    def mteps(self) -> float:
        """Million edges per second."""
        return self.edges / self.seconds / 1e6 if self.seconds > 0 else 0.0


@dataclass(slots=True)
class TopologicalResult(Tabular):
    """A topological order.

    Attributes
    ----------
    order
        int64, shape (n,): every vertex once, by round and in a round ascending.
    rounds
        int32, shape (n,): the round of each vertex.
    record
        What the run measured.
    """

    order: np.ndarray
    rounds: np.ndarray
    record: TopologicalRecord
    vertices: VertexIds | None = field(default=None, repr=False, compare=False)

    def _table(self) -> Table:
        return self.vertices, {"round": self.rounds}, ()

    @property
    def ids(self) -> np.ndarray:
        """Original id of each entry of ``rounds``, ascending: int64, shape (n,); valid after the graph is closed."""
        return ids_of(self.vertices, len(self.rounds))

    def original(self, graph: Graph) -> TopologicalResult:
        """Return this result of internal vertices in original ids: the order by round and, in a round, by original id;
        the rounds in ascending order of the vertices' original ids."""
        rounds = np.asarray(graph.in_original_order(self.rounds))
        order = order_of(rounds) if graph.flags.relabelled else self.order
        ids = np.asarray(graph.original_ids())
        return TopologicalResult(ids[order], rounds, self.record, graph.vertex_ids())


def result_of(rounds: np.ndarray, edges: int, seconds: float, ran: dict[str, int]) -> TopologicalResult:
    """Return the result of a run that gave every vertex its round; see the fields of ``TopologicalRecord``."""
    count, widest, thin = shape_of(rounds)
    return TopologicalResult(order_of(rounds), rounds, TopologicalRecord(count, widest, thin, edges, seconds, ran))


def shape_of(rounds: np.ndarray) -> tuple[int, int, int]:
    """Return how many rounds there are, the vertices of the widest, and how many have at most ``THIN``."""
    widths = np.bincount(rounds)
    return len(widths), int(widths.max(initial=0)), int(np.count_nonzero(widths <= THIN))


def order_of(rounds: np.ndarray) -> np.ndarray:
    """Return the vertices by round and, in a round, ascending: int64, shape (n,).

    Parameters
    ----------
    rounds
        int32, shape (n,), none below 0.
    """
    begins = np.zeros(int(rounds.max(initial=-1)) + 2, np.int64)
    begins[1:] = np.cumsum(np.bincount(rounds, minlength=len(begins) - 1))
    return np.asarray(_scatter(rounds, begins))


@njit(cache=True, nogil=True)
def _scatter(rounds, places):
    """Put every vertex at the next free place of its round, where ``places`` has the first of each."""
    order = np.empty(rounds.size, np.int64)
    for vertex in range(rounds.size):
        order[places[rounds[vertex]]] = vertex
        places[rounds[vertex]] += 1
    return order
