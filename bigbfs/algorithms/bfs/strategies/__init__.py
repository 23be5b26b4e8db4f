"""The catalogue of BFS strategies: one frozen dataclass each, found by name.

A strategy is an entry in one of this folder's modules, one for each family, and at most one .cu file beside it. What
an entry declares is read by everything that must know it (entry.py); nothing else names a strategy.
"""

from __future__ import annotations

from bigbfs.algorithms.bfs.strategies import merrill, packed, persistent, queues, scans, sweeps
from bigbfs.algorithms.bfs.strategies.entry import Array, Step, Strategy

__all__ = ["STRATEGIES", "Array", "Step", "Strategy"]

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for module in (persistent, sweeps, queues, scans, packed, merrill)
    for strategy in module.ENTRIES
}
"""Strategies by name; ``auto`` is the default."""
