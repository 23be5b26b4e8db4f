"""Conversion in memory."""
