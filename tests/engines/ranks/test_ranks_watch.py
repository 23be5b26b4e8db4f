"""Who is taken for stopped: a rank that stands still and is stopped at once, one that gets no core much later."""

from __future__ import annotations

import subprocess
import sys

import pytest

WATCH = """
import os, signal, subprocess, sys, time
import numpy as np
from bigbfs.engines.ranks import watch

watch.BEAT_SECONDS, watch.STARVED = 0.02, int(sys.argv[2])
other = subprocess.Popen(["sleep", "60"])  # counts never
try:
    if sys.argv[1] == "stop":
        os.kill(other.pid, signal.SIGSTOP)
    watch.Neighbours([(1, "h", other.pid)], lambda code: other.kill(), np.zeros(2, np.int64), 0, 0.5)
    time.sleep(float(sys.argv[3]))
    print("still here")
finally:
    other.kill()
"""


@pytest.mark.parametrize(
    ("state", "patience", "seconds", "code", "said"),
    [
        ("stop", 1000, 60, 9, "has not moved for 0.5 s: it is stopped"),
        ("run", 1000, 2, 0, ""),
        ("run", 2, 60, 9, "has not moved for 1 s: it hangs, or gets no core"),
    ],
)
def test_a_rank_that_stands_still_is_asked_for_its_state(
    state: str, patience: int, seconds: int, code: int, said: str
) -> None:
    command = [sys.executable, "-c", WATCH, state, str(patience), str(seconds)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (code, "" if code else "still here\n"), ran.stderr
    assert said in ran.stderr
