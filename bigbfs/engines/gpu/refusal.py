"""What a plan needs, and what helps where none fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bigbfs.sizes import format_size

if TYPE_CHECKING:
    from bigbfs.engines.gpu.planning import Limits, Plan
    from bigbfs.errors import RemedyLike
    from bigbfs.graph.graph import Graph

_WHERE = {
    "vram": "edges in GPU memory",
    "mapped": "edges stay in host memory",
    "streamed": "edges stay in the file",
}


def needs(plan: Plan) -> str:
    """Return what of its limits a plan takes."""
    vram = f"{format_size(plan.device_bytes)} of {format_size(plan.limits.vram)} GPU memory"
    if not plan.host_bytes:
        return vram
    return f"{vram}, {format_size(plan.host_bytes)} of {format_size(plan.limits.ram)} host memory locked"


def remedies_of(graph: Graph, limits: Limits, tried: list[Plan], others: dict[str, bool]) -> tuple[RemedyLike, ...]:
    """Return what helps where none of the plans ``tried`` fits: the least budgets, and the residencies that do fit."""
    found: list[RemedyLike] = [("residency", each, f"use {{}} ({_WHERE[each]})") for each in others if others[each]]
    by_vram = [plan for plan in tried if plan.host_bytes <= limits.ram]
    by_ram = [plan for plan in tried if plan.device_bytes <= limits.vram]
    both = not by_vram and not by_ram
    if by_vram or both:
        least = min(plan.device_bytes for plan in by_vram or tried[-1:])
        found.append(("vram_budget", _mebibytes(least), "use {} or more (if the GPU has it)"))
    if by_ram or both:
        least = min(plan.host_bytes for plan in by_ram or tried[-1:])
        start = "together with that" if both else "use"
        found.append(("ram_budget", _mebibytes(least), f"{start} {{}} or more (if the machine has it)"))
    if graph.codec == "plain" and any(plan.residency != "streamed" for plan in tried):
        found.append(("compressed", True))
    return (*found, ("backend", "cpu"))


def _mebibytes(count: int) -> str:
    return f"{-(-count // 2**20)}MiB"
