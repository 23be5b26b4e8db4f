"""A graph file in parts: ranges of its rows as files of their own, for machines that hold only theirs, and back."""
