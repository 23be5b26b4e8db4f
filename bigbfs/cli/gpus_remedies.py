"""``bigbfs plan --gpus`` where a rank has no room: what would help, each way planned before it is said."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from typing import Protocol

from bigbfs.engines.gpu.planning import Limits
from bigbfs.errors import Argument, DoesNotFitError, Remedy, RemedyLike, UsageError

MOST_GPUS = 64
"""More are not tried: to plan for them takes longer than a second."""

SECONDS = 5.0
"""How long remedies are looked for; what has not been planned by then is not said to help."""

NEAR = 16
"""How near the least budget is found: to a sixteenth."""

MEBIBYTE = 1 << 20


class Planner(Protocol):
    """Plans for so many GPUs, on as many machines as asked for; ``other`` than what was asked for."""

    def __call__(self, gpus: int, limits: Limits, **other: str) -> object:
        """Return the plans, or raise DoesNotFitError or UsageError."""


def with_remedies(error: DoesNotFitError, plan: Planner, gpus: int, limits: Limits) -> DoesNotFitError:
    """Return ``error`` with the remedies that would help a run on ``gpus`` GPUs, and no others."""

    ends = time.monotonic() + SECONDS

    def fits(gpus: int = gpus, limits: Limits = limits, **other: str) -> bool:
        if time.monotonic() > ends:
            return False
        try:
            plan(gpus, limits, **other)
        except (DoesNotFitError, UsageError):
            return False
        return True

    arguments = [each for each in error.remedies if isinstance(each.what, Argument)]
    found: list[RemedyLike] = [each for each in arguments if _helps(each, fits)]
    doubled = takewhile(lambda count: count <= MOST_GPUS, (gpus << times for times in range(1, MOST_GPUS)))
    enough = next((count for count in doubled if fits(count)), None)
    if enough is not None:
        found.append(Remedy(Argument("gpus", enough), "use {} (a part is divided among them)"))
    least = _least(lambda size: fits(limits=replace(limits, vram=size)), limits.vram)
    if least is not None:
        found.append(Remedy(Argument("vram_budget", f"{least}MiB"), "use {} or more (if the GPUs have it)"))
    least = _least(lambda size: fits(limits=replace(limits, ram=size)), limits.ram)
    if least is not None:
        found.append(Remedy(Argument("ram_budget", f"{least}MiB"), "use {} or more (if each machine has it)"))
    return type(error)(error.message, remedies=tuple(found), lead="\nwhat helps: ")


def _helps(remedy: Remedy, fits: Callable[..., bool]) -> bool:
    """Tell whether a run with the argument of ``remedy`` fits; of what is no matter of plans, nothing is known."""
    assert isinstance(remedy.what, Argument)
    keyword = {"residency": "residency", "partition": "kind"}.get(remedy.what.name)
    return keyword is None or fits(**{keyword: remedy.what.value})


def _least(fits: Callable[[int], bool], size: int) -> int | None:
    """Return about the least number of MiB above ``size`` bytes that fits, or None: more is no help."""
    low = high = size // MEBIBYTE
    while not fits((high := 2 * high + 1) * MEBIBYTE):
        if high * MEBIBYTE > 1 << 50:
            return None
        low = high
    while high - low > max(1, high // NEAR):
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle * MEBIBYTE) else (middle, high)
    return high
