"""What each rank says of itself with ``-v``, on standard error: of its process, of each level, of a whole run."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

_ONE_STATE = "common"
"""What a level tells whose ranks all see one state, as the JSON has it."""


def say(group: Any, text: str) -> None:
    """Print a line of one rank, in one piece: mpiexec mixes what ranks say as it comes."""
    sys.stderr.flush()
    os.write(2, f"[rank {group.rank} {group.host}] {text}\n".encode())


def say_levels(group: Any, run: Any) -> None:
    """Print what each level of a run was for this rank."""
    for level, exchange in zip(run.levels, run.exchanges, strict=True):
        say(group, f"level {level.level}: {level.direction}, {_told(exchange)}, {_spent(level.seconds)}")
    say_run(group, run)


def say_run(group: Any, run: Any) -> None:
    """Print what a run took this rank."""
    mine = run.ranks[group.rank]
    say(group, f"{1e3 * mine.seconds:.3f} ms, of which {1e3 * mine.waited:.3f} waiting; {mine.sent:,} bytes sent")


def _told(exchange: str) -> str:
    """Return words on what ranks told each other for a level."""
    return "nothing told (all see one state)" if exchange == _ONE_STATE else f"{exchange or 'nothing'} told"


def _spent(seconds: float) -> str:
    """Return words on the time of a level, which nobody knows where several ran as one step."""
    return "one step with others, not timed alone" if math.isnan(seconds) else f"{1e3 * seconds:.3f} ms"
