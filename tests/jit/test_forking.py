"""What was forked works: it never dies, and never hangs. Every script has a time limit."""

import subprocess
import sys

import pytest
from wide import split

from bigbfs import errors
from bigbfs.jit import forking

START = """
import multiprocessing, os, sys
import numpy as np
import bigbfs

def path():
    return bigbfs.Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1])

def job(source):
    return bigbfs.bfs(path(), source, backend="cpu").levels.tolist()

def in_child(work):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except bigbfs.BigBfsError as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    os.close(writing)
    assert status == 0, status
    return os.read(reading, 10_000).decode()
"""

AFTER_USE = """
assert job(0) == [0, 1, 2]
assert in_child(lambda: job(1)) == "[1, 0, 1]"
assert in_child(lambda: in_child(lambda: job(1))) == "[1, 0, 1]", "a grandchild"
graph = path()
placed = bigbfs.engine(graph, backend="cpu")
assert in_child(lambda: placed.connected_components().labels.tolist()) == "[0, 0, 0]", "what the parent placed"
assert in_child(lambda: graph.compress().m) == "4", "a loop without an engine"
open("a.txt", "w").write("1 2\\n2 3\\n")
assert in_child(lambda: bigbfs.convert("a.txt", compressed=True).edges) == "4"
assert job(2) == [2, 1, 0], "the parent goes on"
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(job, [0, 1]).get(timeout=300) == [[0, 1, 2], [1, 0, 1]]
"""

WHILE_OTHERS_LOAD = """
import threading, time
from bigbfs.jit import interpreted, loaded
from bigbfs.jit.njit import njit

def while_held(lock, work):
    entered = threading.Event()
    def hold():
        with lock:
            entered.set()
            time.sleep(1)
    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait()
    said = in_child(work)
    holder.join()
    return said

assert while_held(loaded.LOCK, lambda: job(1)) == "[1, 0, 1]", "loading"
assert job(0) == [0, 1, 2]
assert while_held(interpreted._LOCK, lambda: interpreted.fetch_add(np.zeros(1, int), 0, 1)) == "0", "as Python"
from numba.core.compiler_lock import global_compiler_lock
assert while_held(global_compiler_lock, lambda: njit(lambda a: a + 1)(1)) == "2", "compiling"
assert njit(lambda a: a + 2)(1) == 3
"""

BEFORE_USE = """
assert in_child(lambda: job(1)) == "[1, 0, 1]"
assert job(0) == [0, 1, 2]
"""

SPAWNED = """
if __name__ == "__main__":
    assert job(0) == [0, 1, 2]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map_async(job, [0, 1]).get(timeout=300) == [[0, 1, 2], [1, 0, 1]]
"""


SCRIPTS = {
    "after use": AFTER_USE,
    "before use": BEFORE_USE,
    "while others load": WHILE_OTHERS_LOAD,
    "spawn": SPAWNED,
}


@pytest.mark.parametrize("name", split(SCRIPTS, lambda name: name == "after use"))
def test_a_forked_process_works(tmp_path, name):
    (tmp_path / "script.py").write_text(START + SCRIPTS[name])
    command = [sys.executable, "-W", "ignore", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


def test_a_gpu_that_fails_in_a_child_says_that_it_was_forked(monkeypatch):
    with pytest.raises(errors.NoDeviceError), forking.of_a_gpu():
        raise errors.NoDeviceError("GPU 0 does not answer")
    monkeypatch.setitem(forking._state, "forked", True)
    with pytest.raises(errors.ForkError, match=r"forked, and a GPU .*GPU 0 does not answer.*spawn"), forking.of_a_gpu():
        raise errors.NoDeviceError("GPU 0 does not answer")
