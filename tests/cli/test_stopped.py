"""Many searches that ended before all was known: what they say of that."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from bigbfs.algorithms.many import validate
from bigbfs.algorithms.many.cpu.program import CpuMany
from bigbfs.cli import manyopts, stopping
from bigbfs.jit import compiling
from bigbfs.measures.outcome import Known
from bigbfs.measures.placing import Until

UNPROVED = "stopped before what was found was proved"


@pytest.fixture
def grid(run, folder):
    """g.csrbin in the working folder: a grid of 1,024 vertices."""
    assert run("generate", "grid2d", "--scale", 10, "-o", "g.csrbin")[0] == 0
    return folder


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("closeness",), 0),
        (("hops",), 0),
        (("eccentricity",), 0),
        (("diameter", "--component", "all"), 0),
        (("distances", "--sources", "all"), 130),
        (("distances", "--sources", "all", "-o", "D.npy"), 130),
    ],
)
def test_ctrl_c_ends_a_run_without_its_proof(run, grid, monkeypatch, command, code):
    """Which takes longer than what it proves: who stops a run does not wait for it."""
    ask, asked = Until.__call__, []

    def stopped(self):
        if not asked:
            asked.append(self)
            signal.raise_signal(signal.SIGINT)
        return ask(self)

    def never(*arguments):
        raise AssertionError("proved")

    monkeypatch.setattr(Until, "__call__", stopped)
    monkeypatch.setattr(CpuMany, "verify", never)
    monkeypatch.setattr(Known, "verify", never)
    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as unstopped:  # kernels are there afterwards: nobody waits for them at Ctrl-C
        unstopped.setattr(Until, "__call__", ask)
        assert run(command[0], "g.csrbin", *command[1:], "--threads", 1)[0] == 0
    found, out, err = run(command[0], "g.csrbin", *command[1:], "--verify", "--json", "--threads", 1)
    assert found == code and "stopping after this batch" in err and f"note: {UNPROVED}" in err
    answer = json.loads(out)
    assert answer["verified"] is None and answer["notes"][-1].startswith(UNPROVED)
    assert answer["stopped"] is (answer.get("asked", 1024) > answer["searches"] and not answer.get("exact", False))
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("command", [("closeness",), ("hops",), ("distances", "--sources", "random:300")])
def test_ctrl_c_in_a_proof_ends_it(run, grid, monkeypatch, command):
    calls, look = [], validate.validate_levels

    def stopped(*arguments, **options):
        calls.append(arguments)
        signal.raise_signal(signal.SIGINT)
        return look(*arguments, **options)

    monkeypatch.setattr(validate, "validate_levels", stopped)
    code, out, err = run(command[0], "g.csrbin", *command[1:], "--verify", "--threads", 1)
    assert code == (130 if command[0] == "distances" else 0) and len(calls) == 1, err
    assert UNPROVED in err and "verified" not in out


@pytest.mark.parametrize("command", ["closeness", "hops", "eccentricity", "diameter"])
def test_time_that_is_up_is_no_reason_to_leave_a_proof_out(run, grid, command):
    code, out, err = run(command, "g.csrbin", "--seconds", 0, "--verify", "--json")
    assert (code, err) == (0, "") and json.loads(out)["verified"] is True
    assert json.loads(out)["stopped"] is True
    if command in ("closeness", "hops"):
        assert json.loads(out)["searches"] == 1  # and not as many as go at once


@pytest.mark.parametrize(
    "command", [("closeness",), ("hops",), ("eccentricity",), ("diameter",), ("distances", "--sources", "all")]
)
def test_who_comes_to_an_end_is_not_stopped(run, grid, command):
    code, out, err = run(command[0], "g.csrbin", *command[1:], "--seconds", 600, "--json")
    assert code == 0 and json.loads(out)["stopped"] is False, err


def test_no_time_at_all_is_one_batch_and_not_a_table_of_zeros(run, small):
    code, out, err = run("closeness", "--seconds", 0)
    said = " ".join(out.split())
    assert code == 0 and "1 of 5 vertices was a source" in said and "to that one alone; let it search longer" in said, (
        err
    )
    assert "stopped 1 of 5 sources searched from" in said and out.splitlines()[4].split()[1] != "0"
    found = json.loads(run("hops", "--seconds", 0, "--json")[1])
    assert (found["searches"], found["exact"], found["stopped"]) == (1, False, True)


def test_who_is_stopped_says_so_and_names_nobody_whose_place_is_open(run, tmp_path, monkeypatch):
    """A grid whose first corner is searched from: it is the farthest, and known to be, while the centre is not."""
    monkeypatch.chdir(tmp_path)
    assert run("generate", "grid2d", "--scale", 10, "-o", "g.csrbin")[0] == 0
    code, out, err = run("eccentricity", "g.csrbin", "--seconds", 0)
    assert code == 0, err
    assert "centre      not known yet" in out and "known       1 of 1,024" in out
    found = json.loads(run("eccentricity", "g.csrbin", "--seconds", 0, "--json")[1])
    assert found["centre"] == [] and not found["exact"]
    code, out, err = run("closeness", "g.csrbin", "--seconds", 0)
    assert code == 0, err
    assert ("stopped" in out) == ("sample" in out)
    code, out, err = run("closeness", "g.csrbin", "--sources", "random:5")
    assert code == 0 and "sample" in out and "stopped" not in out, err
    (tmp_path / "apart.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(200)) + "500 501\n501 502\n")
    code, out, err = run("closeness", "apart.txt", "--sources", "random:5")
    assert code == 0 and "3 vertices that fewer than 2 sources reach: no value" in " ".join(out.split()), err


@pytest.fixture
def told():
    """SIGINT raises KeyboardInterrupt, as a command line has it, and nobody waits for kernels to be compiled."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
    compiling.tell(lambda: None)


