"""Proof that labels are those of connected components: the smallest vertex of each."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components import validate_kernels as kernels
from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.algorithms.rules import ends_of, fail, first_offender, name_of, require_array
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen


def validate_labels(graph: Graph, labels: np.ndarray) -> None:
    """Prove that ``labels`` names, for each vertex, the smallest vertex of its (weakly) connected component.

    Parameters
    ----------
    labels
        int64, shape (n,).

    Raises
    ------
    VerificationError
        Names the rule, the vertex or edge that breaks it, and the values found there.
    """
    require_array("labels", labels, np.int64, graph.n)
    have = frozen(np.ascontiguousarray(labels))
    if (vertex := first_offender(kernels.label_vertices, graph.n, have)) >= 0:
        label, name = int(have[vertex]), name_of(graph, vertex)
        if not 0 <= label < graph.n:
            fail("a label is a vertex", f"vertex {name} has label {label} of {graph.n} vertices")
        if label > vertex:
            fail("a label is the smallest vertex of its component", f"vertex {name} has label {name_of(graph, label)}")
        of_label = name_of(graph, int(have[label])) if 0 <= have[label] < graph.n else int(have[label])
        fail(
            "a label is its own label",
            f"vertex {name} has label {name_of(graph, label)}, and that vertex has label {of_label}",
        )
    indptr, indices = plain_rows(graph)
    if (edge := first_offender(kernels.label_edges, len(indices), indptr, indices, have)) >= 0:
        u, v = ends_of(indptr, indices, edge)
        fail(
            "an edge joins equal labels",
            f"edge {name_of(graph, u)} -> {name_of(graph, v)} joins labels {name_of(graph, int(have[u]))} "
            f"and {name_of(graph, int(have[v]))}",
        )
    if (vertex := int(kernels.unproven(indptr, indices, have))) >= 0:
        fail(
            "vertices with one label are connected",
            f"no path joins vertex {name_of(graph, vertex)} to its label {name_of(graph, int(have[vertex]))}",
        )
