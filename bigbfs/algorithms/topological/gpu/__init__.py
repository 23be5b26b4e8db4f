"""Topological order on a GPU."""
