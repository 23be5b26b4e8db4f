"""Threads that help with a loop while they get a core, and that nobody waits for when they do not.

:func:`share` has ``member(*arguments, t)`` called by the calling thread, with ``t`` 0, and by every helper that comes
while it runs, with a number of its own. A member takes pieces of the work from a counter until none is left, so
whoever runs does the work. When the caller finds none left it closes the door: a helper that the system has not let
run by then stays out, and only those inside are waited for. So beside other programs a level ends when its work is
done, whereas a parallel loop of Numba ends when every thread has had its turn.

Nobody spins for long. A caller that waits for a helper inside goes to sleep; where that takes long, the system has put
a helper aside in the middle of a piece: other programs want the cores. Then helpers without work go to sleep sooner for
a while, and short loops run alone, since a turn of another program is longer than they are.

The helpers are threads of Python that stay in compiled code, without the interpreter's lock. A process has one set of
them, as many as its largest team asked for; smaller teams are some of them. After a fork they are made anew. Two
callers at once: the second one does its work alone.

The words of a team (uint64, each in a cache line of its own) are what kernels get as ``team``; all teams have the same
words, and one of k members ends k items behind them: :func:`members_of` tells its size by its length. ``DOOR`` holds,
from the top: the number of the shared loop (32 bits), whether it is closed, how many helpers have come (15 bits), how
many are inside (16 bits).
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from types import FunctionType

import numpy as np

from bigbfs.jit import settings
from bigbfs.jit.atomics import compare_and_swap, fetch_add, fetch_or, load, store
from bigbfs.jit.elsewhere import MASK, MASKS, keep_off, processor
from bigbfs.jit.njit import njit
from bigbfs.jit.sleeping import clock, pause, sleep, wake
from bigbfs.jit.tasks import call, given_to

_LINE = 8
DOOR, BELL, SLEEPERS, WAITING, TAKEN, JOB, HELPERS, STOP, CAUTION = (_LINE * place for place in range(9))
"""Places in the words; JOB is followed by the addresses of code and arguments, the most helpers, the failures, and the
processor that the caller runs on."""
_WORDS = 9 * _LINE
_CODE, _PLACE, _MOST, _FAILED, _CALLER = (JOB + place for place in range(5))
MOST_MEMBERS = 2**15 - 1
"""Of one team: helpers that come are counted in 15 bits."""

SPINS = 200_000
"""Looks of a helper before it sleeps, each with a pause: some 5 ms, since to be woken takes 10 to 150 us."""

FEW_SPINS = 5000
"""Looks of a caller that waits for a helper inside, and of helpers where one was put aside: 0.1 to 0.2 ms."""

LONG = 200
"""Work that is shared whatever happened before: some milliseconds, as long as the system lets a thread run."""

WORTH_WAKING = 8
"""Work for which helpers that sleep are woken."""

CAUTIOUS = 32
"""Loops for which it counts that a helper inside was late: those of less than ``LONG`` run alone."""

LATE = 1_000_000
"""Nanoseconds of sleep after which a helper inside is late; pieces are shorter, turns of other programs longer."""

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_INSIDE = np.uint64(0xFFFF)
_COMES = np.uint64(0x10001)
_ARRIVED, _ARRIVED_SHIFT = np.uint64(0x7FFF), np.uint64(16)
_CLOSED = np.uint64(1 << 31)
_NUMBER_SHIFT = np.uint64(32)
_SPINS, _FEW_SPINS = np.uint64(SPINS), np.uint64(FEW_SPINS)
_LONG, _WORTH_WAKING = np.uint64(LONG), np.uint64(WORTH_WAKING)
_SOMETIMES = np.uint64(63)
_CAUTIOUS, _LATE = np.uint64(CAUTIOUS), np.uint64(LATE)


@njit(nogil=True, cache=True)
def serve(team, masks):
    """Help with one shared loop after another: what a helper's thread runs. With ``STOP`` set, wake all and return.

    ``masks`` are those of this thread (:func:`bigbfs.jit.elsewhere.keep_off`).
    """
    last, looks = load(team, DOOR) >> _NUMBER_SHIFT, _ZERO
    while load(team, STOP) == _ZERO:
        door = load(team, DOOR)
        number, came = door >> _NUMBER_SHIFT, (door >> _ARRIVED_SHIFT) & _ARRIVED
        if number != last and door & _CLOSED == _ZERO and came < load(team, _MOST):
            if compare_and_swap(team, DOOR, door, door + _COMES) != door:
                continue
            if call(load(team, _CODE), load(team, _PLACE), came + _ONE) != _ZERO:
                fetch_add(team, _FAILED, _ONE)
            after = fetch_add(team, DOOR, ~_ZERO) - _ONE
            if after & _CLOSED != _ZERO and after & _INSIDE == _ZERO and fetch_add(team, WAITING, _ONE) != _ZERO:
                wake(team, WAITING, _ONE)
            last, looks = number, _ZERO
        elif looks < (_SPINS if load(team, CAUTION) == _ZERO else _FEW_SPINS):
            looks += _ONE
            pause()
            if looks & _SOMETIMES == _ONE and processor() == load(team, _CALLER):
                looks = looks if keep_off(masks, processor()) else _SPINS
        else:  # the bell is read before the last look, so that a ring after that look wakes
            fetch_add(team, SLEEPERS, _ONE)
            bell = fetch_add(team, BELL, _ZERO)
            keep_off(masks, load(team, _CALLER))  # so that it is not woken there
            if load(team, STOP) == _ZERO and load(team, DOOR) >> _NUMBER_SHIFT == number:
                sleep(team, BELL, bell)
            fetch_add(team, SLEEPERS, ~_ZERO)
            looks = _ZERO
    fetch_add(team, BELL, _ONE)
    wake(team, BELL, _INSIDE)


@njit
def _run(team, work, code, place):
    """Call a task of so much ``work``; return how many members failed."""
    members, caution = min(work, np.uint64(len(team) - _WORDS)), load(team, CAUTION)
    if caution != _ZERO:
        store(team, CAUTION, caution - _ONE)
    if (caution != _ZERO and work < _LONG) or members <= _ONE:
        return call(code, place, _ZERO)
    if compare_and_swap(team, TAKEN, _ZERO, _ONE) != _ZERO:
        return call(code, place, _ZERO)
    number = (load(team, DOOR) >> _NUMBER_SHIFT) + _ONE
    store(team, _CODE, code)
    store(team, _PLACE, place)
    store(team, _MOST, members - _ONE)
    store(team, _FAILED, _ZERO)
    store(team, _CALLER, processor())
    store(team, WAITING, _ZERO)
    fetch_add(team, DOOR, (number << _NUMBER_SHIFT) - load(team, DOOR))  # open, with nobody inside
    fetch_add(team, BELL, _ONE)
    awake = load(team, HELPERS) - fetch_add(team, SLEEPERS, _ZERO)
    if awake < members - _ONE and work >= _WORTH_WAKING:  # no more of a larger team's than this one has
        wake(team, BELL, members - _ONE - awake)
    failed = call(code, place, _ZERO)
    looks, since = _ZERO, _ZERO
    inside = fetch_or(team, DOOR, _CLOSED) & _INSIDE
    while inside != _ZERO:
        if looks < _FEW_SPINS:
            looks += _ONE
            pause()
        else:
            since = clock() if since == _ZERO else since
            told = fetch_add(team, WAITING, _ONE) + _ONE
            if fetch_add(team, DOOR, _ZERO) & _INSIDE != _ZERO:
                sleep(team, WAITING, told)
        inside = load(team, DOOR) & _INSIDE
    fetch_add(team, DOOR, _ZERO)  # what they have written is seen from here on
    if since != _ZERO and clock() - since > _LATE:
        store(team, CAUTION, _CAUTIOUS)
    failed += load(team, _FAILED)
    store(team, TAKEN, _ZERO)
    return failed


def members_of(team: np.ndarray) -> int:
    """Return how many threads a team has at most, the calling one among them."""
    return len(team) - _WORDS


def _each(team, work, member, arguments):
    """The same where kernels run as Python: one member after the other."""
    for t in range(min(int(work), members_of(team))):
        member(*arguments, np.uint64(t))


_FAILURE = "a kernel failed in a thread of its team; with NUMBA_DISABLE_JIT=1 it says why"
share = _each if settings.interpreted() else given_to(_run, _FAILURE)
"""share(team, work, member, arguments): see the module; ``work`` (uint64) says about how many times 10 us it takes."""


def member(function=None, *, name=None, allocates=False):
    """Compile what :func:`share` has called; the arrays that it is given must not overlap.

    A function that is compiled without that promise too needs another ``name`` here: compilers and caches go by names.
    ``allocates`` is for those that make arrays, as in :func:`bigbfs.jit.njit.njit`.
    """
    if function is None:
        return lambda decorated: member(decorated, name=name, allocates=allocates)
    if name is not None:
        function = FunctionType(function.__code__.replace(co_name=name), function.__globals__, name)
        function.__qualname__ = name
    return njit(function, apart=True, **({"allocates": True} if allocates else {}))


_HALF, _FRONT = np.uint64(32), np.uint64(2**32 - 1)


@njit
def pieces_of(items, size):
    """Return the number of pieces of ``size`` items (the last one of fewer) that so many ``items`` are cut into."""
    return (items + size - _ONE) // size


@njit
def take(claim, pieces, t):
    """Return the number of a piece for member ``t``, less than ``pieces``; ``pieces`` when all have been taken.

    ``claim[0]``, uint64, is 0 before the first. Even members go on from the front, odd ones from the back until they
    meet: what a thread has written in one loop it mostly finds in its own cache in the next.
    """
    mine = t & _ONE
    taken = fetch_add(claim, 0, _ONE << (_HALF * mine))
    front, back = taken & _FRONT, taken >> _HALF
    if front + back >= pieces:
        return pieces
    return front if mine == _ZERO else pieces - _ONE - back


class Team:
    """Helpers, and the words that they share work by; none is there before one is asked for."""

    def __init__(self) -> None:
        raw = np.zeros(_LINE + _WORDS + MOST_MEMBERS, np.uint64)  # only what is touched takes memory
        skip = -raw.ctypes.data % (8 * _LINE) // 8
        self._words = raw[skip : skip + _WORDS + MOST_MEMBERS]
        self.forget()

    def forget(self) -> None:
        """Be as if no helper had ever been started: what is true after a fork."""
        self._words[:_WORDS] = 0
        self._helpers: list[threading.Thread] = []
        self._most = MOST_MEMBERS
        self._starting = threading.Lock()

    def start(self, members: int) -> np.ndarray:
        """Start the helpers that a team of so many ``members`` lacks; return the words by which it shares work.

        Where the system gives no more threads the team is smaller: those that are there do the work.
        """
        if len(self._helpers) < min(members, self._most) - 1 and not settings.interpreted():
            with self._starting:
                self._start(members)
        return self._words[: _WORDS + max(1, min(members, self._most))]

    def _start(self, members: int) -> None:
        """Start what is missing; for one thread at a time."""
        if not self._helpers:  # compiled, or loaded, by one thread for all
            self._words[STOP] = 1
            serve(self._words, _masks())
            self._words[STOP] = 0
        while len(self._helpers) < min(members, self._most) - 1:
            helper = threading.Thread(target=serve, args=(self._words, _masks()), name="bigbfs-helper", daemon=True)
            self._helpers.append(helper)  # first: Ctrl-C may come once it runs, and nobody would ever end it
            self._words[HELPERS] = len(self._helpers)
            try:
                helper.start()
            except RuntimeError:
                self._helpers.pop()
                self._words[HELPERS] = len(self._helpers)
                self._most = len(self._helpers) + 1
                return

    def stop(self) -> None:
        """End the helpers: they must be in no compiled code any more when the interpreter takes it down."""
        if self._helpers:
            self._words[STOP] = 1
            serve(self._words, _masks())
        for helper in self._helpers:
            _join(helper)


def _join(helper: threading.Thread) -> None:
    """Wait until a thread has ended, one too that an interrupt came to while it was started."""
    give_up = time.monotonic() + 1
    while time.monotonic() < give_up:
        try:
            helper.join()
            return
        except RuntimeError:  # it does not run yet, or never will
            time.sleep(0.001)


def _masks() -> np.ndarray:
    """Return what a thread of a team notes its processors in."""
    return np.zeros((MASKS, MASK), np.uint64)


_TEAM = Team()


def team_of(members: int) -> np.ndarray:
    """Return the words of a team of so many threads, the calling one among them, and have its helpers started."""
    return _TEAM.start(members)


os.register_at_fork(after_in_child=_TEAM.forget)
atexit.register(_TEAM.stop)
