"""Graphs in the formats of other tools."""
