"""Orders of the vertices, and a graph in another one."""

ORDERS = ("original", "degree", "bfs", "rcm")
"""What ``order=`` and ``--order`` take."""
