"""What is known of the kernels of a run beside its result: the time that they take alone, and what they occupy."""

from __future__ import annotations

from typing import Any

from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.engines.gpu.runtime.arguments import BLOCK, team_threads


def kernel_seconds(engine: GpuEngine, work: Work) -> float:
    """Run ``work`` once more, with events around each launch, and return the seconds that its kernels took alone.

    The events themselves cost time between the kernels: such a run's own clock says nothing.
    """
    program, runtime = engine.program(work), engine.placed.runtime
    with runtime.kernel_clock() as clock:
        program.run(work)
    return clock.seconds


def kernel_attributes(engine: GpuEngine, work: Work) -> tuple[dict[str, Any], ...]:
    """Return one object for each kernel of ``work``: ``name``, ``registers``, ``shared_bytes``, ``local_bytes``,
    ``occupancy`` (threads that a multiprocessor holds at once, to those that it could)."""
    placed = engine.placed
    found = []
    for spec in work.kernels(engine.residency):
        kernel = spec.build(placed.runtime, placed.ids, placed.codec)
        threads = team_threads(placed.runtime.team, placed.ids) if spec.team else BLOCK
        found.append({"name": spec.name} | placed.runtime.attributes(kernel, threads))
    return tuple(found)
