"""Topological order: every vertex of a directed acyclic graph before those that it points to."""
