"""The parts of ``tools/bench_ranks.py``: its suite, predictions, what a machine has room for, runs, and rows."""