def test_ctrl_c_while_the_first_kernels_are_compiled_ends_at_once(told, capsys):
    with pytest.raises(KeyboardInterrupt), manyopts.stopping(), compiling.measured("one"):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), manyopts.stopping() as stop:
        with compiling.measured("one"):
            pass
        signal.raise_signal(signal.SIGINT)  # between two of them
        assert stop()
        compiling.begins("another")
    compiling.ends()
    assert capsys.readouterr().err.count("stopping") == 1


def test_ctrl_c_once_something_is_found_waits_for_kernels(told):
    with manyopts.stopping() as stop, compiling.measured("one"):
        stop.hearing(lambda count: None)(1)
        signal.raise_signal(signal.SIGINT)
        assert stop()
    with manyopts.stopping() as stop:
        signal.raise_signal(signal.SIGINT)
        stop.hearing(lambda count: None)(1)
        with compiling.measured("one"):
            assert stop()
    with manyopts.stopping():
        signal.raise_signal(signal.SIGINT)
    with compiling.measured("what comes afterwards"):
        pass


FIRST_RUN = """
import os, signal
from bigbfs.__main__ import main
from bigbfs.jit import ahead, compiling

begins = compiling.begins
if not LISTED:
    ahead.missed = lambda kernel, kinds: None

def interrupted(name=""):
    begins(name)
    if LISTED or "stopping" in signal.getsignal(signal.SIGINT).__qualname__:
        compiling.begins = begins
        os.kill(os.getpid(), signal.SIGINT)

compiling.begins = interrupted
main()
"""
"""A command line, with Ctrl-C as soon as the first kernel of its searches is compiled, or all that a list has."""


