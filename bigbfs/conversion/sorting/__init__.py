"""From lines and pairs to sorted rows: one key for an edge, one rule of duplicates and self-loops, for both builds."""
