"""BVGraph, the format in which WebGraph keeps web graphs: its properties, codes, rows, and where to begin reading."""
