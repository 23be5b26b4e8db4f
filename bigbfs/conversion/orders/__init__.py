"""Orders of the vertices, and a graph in another one."""

from __future__ import annotations

ORDERS = ("original", "degree", "bfs", "rcm")
"""What ``order=`` and ``--order`` take."""

KEPT = "kept"
"""The order that the only input, a graph file, has: what no ``order`` comes to for one in an order of its own."""

_NOT_KEPT = "its order is not kept, and the vertices are in the original one"


def not_kept(path: object, why: str) -> str:
    """Return the note that the order of the graph file ``path`` is lost, which nobody has asked for."""
    return f"{path}: {_NOT_KEPT} ({why})"


def says_not_kept(note: str) -> bool:
    """Tell whether a note is one of :func:`not_kept`."""
    return f": {_NOT_KEPT} (" in note
