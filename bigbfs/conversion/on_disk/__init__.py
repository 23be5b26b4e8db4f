"""Conversion in bounded memory: lines are spilled to disk by ranges of rows, and each range is sorted on its own."""
