"""BFS on a GPU: the persistent loop, and the one for streamed rows."""
