"""Several processes, on one machine or many, that work on one graph: who they are, what they say, who owns what."""
