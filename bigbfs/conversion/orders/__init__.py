"""Orders of the vertices, and a graph in another one."""
