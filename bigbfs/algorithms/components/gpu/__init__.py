"""Connected components on a GPU."""
