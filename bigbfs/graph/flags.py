"""What is known of a graph's edges: the flags that its file carries too (docs/formats.md)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphFlags:
    """What is known of a graph's edges.

    ``directed``: an edge is stored once, as given; else both ways. ``symmetric``: every edge has its twin (so the
    rows are the in-neighbours too). ``sorted``: rows ascend. ``deduplicated``: no edge twice. ``loops_removed``: no
    self-loop. ``relabelled``: vertices are not in ascending order of their original ids (``--order degree``).
    """

    directed: bool = False
    symmetric: bool = True
    sorted: bool = True
    deduplicated: bool = True
    loops_removed: bool = True
    relabelled: bool = False
