"""How a graph is opened, saved and built, for a room that knows of no file: where those arrows are turned round.

``Graph.open`` and ``Graph.save`` are words of a graph; what they mean lies in bigbfs/formats, which stands above this
room and imports it. The package itself (bigbfs/__init__.py) says which module keeps graphs, by a function that is
called, and imports, when the first file is opened or saved. The keeper has ``open_graph(path)`` and
``save_graph(graph, path)``. ``Graph.from_edges`` means what a conversion means, and its builder, which has
``graph_of(src, dst, ...)``, lies in bigbfs/conversion. ``import bigbfs`` loads this module, so it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's, without the ten milliseconds that importing typing takes
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_bring: list[Callable[[], ModuleType]] = []
_bring_builder: list[Callable[[], ModuleType]] = []


def kept_by(bring: Callable[[], ModuleType]) -> None:
    """Name the keeper of graph files: ``bring`` imports and returns it."""
    _bring[:] = [bring]


def keeper() -> ModuleType:
    """Return the keeper of graph files."""
    return _bring[0]()


def built_by(bring: Callable[[], ModuleType]) -> None:
    """Name the builder of graphs from edges: ``bring`` imports and returns it."""
    _bring_builder[:] = [bring]


def builder() -> ModuleType:
    """Return the builder of graphs from edges."""
    return _bring_builder[0]()
