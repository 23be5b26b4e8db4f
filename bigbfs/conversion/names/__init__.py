"""Vertices that have names: read, told apart, sorted by their bytes, numbered; in memory or by way of the disk."""
