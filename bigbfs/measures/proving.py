"""The proof of searches that were run for a measure, for as long as nobody wants the run to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.result import ManyResult
from bigbfs.algorithms.many.validate import Unproved


def wanted(verify: bool, stop: Callable[[], bool] | None) -> bool:
    """Return whether a proof is asked for, and nobody waits for the end: it takes longer than the searches."""
    return verify and not (stop is not None and stop())


def prove(engine: Engine, options: ManyOptions, result: ManyResult, stop: Callable[[], bool] | None) -> None:
    """Prove ``result`` right and note that in its record; where ``stop()`` is true, before or in between, do not.

    That time is up (``options.stop``) is no reason: it was for the searches.

    Raises
    ------
    VerificationError
        A rule is broken.
    """
    if not wanted(True, stop):
        return
    try:
        engine.verify_internal(replace(options, stop=stop), result)
    except Unproved:
        return
    result.record.verified = True
