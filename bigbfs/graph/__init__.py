"""What a graph is: its arrays, its codec, its original ids. Knows of no file and no engine."""

from bigbfs.graph.graph import Graph, open

__all__ = ["Graph", "open"]
