"""A conversion by several ranks: each reads a slice of the inputs and builds the rows of a range of ids."""
