"""Of processes that want the same kernel one compiles it, and the others load what it has made."""

import json
import os
import subprocess
import sys
import threading
import time

import numba
import pytest

from bigbfs.jit import claims
from bigbfs.jit.claims import ClaimedFiles

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

KERNELS = """
from bigbfs.jit.njit import njit

@njit(cache=True)
def inner(number):
    return number + 1

@njit(cache=True)
def outer(number):
    return inner(number) * 2

@njit(cache=True)
def wrong(number):
    return number.nowhere
"""
USE = """
import json, sys, time
sys.path.insert(0, ".")
import numba
from bigbfs.jit import compiling
import kernels
compiling.log = []
print("ready", flush=True)
sys.stdin.readline()
found = kernels.NAME(3)
print(json.dumps([found, sorted(name for name, *_ in compiling.log)]))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


def started(folder, name):
    """Return a process that waits for a line before it calls kernel ``name``."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-c", USE.replace("NAME", name)],
        cwd=folder, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n", process.communicate()
    return process


def told(process):
    said, errors = process.communicate("\n", timeout=120)
    assert process.returncode == 0, errors
    return json.loads(said)


def test_each_kernel_is_compiled_once_by_all_that_call_it_at_the_same_time(folder):
    """Ranks of one machine begin together: each compiled all of them."""
    processes = [started(folder, name) for name in ("outer", "outer", "inner")]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    found = [told(process) for process in processes]
    assert [value for value, _ in found] == [8, 8, 4]
    assert sorted(name for _, log in found for name in log) == ["kernels.inner", "kernels.outer"]


def test_what_does_not_compile_is_nobodys_afterwards(folder):
    """The one that failed goes on, and the other is told the same."""
    script = USE.replace(
        "found = kernels.NAME(3)",
        "try:\n    found = kernels.wrong(3)\nexcept Exception as error:\n"
        "    found = type(error).__name__\nprint(json.dumps(found), flush=True)\nsys.stdin.readline()",
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = []
    try:
        for _ in range(2):
            process = subprocess.Popen([sys.executable, "-c", script], cwd=folder, env=environment, text=True, **pipes)
            processes.append(process)
            process.stdin.write("\n")
            process.stdin.flush()
            assert [process.stdout.readline() for _ in range(2)] == ["ready\n", '"TypingError"\n'], (
                "well before a minute"
            )
    finally:
        for process in processes:
            process.communicate("\n", timeout=120)


def files(folder, *, data=None):
    made = ClaimedFiles(folder, "kernel", "here", "now", lambda it: __import__("pickle").dumps(it))
    if data is not None:
        made.save("key", data)
    return made


HOLD = """
import sys
from pathlib import Path
from bigbfs.jit import claims
print(claims.claim(Path(sys.argv[1])), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def held(tmp_path):
    """Another process that has the claim on ``key``."""
    command = [sys.executable, "-c", HOLD, str(files(tmp_path).path("key"))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "True\n"
    yield process
    process.kill()
    process.communicate(timeout=60)


def test_who_waits_gets_what_the_other_saves(tmp_path, held):
    waiting, found = files(tmp_path), []
    thread = threading.Thread(target=lambda: found.append(waiting.load("key")))
    thread.start()
    time.sleep(0.1)
    assert not found and not claims.claim(waiting.path("key"))
    files(tmp_path, data="machine code")
    held.kill()
    thread.join(60)
    assert found == ["machine code"]


def test_a_claim_ends_with_its_process(tmp_path, held):
    """Killed while it compiles: the next one does."""
    waiting = files(tmp_path)
    held.kill()
    assert waiting.alone(lambda signature: waiting.load("key"), threading.RLock())(()) is None
    assert claims.claim(waiting.path("key"))


def test_nobody_waits_for_ever(tmp_path, held, monkeypatch):
    monkeypatch.setattr(claims, "PATIENCE", 0.05)
    assert files(tmp_path).load("key") is None
    assert held.poll() is None


def test_where_no_claim_can_be_made_everybody_compiles(tmp_path):
    nowhere = files(tmp_path / "nowhere")
    assert nowhere.load("key") is None and claims.claim(nowhere.path("key"))
