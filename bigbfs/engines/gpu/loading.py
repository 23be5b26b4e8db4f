"""Placing rows, whichever way they live, and the kernels that this takes."""

from __future__ import annotations

from typing import Any

from bigbfs.engines.gpu.placement import steps
from bigbfs.engines.gpu.placement.placed import PLACE_NUMBERS, PLACE_ROWS, PlacedAdjacency
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.engines.gpu.streamed import placement as streamed
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.graph.adjacency import Adjacency


def placement_kernels(residency: str, *, prove: bool = False, numbered: bool = False) -> tuple[KernelSpec, ...]:
    """Return every kernel that placement launches (``prove``: with a proof of the rows; ``numbered``: vertices have
    numbers of their own)."""
    if residency == "streamed":
        return (PLACE_ROWS, *streamed.KERNELS)
    numbering = (PLACE_NUMBERS,) if numbered else ()
    return (PLACE_ROWS, *numbering, *steps.KERNELS, *(steps.PROOF_KERNELS if prove else ()))


def place(
    runtime: Runtime, adjacency: Adjacency, buffers: Buffers | None, *, mapped: bool, prove: bool, **options: Any
) -> PlacedAdjacency:
    """Return ``adjacency`` in place; options as ``PlacedAdjacency``. With ``buffers`` it is streamed through them, and
    not proved."""
    if buffers is not None:
        return StreamedAdjacency(runtime, adjacency, buffers, **options)
    return PlacedAdjacency(runtime, adjacency, mapped=mapped, prove=prove, **options)
