"""BFS over GPUs whose hosts run the levels: those of several machines, and those that cannot reach one another."""
