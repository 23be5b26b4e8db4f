"""What an engine says of a graph whose rows are damaged."""

from __future__ import annotations

from bigbfs.errors import FormatError
from bigbfs.graph import Graph


def require_no_faults(graph: Graph, faults: int) -> None:
    """Take note of the proof of all rows of ``graph`` by kernels/prove.cu, which has found so many faults.

    Raises
    ------
    FormatError
        There are any; names the first place that is wrong, if the host finds it too.
    """
    if faults:
        graph.require_valid()
        raise FormatError(
            f"{graph.path or 'the graph'}: corrupted: {faults} rows or blocks of rows do not ascend, or hold "
            "varints longer than an id; convert the graph again"
        )
    graph.declare_valid()


def require_no_invalid_ids(graph: Graph, invalid: int) -> None:
    """Refuse the result of a run that met ``invalid`` ids that are no vertices.

    Raises
    ------
    FormatError
        There were any.
    """
    if invalid:
        raise FormatError(
            f"{graph.path or 'the graph'}: at least {invalid} neighbour ids read are no vertices (not below "
            f"{graph.n}): the file is damaged; `bigbfs check` says where"
        )
