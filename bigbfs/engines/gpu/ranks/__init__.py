"""One GPU of several on a machine: its own rows, and memory that the others write into."""
