"""The algorithms, one folder each: options, result, reference, validator, and what runs on CPU and GPU."""

from bigbfs.algorithms.bfs import BFS
from bigbfs.algorithms.components import COMPONENTS
from bigbfs.algorithms.many import MANY
from bigbfs.algorithms.registry import Algorithm
from bigbfs.algorithms.topological import TOPOLOGICAL

ALGORITHMS: dict[str, Algorithm] = {entry.name: entry for entry in (BFS, COMPONENTS, TOPOLOGICAL, MANY)}
"""Every algorithm by name. A new one is a folder and a line here."""
