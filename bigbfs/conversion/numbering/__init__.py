"""Which ids exist and what number each of them gets: shared by the conversions in memory and on disk."""
