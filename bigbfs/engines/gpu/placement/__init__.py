"""Where the arrays of a run lie, byte by byte, and how they get there."""
