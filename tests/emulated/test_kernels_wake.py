"""What wakes the links between GPUs: a word of each line in the memory of every other, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.gpu.peers.arguments import most_words
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.gpu.ranks.arguments import DEFINES, PART
from bigbfs.engines.gpu.runtime.arguments import BLOCK, WARP, struct
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from emulated.peers import Peers, label, search
from emulated.runtime import SimtRuntime, builds_here

LINE = 16


@pytest.mark.parametrize("build", builds_here())
@pytest.mark.parametrize("words", [0, 1, LINE, 5 * LINE + 1, 1000, 2000])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_line_of_each_other_rank_is_stored(build, words, rank):
    """Past `words`, and where no thread is left, nothing is: memory behind it may be another array's."""
    runtime, size, before, threads = SimtRuntime(build=build), 3, 4, 64
    memory = [runtime.upload(np.full(before + 2048, 7, np.uint64)) for _ in range(size)]
    bases = runtime.upload(np.array([runtime.pointer(each) for each in memory], np.uint64))
    file = str(Path(__file__).parent / "kernels" / "wake.cu")
    wake = KernelSpec(file, "wake", DEFINES).build(runtime, np.dtype(np.uint32), "plain")
    part = struct(PART, rank=rank, size=size)
    wake(2, threads // 2, (part, bases, np.uint64(8 * before), np.uint64(words)))
    expected = np.full(before + 2048, 7, np.uint64)
    expected[before : before + words : LINE][:threads] = 0
    for number, each in enumerate(memory):
        np.testing.assert_array_equal(runtime.download(each), 7 if number == rank else expected)


def woken(words, threads):
    """Return 7s of which the words that so many threads store are 0."""
    expected = np.full(words, 7, np.uint64)
    expected[::LINE][:threads] = 0
    return expected


@pytest.mark.parametrize("build", builds_here())
@pytest.mark.parametrize("whole", [True, False])
def test_a_search_wakes_by_what_it_does_not_use(build, whole):
    """The part of `told` that is the sender's, in the memory of each other rank; the search stores nothing there."""
    plain, size, told = zoo.shared()["kronecker"], 3, {}

    def touch(state):
        part = most_words(state.partition)
        mine = state._shared.own("told", 8 * size * part).view(np.uint64)
        mine[:] = 7
        run, threads = state.run, state._runtime.sm_count * WARP

        def watched(*arguments):
            found = run(*arguments)
            told[state.group.rank] = state._runtime.download(mine).reshape(size, part), woken(part, threads)
            return found

        state.run = watched

    search(plain, build, Peers(size, whole=whole, touch=touch), [(0, None)])
    assert sorted(told) == list(range(size))
    for rank, (stored, by_other) in told.items():
        for sender in range(size):
            np.testing.assert_array_equal(stored[sender], 7 if sender == rank else by_other)


@pytest.mark.parametrize("build", builds_here())
def test_components_wake_by_what_a_run_writes_anew(build):
    plain, told = zoo.shared()["kronecker"], {}

    def touch(forest):
        mine = forest._told.view(np.uint64)
        begin, threads = forest._meetings.begin_together, BLOCK * forest._runtime.sm_count

        def watched(ranks):
            mine[:] = 7
            forest.group.barrier()
            begin(ranks)
            told[forest.group.rank] = forest._runtime.download(mine), woken(len(mine), threads)

        forest._meetings.begin_together = watched

    label(plain, build, Peers(2, touch=touch), (ComponentsOptions(),))
    assert sorted(told) == [0, 1]
    for stored, expected in told.values():
        np.testing.assert_array_equal(stored, expected)