@pytest.mark.covered
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("command", [("diameter",), ("distances", "--sources", "all")])
def test_ctrl_c_in_a_first_run(grid, command, listed):
    script = FIRST_RUN.replace("LISTED", str(listed))
    words = [sys.executable, "-c", script, command[0], "g.csrbin", *command[1:]]
    empty = os.environ | {"NUMBA_CACHE_DIR": str(grid / "kernels")}
    done = subprocess.run(words, env=empty, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert done.stderr.splitlines()[-1] == "bigbfs: error: interrupted" and "stopping" not in done.stderr


TWICE = """
import signal, subprocess, sys, os
from bigbfs.cli import manyopts, stopping

def second(number, frame):
    print("ended at once")
    raise SystemExit(130)

signal.signal(signal.SIGINT, second)
with manyopts.stopping() as stop:
    stop.found = True
    kill = f"sleep 0.3; kill -INT {os.getpid()}; sleep {sys.argv[1]}; kill -INT {os.getpid()}"
    killing = subprocess.Popen(["sh", "-c", kill if sys.argv[1] != "never" else kill.partition("; sleep never")[0]])
    while killing.poll() is None:
        sum(range(10**8))  # a second or so in which no handler of Python runs
"""


@pytest.mark.parametrize(("apart", "code"), [("0.005", 130), pytest.param("never", 0, marks=pytest.mark.wide)])
def test_a_second_ctrl_c_counts_however_soon_it_comes(apart, code):
    done = subprocess.run([sys.executable, "-c", TWICE, apart], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    assert ("ended at once" in done.stdout) == (code == 130) and "Traceback" not in done.stderr


ENDED = """
import atexit, os, signal, sys
from bigbfs import __main__ as main
from bigbfs.cli import main as commands

atexit.register(print, "at exit")

class Late:
    def __del__(self, write=os.write):
        write(1, b"taken down")

commands.late = Late()

def run():
    print("begun", end=" ")
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))

commands.run = run
main.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_run_that_a_signal_ends_leaves_memory_as_it_is(name, code):
    """Compiled code may be half-made, and threads in it: what is to be done at exit is done, and no more."""
    done = subprocess.run([sys.executable, "-c", ENDED, name], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (code, "begun at exit\n")
    assert done.stderr == ("bigbfs: error: interrupted\n" if name == "SIGINT" else "")


BUSY = """
import hashlib, os, signal, sys, threading, time
from bigbfs.cli.stopping import stopping

def interrupt():
    for _ in range(int(sys.argv[1])):
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
with stopping() as stop:
    stop.found = True
    threading.Thread(target=interrupt).start()
    while threading.active_count() > 2 or not stop.asked:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 8_000_000)  # seconds in which no handler of Python runs
        print("returned", file=sys.stderr, flush=True)
"""
"""The main thread is where it hears nothing, as in compiled code, when Ctrl-C comes."""


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.wide), 2])
def test_ctrl_c_is_answered_while_compiled_code_runs(times):
    done = subprocess.run([sys.executable, "-c", BUSY, str(times)], capture_output=True, text=True, timeout=120)
    lines = done.stderr.splitlines()
    assert lines[0] == "bigbfs: stopping after this batch; once more ends at once", done.stderr
    if times == 1:
        assert (done.returncode, lines[1:]) == (0, ["returned"])
    else:  # which the main thread hears last
        assert lines[1] == "bigbfs: ending as soon as the step under way returns" and "KeyboardInterrupt" in lines[-1]


def test_each_answer_is_given_once(told, capsys):
    with stopping.stopping() as stop:
        stop.found = True
        with pytest.raises(KeyboardInterrupt):
            for _ in range(2):
                signal.raise_signal(signal.SIGINT)
        for _ in range(2):  # impatience, while what is under way does not return
            came = signal.set_wakeup_fd(-1)
            signal.set_wakeup_fd(came)
            os.write(came, bytes([signal.SIGINT]))
            time.sleep(2 * stopping.PATIENCE)
    first, second = capsys.readouterr().err.splitlines()
    assert "stopping after this batch" in first and "ending as soon as" in second


def test_ctrl_c_is_heard_where_there_are_no_more_threads(told, monkeypatch, capsys):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with stopping.stopping() as stop:
        stop.found = True
        signal.raise_signal(signal.SIGINT)
        assert stop()
    assert "stopping after this batch" in capsys.readouterr().err


def test_ctrl_c_that_cannot_be_answered_stops_all_the_same(told, monkeypatch):
    def gone(*words, err):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(stopping.click, "echo", gone)  # `2>&1 | tee log`: Ctrl-C has ended tee, too
    with stopping.stopping() as stop:
        stop.found = True
        signal.raise_signal(signal.SIGINT)
        assert stop()


@pytest.mark.parametrize("command", [("eccentricity",), ("diameter", "--component", "all")])
def test_a_second_ctrl_c_leaves_the_bounds_that_are_certified(run, grid, monkeypatch, command):
    ask, asked = Until.__call__, []

    def stopped(self):
        asked.append(self)
        if len(asked) > 1:  # bounds are known from the first batch on
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return ask(self)

    with monkeypatch.context() as interrupted:
        interrupted.setattr(Until, "__call__", stopped)
        code, out, err = run(command[0], "g.csrbin", *command[1:], "--threads", 1)
    assert (code, out) == (130, ""), err
    said = next((line for line in err.splitlines() if "certified" in line), "")
    low, *high = said.removeprefix("bigbfs: the diameter is ").removesuffix(" as far as is certified").split(" to ")
    assert int(low.replace(",", "")) <= 62 <= int((high or [low])[0].replace(",", "")), err
