"""BFS over ranks: each expands or pulls for its own vertices, and says what the others must know."""
