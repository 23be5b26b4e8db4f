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


GONE = """
import os, subprocess, sys, time
import numpy as np
from bigbfs.engines.ranks import watch

watch.BEAT_SECONDS = 0.02

def refuse(process, flags=0):
    raise PermissionError(1, "Operation not permitted")

if sys.argv[1] != "descriptor":
    os.pidfd_open = refuse
other = subprocess.Popen(["sleep", "60"])
try:
    if sys.argv[2] == "before":
        other.kill(), other.wait()
    watch.Neighbours([(1, "h", other.pid)], lambda code: None, None, 0, 60)
    time.sleep(0.2)
    if sys.argv[2] == "zombie":
        other.kill()
    elif sys.argv[2] == "later":
        other.kill(), other.wait()
    time.sleep(0.5 if sys.argv[2] == "never" else 60)
    print("still here")
finally:
    other.kill()
"""


@pytest.mark.covered
@pytest.mark.parametrize("how", ["descriptor", "number"])
@pytest.mark.parametrize(("when", "code"), [("before", 9), ("later", 9), ("zombie", 9), ("never", 0)])
def test_a_rank_that_has_gone_is_named(how: str, when: str, code: int) -> None:
    """Also without descriptors of processes, or where it went before it was watched; no launcher ends the others."""
    ran = subprocess.run([sys.executable, "-c", GONE, how, when], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (code, "" if code else "still here\n"), ran.stderr
    assert bool(code) == ("rank 1 (host h, process " in ran.stderr and "has gone" in ran.stderr)


GRACE = """
import os, signal, subprocess, sys, time
import numpy as np
from bigbfs.engines.ranks import watch

watch.BEAT_SECONDS, watch.GRACE_SECONDS = 0.02, 1.5
other = subprocess.Popen(["sleep", "60"])
watching = watch.Neighbours([(1, "h", other.pid)], lambda code: None, None, 0, 60)
other.kill(), other.wait()
time.sleep(0.5)
if sys.argv[1] == "launcher":
    os.kill(os.getpid(), signal.SIGTERM)
if sys.argv[1] == "leaves":
    watching.close()
time.sleep(3)
print("still here")
"""


@pytest.mark.parametrize(("who", "code"), [("launcher", -15), ("leaves", 0), ("nobody", 9)])
def test_the_launcher_has_time_to_end_this_rank_with_the_code_of_the_cause(who: str, code: int) -> None:
    ran = subprocess.run([sys.executable, "-c", GRACE, who], capture_output=True, text=True)
    assert ran.returncode == code, ran.stderr
    assert ("has gone" in ran.stderr) == (who == "nobody")
