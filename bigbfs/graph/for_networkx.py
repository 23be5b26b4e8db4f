"""What NetworkX asks of any graph before it hands it to a backend; imports nothing of NetworkX."""

from __future__ import annotations

from bigbfs.graph.flags import GraphFlags


class ForNetworkx:
    """The part of a Graph that makes it one for ``nx.connected_components(graph)`` (the extra ``networkx``)."""

    __networkx_backend__ = "bigbfs"
    flags: GraphFlags

    def is_directed(self) -> bool:
        """Tell whether edges lead one way."""
        return self.flags.directed

    def is_multigraph(self) -> bool:
        """Return False: an edge that is stored more than once counts once."""
        return False
