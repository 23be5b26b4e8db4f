"""The names that a graph file, an input of a conversion, has for its vertices: they stay, where it is the only one."""

from __future__ import annotations

from bigbfs.errors import UsageError
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.names import Names


def names_of_inputs(lists: list[EdgeList]) -> Names | None:
    """Return the names of the only input; None where it has none.

    Raises
    ------
    UsageError
        Several inputs, of which one has names: its numbers mean nothing in another.
    """
    named = [edges.names for edges in lists if edges.names is not None]
    if named and len(lists) > 1:
        raise UsageError(f"{named[0].where}: its vertices have names, so it cannot be one of several inputs")
    return named[0] if named else None
