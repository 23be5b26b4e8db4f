"""Letters between emulated GPUs: whether all of one has come, and what is in it (peers/meeting.cuh)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bigbfs.algorithms.bfs.gpu.peers import arguments
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()


def letters(build, name):
    """Return a kernel of kernels/letters.cu, and what runs it."""
    runtime = SimtRuntime(build=build)
    file = str(Path(__file__).parent / "kernels" / "letters.cu")
    return runtime, KernelSpec(file, name, arguments.DEFINES, team=True).build(runtime, np.dtype(np.uint32), "plain")


@pytest.mark.parametrize("build", HERE)
def test_a_letter_has_come_when_all_its_words_have(build):
    """Letters that lack one word each: it is still that of the meeting before the last."""
    number, words = 2**32 + 7, 2 * len(arguments.LETTER)
    whole = np.full((words + 1, words), (number & 0xFFFFFFFF) << 32, np.uint64) + np.arange(words, dtype=np.uint64)
    whole[np.arange(words), np.arange(words)] -= np.uint64(2 << 32)
    runtime, kernel = letters(build, "letters_come")
    come, values = runtime.zeros(words + 1, np.uint32), runtime.zeros((words + 1) * words // 2, np.uint64)
    kernel(1, 32, (runtime.upload(whole.reshape(-1)), np.uint64(words + 1), np.uint64(number), come, values))
    assert runtime.download(come).tolist() == [0] * words + [1]
    told = runtime.download(values).reshape(words + 1, -1)
    assert not told[:-1].any()
    assert told[-1].tolist() == [2 * i | (2 * i + 1) << 32 for i in range(words // 2)]


@pytest.mark.parametrize("build", HERE)
def test_a_letter_that_is_left_is_read(build):
    number, fields = 3, len(arguments.LETTER)
    values = np.array([2**63 + 5, 0, 2**32 - 1, 1, 2**40][:fields], np.uint64)
    runtime, leave = letters(build, "letters_leave")
    letter = runtime.zeros(2 * fields, np.uint64)
    leave(1, 32, (letter, runtime.upload(values), np.uint64(number)))
    runtime, come = letters(build, "letters_come")
    there, read = runtime.zeros(1, np.uint32), runtime.zeros(fields, np.uint64)
    come(1, 32, (letter, np.uint64(1), np.uint64(number), there, read))
    assert runtime.download(there).tolist() == [1]
    assert runtime.download(read).tolist() == values.tolist()
