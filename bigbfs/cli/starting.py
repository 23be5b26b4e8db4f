"""``bigbfs bfs|cc|convert ... --ranks N`` starts its ranks before anything is imported, for which all would wait.

They read the same command line, so what is wrong with it all of them find; rank 0 says it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

SAME_LINE = "BIGBFS_SAME_LINE"
"""Set for ranks whose command lines are one: that of the process which has started them."""

_COMMANDS = ("bfs", "cc", "convert")
_WRITTEN = ("-o", "--output", "--levels", "--parents", "--labels", "--sizes", "--largest", "--plot")
"""Options of these commands that name a file which is written."""

_LAUNCHED = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


def ranks_wanted(arguments: Sequence[str]) -> int | None:
    """Return how many ranks a command line is for; None: one, or it takes a parser to tell."""
    if not arguments or arguments[0] not in _COMMANDS or {"-h", "--help", "--"} & {*arguments}:
        return None
    given = _value("--ranks", arguments)
    return int(given) if given is not None and given.isdecimal() and 1 < int(given) < 10_000 else None


def _value(option: str, arguments: Sequence[str]) -> str | None:
    """Return the value of an option that is given once."""
    places = [at for at, word in enumerate(arguments) if word == option or word.startswith(f"{option}=")]
    if len(places) != 1:
        return None
    word, *rest = arguments[places[0] :]
    return word.partition("=")[2] if "=" in word else rest[0] if rest else None


def start(arguments: Sequence[str]) -> int | None:
    """Run the ranks that the command line is for and return their exit code; None: it is for this process."""
    ranks = ranks_wanted(arguments)
    if ranks is None or any(name in os.environ for name in _LAUNCHED) or sys.stdout is None:
        return None
    from bigbfs.engines.ranks import launch
    from bigbfs.errors import UsageError
    from bigbfs.jit.processors import processors

    if ranks > launch.MOST_A_CORE * processors():
        return None  # which the command refuses
    try:
        launch.mpiexec()
    except UsageError:  # which the command raises again, where it is said
        return None
    threads = _value("--threads", arguments) or ""
    own = int(threads) if threads.isdecimal() and threads != "0" else max(1, processors() // ranks)
    code = -1
    os.environ[SAME_LINE] = "1"
    try:
        code = launch.start(ranks, arguments, own)
    except OSError:  # mpiexec cannot be run, which the command finds, too, and says
        return None
    finally:
        del os.environ[SAME_LINE]
        if code:
            _remove_stale(arguments)
    return code


def _remove_stale(arguments: Sequence[str]) -> None:
    """Remove what ranks that were killed have left half-written."""
    from pathlib import Path

    from bigbfs.formats.atomic import remove_stale

    for option in _WRITTEN:
        if (named := _value(option, arguments)) is not None:
            remove_stale(Path(named))
