"""Threads that share a loop: every piece once, whoever comes, and nobody waits for a helper that does not."""

import threading

import numba
import numpy as np
import pytest
from numba import njit

from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.njit import njit as package_njit
from bigbfs.jit.team import Team, members_of, pieces_of, share, take, team_of

ONE = np.uint64(1)
compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there are no helpers")


@njit
def _take(claim, pieces, times, mine, t):
    while True:
        piece = fetch_add(claim, 0, ONE)
        if piece >= pieces:
            break
        times[piece] += ONE
        mine[t * np.uint64(8)] += ONE


@njit(nogil=True)
def rounds(team, work, number, claim, times, mine):
    """Share the pieces ``times`` so many times over."""
    for _ in range(number):
        claim[0] = 0
        share(team, work, _take, (claim, np.uint64(len(times)), times, mine))


def run(team, number=300, pieces=200, work=2**20):
    claim, times, mine = (np.zeros(length, np.uint64) for length in (8, pieces, 64))
    rounds(team, np.uint64(work), number, claim, times, mine)
    assert (times == number).all()
    assert mine.sum() == number * pieces
    return mine[::8]


@pytest.mark.parametrize("members", [1, 2, 5])
def test_every_piece_is_taken_once_by_members_with_numbers_of_their_own(members):
    assert not run(team_of(members))[members:].any()
    assert members_of(team_of(members)) == members


def test_helpers_that_never_come_are_not_waited_for():
    assert not run(np.zeros_like(team_of(4)))[1:].any()


def test_no_more_members_than_there_is_work_for():
    assert not run(team_of(5), work=1)[1:].any()


@njit
def taken(pieces, turns):
    claim, order = np.zeros(1, np.uint64), np.zeros(turns.size, np.uint64)
    for i in range(turns.size):
        order[i] = take(claim, pieces, turns[i])
    return order


@pytest.mark.parametrize(
    ("turns", "order"),
    [([0, 0, 0, 0, 0, 1], [0, 1, 2, 3, 4, 4]), ([1, 3, 1, 1, 0], [3, 2, 1, 0, 4]), ([0, 1, 2, 5, 1], [0, 3, 1, 2, 4])],
)
def test_pieces_are_taken_from_both_ends_until_these_meet(turns, order):
    assert taken(np.uint64(4), np.array(turns, np.uint64)).tolist() == order
    assert taken(np.uint64(0), np.array(turns, np.uint64)).tolist() == [0] * len(turns)


@pytest.mark.parametrize(("items", "pieces"), [(0, 0), (1, 1), (64, 1), (65, 2), (128, 2)])
def test_the_last_piece_has_what_is_left(items, pieces):
    assert taken_apart(np.uint64(items), np.uint64(64)) == pieces


@njit
def taken_apart(items, size):
    return pieces_of(items, size)


def test_two_callers_at_once():
    done = []
    callers = [threading.Thread(target=lambda: done.append(run(team_of(2)))) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(done) == 3


@compiled
def test_helpers_help_and_go():
    team = Team()
    claim, times, mine = (np.zeros(length, np.uint64) for length in (8, 1000, 64))
    for _ in range(10_000):  # on a busy machine helpers may come late
        rounds(team.start(3), np.uint64(200), 1, claim, times, mine)
        if mine[8:].any():
            break
    assert mine[8:].any()
    before = threading.active_count()
    assert members_of(team.start(2)) == 2
    assert threading.active_count() == before, "a smaller team is some of the same threads"
    run(team.start(2))
    team.stop()
    assert threading.active_count() == before - 2


@compiled
def test_no_more_members_than_the_system_gives_threads(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    team = Team()
    assert members_of(team.start(3)) == 1
    run(team.start(3))


@njit
def _fail(t):
    if t >= 0:
        raise ValueError


@njit
def fail(team):
    share(team, ONE, _fail, ())


@compiled
def test_a_member_that_fails_is_heard_of():
    with pytest.raises(RuntimeError, match="failed in a thread"):
        fail(team_of(2))
    run(team_of(2))


def kernel_of(text, **options):
    """Return the kernel that ``text`` defines, made as those of the package that kernels alone call."""
    names = {"np": np, "__name__": "bigbfs.made_for_a_test"}
    exec(text, names)
    return package_njit(names["inner"], **options)


@compiled
def test_kernels_that_kernels_call_count_no_references():
    """Threads of a team would hand the cache lines of the counts back and forth: that made two slower than one."""
    inner = kernel_of(
        "def inner(arrays, v):\n"
        "    total = 0\n"
        "    for i in range(v):\n"
        "        if arrays[0][i] & 1:\n"
        "            row = arrays[1]\n"
        "            total += row[i]\n"
        "    return total\n"
    ).real()

    @njit
    def outer(arrays, v):
        return inner(arrays, v)

    arrays = (np.arange(8), np.arange(8) * 10)
    assert outer(arrays, 8) == 10 + 30 + 50 + 70
    (signature,) = inner.overloads
    assert "NRT_incref" not in inner.inspect_llvm(signature)


@compiled
def test_a_kernel_makes_arrays_where_it_says_so():
    text = "def inner(n):\n    return np.arange(n)[::-1].copy()[0]\n"
    maker = kernel_of(text, allocates=True).real()

    @njit
    def outer(n):
        return maker(n)

    assert outer(5) == 4
    refused = kernel_of(text).real()

    @njit
    def wrong(n):
        return refused(n)

    with pytest.raises(numba.core.errors.TypingError, match="returning of array"):
        wrong(5)


@compiled
def test_a_helper_is_ended_though_an_interrupt_came_while_it_was_started(monkeypatch):
    """Nobody would end it else, and the interpreter takes the memory down that it reads."""
    team, start, started = Team(), threading.Thread.start, []

    def interrupted(thread):
        start(thread)
        started.append(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        team.start(2)
    monkeypatch.undo()
    team.stop()
    assert [thread.is_alive() for thread in started] == [False]


@compiled
def test_a_helper_that_an_interrupt_came_before_is_not_waited_for_without_end(monkeypatch):
    team = Team()

    def interrupted(thread):
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        team.start(2)
    monkeypatch.undo()
    team.stop()
