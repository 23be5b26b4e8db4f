"""The oracle: serial algorithms that are easy to believe, and validators that prove a result right.

In: a :class:`bigbfs.graph.Graph`, plain or compressed (a compressed one is decoded on every call: decompress it
once where it is used often), vertices by their internal ids 0..n-1. Nothing here shares code with an engine.
"""

from bigbfs.reference import validate
from bigbfs.reference.bfs import bfs
from bigbfs.reference.components import components
from bigbfs.reference.topological import topological_order
from bigbfs.reference.validate import compare_levels

__all__ = ["bfs", "compare_levels", "components", "topological_order", "validate"]
