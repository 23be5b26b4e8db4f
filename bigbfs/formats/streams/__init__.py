"""Bytes of an input, decompressed as they come."""
