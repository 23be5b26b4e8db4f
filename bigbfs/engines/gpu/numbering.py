"""Which work runs where vertices have numbers of their own (placement/renumbered.py), and plans that count these."""

from __future__ import annotations

from collections.abc import Sequence

from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.placement.renumbered import Renumbered, renumbers
from bigbfs.engines.gpu.planning import Plan, make_plan
from bigbfs.graph.graph import Graph
from bigbfs.jit.processors import processors

Limits = tuple[str, int, int | None, int | None, int | None, bool]
"""Arguments of ``make_plan`` from ``residency`` to ``registers_read_only``."""


def may_number(work: Sequence[Work], residency: str) -> bool:
    """Tell whether vertices may have numbers of their own for all this ``work``, with edges in ``residency``."""
    return bool(work) and residency != "streamed" and all(each.takes_numbers for each in work)


def plan_and_numbers(graph: Graph, limits: Limits, work: Sequence[Work]) -> tuple[Plan, Renumbered | None]:
    """Return the plan of :func:`bigbfs.engines.gpu.planning.make_plan`, and the numbers that it counts on; None: it
    counts the vertices of the file.

    Numbers take a pass over the offsets, which copying the edges can hide; so they are made before the plan only where
    some of the ``work`` fills the memory.
    """
    if any(each.fills_memory for each in work) and may_number(work, limits[0]) and renumbers(graph):
        numbers = Renumbered(graph, processors())
        plan = make_plan(numbers.graph, *limits, work=work)
        if plan.residency != "streamed":
            return plan, numbers
    return make_plan(graph, *limits, work=work), None
