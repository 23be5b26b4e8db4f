"""What connected components give: labels, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bigbfs.algorithms.columns import Tabular, columns, ids_of
from bigbfs.record import RankRecord

if TYPE_CHECKING:
    import numpy as np

    from bigbfs.algorithms.columns import Table
    from bigbfs.algorithms.components.sizes import ComponentSizes
    from bigbfs.engines.ranks.group import Group
    from bigbfs.graph.graph import Graph
    from bigbfs.graph.original_ids import VertexIds


@dataclass(slots=True)
class ComponentsRecord:
    """One connected-components run.

    Attributes
    ----------
    components, largest
        Components found, and the vertices of the largest.
    seconds
        Time taken.
    verified
        True, False, or None when nobody asked.
    algorithm
        Name of the algorithm.
    edges_read
        Neighbour ids read from rows; the head table is not part of the rows.
    passes
        Passes over the rows, a finishing one included.
    left
        Merges of two trees that a single pass left to the finishing one; 0 where there was none.
    ranks
        A record for each rank; empty without ranks.
    """

    components: int
    largest: int
    seconds: float
    verified: bool | None = None
    algorithm: str = "afforest"
    edges_read: int = 0
    passes: int = 0
    left: int = 0
    ranks: tuple[RankRecord, ...] = ()


@dataclass(slots=True)
class ComponentsResult(Tabular):
    """Component labels: ``labels`` int64, one per vertex, the smallest vertex id of its component."""

    labels: np.ndarray
    record: ComponentsRecord
    vertices: VertexIds | None = field(default=None, repr=False, compare=False)
    _sizes: ComponentSizes | None = field(default=None, init=False, repr=False, compare=False)

    def _table(self) -> Table:
        return self.vertices, {"component": self.labels}, ("component",)

    @property
    def sizes(self) -> ComponentSizes:
        """How many vertices the components have, counted when it is first asked for."""
        if self._sizes is None:
            from bigbfs.algorithms.components.sizes import sizes_of

            self._sizes = sizes_of(*self._numbered())
        return self._sizes

    def size_of_each(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the label of every component, ascending, and its vertices: int64 both, one for each component."""
        from bigbfs.algorithms.components.sizes import size_of_each

        return size_of_each(*self._numbered())

    def _numbered(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the labels as numbers of entries, and the id of each entry; None: these numbers are the labels.

        Sizes are counted in an array of one word for each vertex, and original ids may be any.
        """
        import numpy as np

        if self.vertices is None or not len(self.labels):  # ranks but the first have none
            return self.labels, None
        ids = self.ids
        if int(ids[-1]) - int(ids[0]) == len(ids) - 1:
            return self.labels - ids[0], ids
        return np.searchsorted(ids, self.labels), ids

    @property
    def ids(self) -> np.ndarray:
        """Original id of each entry, ascending: int64, shape (n,); valid after the graph is closed."""
        return ids_of(self.vertices, len(self.labels))

    def to_numpy(self) -> np.ndarray:
        """Return everything as one structured array, shape (n,): ``id`` and ``label``."""
        return columns(id=self.ids, label=self.labels)

    def in_largest(self) -> np.ndarray:
        """Return for each vertex whether it is in the largest component (bool, shape (n,))."""
        import numpy as np

        return np.asarray(self.labels == (self.sizes.top[0][0] if self.sizes.top else -1))

    def largest_of(self, graph: Graph) -> list[tuple[int, int]]:
        """Return the largest components: a member's original id, and how many vertices.

        The largest come first; the member is the smallest original id, as in the labels of the result.
        """
        if self.vertices is not None:
            return list(self.sizes.top)
        import numpy as np

        members = np.array([label for label, _ in self.sizes.top], np.int64)  # each the first vertex of its component
        if graph.flags.relabelled and len(members):
            from bigbfs.algorithms.components.sizes import first_members

            members = first_members(self.labels, np.asarray(graph.labels).astype(np.int64, copy=False), members)
        return [(int(graph.original(member)), size) for member, (_, size) in zip(members, self.sizes.top, strict=True)]

    def original(self, graph: Graph) -> ComponentsResult:
        """Return this result of internal vertices in original ids: the smallest one of each component, in ascending
        order of the vertices' original ids.

        Vertices ascend with their original ids unless the graph is relabelled, so only then the smallest has to be
        looked for.
        """
        import numpy as np

        if not graph.flags.relabelled or not len(self.labels):  # ranks but the first have none
            return ComponentsResult(np.asarray(graph.original(self.labels)), self.record, graph.vertex_ids())
        originals = np.asarray(graph.labels).astype(np.int64)
        smallest = np.full(graph.n, np.iinfo(np.int64).max)
        np.minimum.at(smallest, self.labels, originals)
        return ComponentsResult(graph.in_original_order(smallest[self.labels]), self.record, graph.vertex_ids())


def result_of(labels: np.ndarray, algorithm: str, found: Any) -> ComponentsResult:
    """Return the result of a run that left ``labels`` (id dtype, shape (n,)): they are copied, and counted.

    ``found`` has ``seconds``, ``edges_read``, ``passes`` and ``left`` of the run.
    """
    from bigbfs.algorithms.components.cpu.handing import SAMPLE, handed
    from bigbfs.jit.processors import processors
    from bigbfs.jit.team import team_of

    counted = handed(team_of(processors()), labels, labels[:: max(1, len(labels) // SAMPLE)])
    return counted_result(*counted, algorithm, found)


def counted_result(labels: np.ndarray, components: int, largest: int, algorithm: str, found: Any) -> ComponentsResult:
    """Return the result of a run whose ``labels`` (int64, shape (n,)) are counted; ``found``: see :func:`result_of`."""
    record = ComponentsRecord(
        components,
        largest,
        found.seconds,
        algorithm=algorithm,
        edges_read=found.edges_read,
        passes=found.passes,
        left=found.left,
    )
    return ComponentsResult(labels, record)


def result_of_first(group: Group, labels: np.ndarray, algorithm: str, found: Any) -> ComponentsResult:
    """Return the result of a run of several ranks, all of which make this call: ``labels`` are on the first alone.

    ``found`` as for :func:`result_of`, with a record of each rank.
    """
    import numpy as np

    result = result_of(labels, algorithm, found) if group.rank == 0 else None
    told = group.objects(None if result is None else (result.record.components, result.record.largest))
    components, largest = told[0]
    record = ComponentsRecord(
        components,
        largest,
        found.seconds,
        algorithm=algorithm,
        edges_read=found.edges_read,
        passes=found.passes,
        ranks=found.ranks,
    )
    return ComponentsResult(labels.astype(np.int64) if result is None else result.labels, record)
