"""Where a graph is placed and how its rows are read; knows no algorithm."""
