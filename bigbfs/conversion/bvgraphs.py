"""Whether the only input is a BVGraph, and whether its rows come as the result has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bigbfs.conversion.options import ConvertOptions
from bigbfs.formats.bvgraph.properties import is_bvgraph

OWN = {"names", "no_names"}
"""Rules that say what becomes of a list of names, and nothing of the rows."""


def comes_ready(inputs: Sequence[str | Path], options: ConvertOptions) -> bool:
    """Tell whether the rows of the only input are those of the result: directed, in the order that they have."""
    if len(inputs) != 1 or not options.directed or options.reordered or options.rules().given().keys() - OWN:
        return False
    return is_one_bvgraph(inputs, options)


def is_one_bvgraph(inputs: Sequence[str | Path], options: ConvertOptions) -> bool:
    """Tell whether the only input is a BVGraph."""
    return len(inputs) == 1 and options.format in (None, "bvgraph", "webgraph", "bv") and is_bvgraph(inputs[0])
