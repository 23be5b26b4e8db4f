"""Bytes on disk: the container, the codec, and the text and binary formats of other tools."""
