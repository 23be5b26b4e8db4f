"""What an engine says of a graph whose rows are damaged."""

from __future__ import annotations

from bigbfs.errors import FormatError
from bigbfs.graph.graph import Graph


def require_sound(graph: Graph, sound: bool) -> None:
    """Take note of what kernels/proof/prove.cu has found about the rows of ``graph``.

    Raises
    ------
    FormatError
        They are not sound; names the first place that is wrong.
    """
    if not sound:
        graph.require_rows()
        raise FormatError(
            f"{graph.path or 'the graph'}: corrupted: rows do not ascend, or hold ids that are no vertices"
        )
    graph.declare_valid()


def require_no_invalid_ids(graph: Graph, invalid: int, why: str) -> None:
    """Refuse the result of a run that met ``invalid`` ids that are no vertices, ``why`` they are none.

    Raises
    ------
    FormatError
        There were any.
    """
    if invalid:
        raise FormatError(
            f"{graph.path or 'the graph'}: at least {invalid} neighbour ids read are no vertices ({why}): the file is "
            "damaged; `bigbfs check` says where"
        )
