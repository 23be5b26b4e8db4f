"""Fuzzing: what is done with any bytes (targets), and inputs that once led somewhere new (corpus, one folder each)."""
