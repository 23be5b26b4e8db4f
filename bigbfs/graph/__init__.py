"""What a graph is: its arrays, its codec, its original ids. Knows of no file and no engine."""

TYPE_CHECKING = False  # as in bigbfs.graph.files, which is imported by way of this module
if TYPE_CHECKING:
    from bigbfs.graph.graph import Graph, open

__all__ = ["Graph", "open"]


def __getattr__(name: str) -> object:
    """Load ``Graph`` and ``open`` on first use (PEP 562): ``import bigbfs`` passes here and wants no NumPy."""
    if name not in __all__:
        raise AttributeError(f"module 'bigbfs.graph' has no attribute {name!r}")
    from bigbfs.graph import graph

    return getattr(graph, name)
