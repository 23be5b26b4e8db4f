"""Edge list -> graph file: number the vertices, build the CSR, order, write, cache."""
