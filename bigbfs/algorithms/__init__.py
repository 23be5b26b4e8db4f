"""The algorithms, one folder each: options, result, reference, validator, and what runs on CPU and GPU."""
