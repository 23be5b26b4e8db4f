"""How many blocks a kernel gets that goes through its work in strides."""

from __future__ import annotations

from bigbfs.engines.gpu.runtime.arguments import BLOCK
from bigbfs.engines.gpu.runtime.runtime import Kernel, Runtime


def launch(runtime: Runtime, kernel: Kernel, threads: int, arguments: tuple[object, ...]) -> None:
    """Launch ``kernel`` with as many blocks as ``threads`` need, or as run at once; without work, not at all."""
    blocks = min(runtime.max_blocks(kernel, BLOCK), -(-threads // BLOCK))
    if blocks > 0:
        kernel(blocks, BLOCK, arguments)
