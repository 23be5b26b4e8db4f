"""The pictures of the documents, one module each; ``tools/draw.py`` writes them."""
