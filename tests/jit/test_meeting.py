"""Meetings in shared memory: nobody goes on before all have come, and what was written before is seen."""

from __future__ import annotations

import threading

import numpy as np

from bigbfs.jit.meeting import all_there, arrive, words_of


def meet(words: np.ndarray, mine: int) -> None:
    meeting = np.uint64(arrive(words, np.uint64(mine)))
    while not all_there(words, meeting, np.uint64(100)):
        pass


def test_nobody_goes_on_before_all_have_come() -> None:
    words = np.zeros(words_of(3), np.uint64)
    for number in (0, 1):
        assert arrive(words, np.uint64(number)) == 1
        assert not all_there(words, np.uint64(1), np.uint64(3))
    assert arrive(words, np.uint64(2)) == 1
    assert all_there(words, np.uint64(1), np.uint64(0))
    assert arrive(words, np.uint64(2)) == 2  # who is ahead waits for the next
    assert not all_there(words, np.uint64(2), np.uint64(0))
    words[:] = np.uint64(2**64 - 1)  # counts go round
    for number in range(3):
        arrive(words, np.uint64(number))
    assert all_there(words, np.uint64(0), np.uint64(0))


def test_what_was_written_before_is_seen() -> None:
    words, seen = np.zeros(words_of(2), np.uint64), np.zeros(2, np.int64)
    wrong: list[int] = []

    def rank(mine: int) -> None:
        for turn in range(1, 201):
            seen[mine] = turn
            meet(words, mine)
            if seen[1 - mine] != turn:
                wrong.append(turn)
            meet(words, mine)

    threads = [threading.Thread(target=rank, args=(mine,)) for mine in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert words[0] == words[8] == 400
