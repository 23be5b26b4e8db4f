"""Many searches at once on a GPU."""
