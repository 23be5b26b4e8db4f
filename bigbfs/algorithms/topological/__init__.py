"""Topological order."""
