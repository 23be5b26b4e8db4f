"""Run ``bigbfs`` as one rank of a conversion that kills itself: rank_convert_events.py WHEN SIGNAL RANK ARGUMENTS.

WHEN is ``reading``, ``read``, ``sorting``, ``sorted`` or ``writing``: before that rank sends its last pairs, while it
has kept them and others may not have yet, while it sorts, and so on. In memory it is ``counted``, ``dealing``,
``placing``, ``moving`` or ``named``: before its keys go where all see them, while it turns rows round, writes them or
sorted ones, and is done.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from bigbfs.__main__ import main
from bigbfs.conversion.spread import assemble, common, common_file, common_sides, convert, sorted_rows
from bigbfs.conversion.spread.checkpoint import Checkpoint
from bigbfs.conversion.spread.exchange import ExchangingWriter

PLACES: dict[str, tuple[Any, str]] = {
    "reading": (ExchangingWriter, "finish"),
    "read": (Checkpoint, "leave_only"),
    "sorting": (sorted_rows, "consume"),
    "sorted": (Checkpoint, "leave_only"),
    "writing": (assemble, "_put"),
}


IN_MEMORY: dict[str, tuple[Any, str]] = {
    "counted": (common, "Crew"),
    "dealing": (common, "deal_columns"),
    "placing": (common_sides, "place_columns"),
    "moving": (common_sides, "move_buckets"),
    "named": (common_file, "_summed" if os.environ.get("PMI_RANK") == "0" else "provenance_of"),
}


def plant(when: str, name_of_signal: str, rank: int) -> None:
    """Kill ``rank`` at the moment ``when``."""
    owner, name = (PLACES | IN_MEMORY)[when]
    whole = getattr(owner, name)

    def end(*given: Any, **named: Any) -> Any:
        at = not given or not isinstance(given[0], Checkpoint) or any(given[0].scratch.folder.glob(f"{when}.*"))
        if at and int(os.environ["PMI_RANK"]) == rank:
            os.kill(os.getpid(), getattr(signal, name_of_signal))
        return whole(*given, **named)

    setattr(owner, name, end)
    if when in PLACES:
        convert.fits = lambda *given, **named: False  # what is sorted in memory is not kept


if __name__ == "__main__":
    plant(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.argv[1:] = sys.argv[4:]
    main()
