"""The studies beside the comparison of strategies: one question each, on the true frontiers of a search."""
