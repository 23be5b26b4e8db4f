"""What fails on one rank fails on all, with one error, so that each of them can tidy up before it ends."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from bigbfs.engines.ranks.group import Group
from bigbfs.errors import BigBfsError

T = TypeVar("T")


class Agreed(Exception):
    """Raised on every rank alike: ``error`` is why; ``failures``, by rank, are all that ranks have told."""

    def __init__(self, error: Exception, failures: Mapping[int, Exception] | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.failures = failures or {}


def together(group: Group, work: Callable[[], T]) -> T:
    """Return what ``work`` returns here, when it has come to its end on every rank; it makes no calls of the group.

    Raises
    ------
    Agreed
        With what the first rank raised on which it failed.
    """
    result, failure = None, None
    try:
        result = work()
    except Exception as error:
        failure = error
    agree(group, failure)
    return result  # type: ignore[return-value]  # there is one where nothing failed


def agree(group: Group, failure: Exception | None) -> None:
    """Raise, on every rank, the failure of the first that has one; all of them make this call.

    Raises
    ------
    Agreed
        A rank has a failure.
    """
    group.barrier()  # whoever waits long waits here, where signals are seen
    told = {rank: packed for rank, packed in enumerate(group.objects(_packed(failure))) if packed is not None}
    failures = {rank: _unpacked(packed) for rank, packed in told.items()}
    if failure is not None:
        failures[group.rank] = failure
    if failures:
        raise Agreed(failures[min(failures)], failures)


def _packed(failure: Exception | None) -> Any:
    if failure is None:
        return None
    try:
        pickle.loads(packed := pickle.dumps(failure))
        return packed
    except Exception:
        return f"{type(failure).__name__}: {failure}"


def _unpacked(packed: Any) -> Exception:
    found = pickle.loads(packed) if isinstance(packed, bytes) else BigBfsError(packed)
    assert isinstance(found, Exception)
    return found
