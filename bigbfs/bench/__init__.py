"""Measuring strategies against one another: what runs on which graphs, in turn, each source proved once."""
