"""The formats of other tools, as edges."""
