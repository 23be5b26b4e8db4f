"""Lines to sorted rows: what conversion in memory and on disk share."""
