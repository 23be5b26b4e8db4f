"""How a graph is opened and saved, for a room that knows of no file: the one place where that arrow is turned round.

``Graph.open`` and ``Graph.save`` are words of a graph; what they mean lies in bigbfs/formats, which stands above this
room and imports it. The package itself (bigbfs/__init__.py) says which module keeps graphs, by a function that is
called, and imports, when the first file is opened or saved. The keeper has ``open_graph(path)`` and
``save_graph(graph, path)``. ``import bigbfs`` loads this module, so it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's, without the ten milliseconds that importing typing takes
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_bring: list[Callable[[], ModuleType]] = []


def kept_by(bring: Callable[[], ModuleType]) -> None:
    """Name the keeper of graph files: ``bring`` imports and returns it."""
    _bring[:] = [bring]


def keeper() -> ModuleType:
    """Return the keeper of graph files."""
    return _bring[0]()
