"""What a plan needs, and what helps where none fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bigbfs.sizes import need_of

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
    vram = f"{need_of(plan.device_bytes, plan.limits.vram)} GPU memory"
    return f"{vram}, {need_of(plan.host_bytes, plan.limits.ram)} host memory locked" if plan.host_bytes else vram


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
