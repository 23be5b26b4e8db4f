"""Atomics, bit operations and the threads that share out tasks."""

import os
import pickle
import resource
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest
from numba import njit
from wide import split

from bigbfs.jit import atomics, bits, kernel_cache
from bigbfs.jit import njit as jit
from bigbfs.jit.kernel_cache import KernelFiles
from bigbfs.jit.workers import Workers, balanced_ranges, ranges, run


@njit
def every_bit_operation(word):
    return bits.trailing_zeros(word), bits.leading_zeros(word), bits.population(word), bits.unforeseen(word)


@pytest.mark.parametrize("word", [0, 1, 6, 1 << 31, 1 << 32, 1 << 63, 2**64 - 1, 0x00F0_0000_0000_0000])
def test_bit_operations(word):
    low = (word & -word).bit_length() - 1 if word else 64
    assert every_bit_operation(np.uint64(word)) == (low, 64 - word.bit_length(), word.bit_count(), word)


@njit
def load(array, position):
    return bits.load_word(array, position)


@pytest.mark.parametrize("position", range(9))
def test_load_word_needs_no_alignment(position):
    text = np.arange(17, dtype=np.uint8)
    assert load(text, position) == int.from_bytes(text[position : position + 8].tobytes(), "little")


@njit(nogil=True)
def add_and_claim(counters, times, mine, wins):
    for i in range(times):
        atomics.fetch_add(counters, 0, counters.dtype.type(1))
        if atomics.compare_and_swap(counters, 1 + i, counters.dtype.type(0), mine) == 0:
            wins[0] += 1


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_no_update_is_lost_and_each_slot_has_one_winner(dtype):
    times, threads = 200_000, 4
    counters = np.zeros(1 + times, dtype)
    wins = np.zeros((threads, 8), np.int64)
    run(threads, add_and_claim, [(counters, times, dtype(t + 1), wins[t]) for t in range(threads)])
    assert counters[0] == threads * times
    assert wins[:, 0].sum() == times
    assert [np.count_nonzero(counters[1:] == t + 1) for t in range(threads)] == wins[:, 0].tolist()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_run_keeps_the_order_of_results(threads):
    assert run(threads, pow, [(i, 2) for i in range(100)]) == [i * i for i in range(100)]
    assert run(threads, pow, []) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_after_an_error_no_task_starts(threads):
    started = []

    def work(number):
        started.append(number)
        if number == 3:
            raise ValueError("task 3")

    with Workers(threads) as workers:
        with pytest.raises(ValueError, match="task 3"):
            workers.each(10_000, work)
        assert len(started) < 10_000
        done = []
        workers.each(5, done.append)  # still usable
        assert sorted(done) == [0, 1, 2, 3, 4]


def test_tasks_run_side_by_side():
    barrier = threading.Barrier(3, timeout=20)  # breaks unless three tasks are under way at once
    with Workers(3) as workers:
        workers.each(3, lambda _: barrier.wait())


def test_ranges():
    assert ranges(10, 3) == [(0, 3), (3, 6), (6, 10)]
    assert ranges(2, 5) == [(0, 1), (1, 2)]
    assert ranges(0, 4) == []


def test_balanced_ranges_follow_the_work():
    assert balanced_ranges(np.array([0, 100, 101, 102, 200], np.uint64), 2) == [(0, 1), (1, 4)]


WITH_NUMBA = {"NUMBA_OPT": "3"}
"""Its default; but a variable of Numba's that bigbfs does not know leaves every kernel to Numba and its cache."""
TWO_FILES = {
    "inner.py": "from bigbfs.jit.njit import njit\n\n@njit\ndef value():\n    return {value}\n",
    "outer.py": "from inner import value\nfrom bigbfs.jit.njit import njit\n\n@njit(cache=True)\ndef twice():\n"
    "    return 2 * value()\n",
}
RUN = (
    "import sys, pathlib\nfrom bigbfs.jit import njit as jit\nhere = pathlib.Path('.')\n"
    "stamp = jit.package_stamp(here)\njit.package_stamp = lambda: stamp\nsys.path.insert(0, '.')\n"
    "from outer import twice\nprint(twice(), sum(twice.stats.cache_hits.values()))\n"
)


def test_a_kernel_is_compiled_again_when_an_inlined_function_changes(tmp_path):
    """Numba's own cache went on running the old one: 2 * 5 stayed 10."""

    def run_with(value):
        for name, text in TWO_FILES.items():
            if not (tmp_path / name).exists() or "{value}" in text:
                (tmp_path / name).write_text(text.replace("{value}", str(value)))
        command, environment = [sys.executable, "-c", RUN], os.environ | WITH_NUMBA
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=environment)
        return done.stdout.split()

    assert run_with(5) == ["10", "0"]
    times = (tmp_path / "inner.py").stat()
    assert run_with(5)[0] == "10"
    os.utime(tmp_path / "inner.py", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert run_with(70) == ["140", "0"]


ONE_FILE = "from bigbfs.jit.njit import njit\n\n@njit(cache=True)\ndef twice(value):\n    return 2 * value\n"
CALL = (
    "import sys\nsys.path.insert(0, '.')\nfrom bigbfs.jit import njit as jit\njit.package_stamp = lambda: 'same'\n"
    "from kernel import twice\nprint(twice(21), sum(twice.stats.cache_hits.values()))\n"
)


def called(folder, **more):
    environment = os.environ | WITH_NUMBA | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", CALL]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=environment, **more)
    return done.stdout.split()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("damage", split([b"", b"garbage", None, "a page of zeros"], lambda damage: damage is None))
def test_a_damaged_cache_of_kernels_is_made_again(tmp_path, damage):
    (tmp_path / "kernel.py").write_text(ONE_FILE)
    assert called(tmp_path) == ["42", "0"]
    assert called(tmp_path) == ["42", "1"]
    for path in (tmp_path / "cache").rglob("*.nbc"):
        content = path.read_bytes()
        middle = len(content) // 2
        zeros = content[:middle] + bytes(64) + content[middle + 64 :]
        path.write_bytes(content[:-20] if damage is None else zeros if damage == "a page of zeros" else damage)
    assert called(tmp_path) == ["42", "0"]
    assert called(tmp_path) == ["42", "1"]


def save_at_once(folder, store_of):
    """Have eight threads, each with a store of its own like a process, save 20 kernels; return what is loaded then."""
    start = threading.Barrier(8)

    def save(thread):
        store = store_of(folder)
        start.wait()
        for number in range(20):
            store.save((thread, number), f"code of {thread}, {number}")

    threads = [threading.Thread(target=save, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {(thread, n): store_of(folder).load((thread, n)) for thread in range(8) for n in range(20)}


def test_processes_that_compile_at_once_do_not_mix_up_their_kernels(tmp_path):
    """Numba's own index does: the machine code of one signature is called with the arguments of another."""
    loaded = save_at_once(tmp_path, lambda folder: KernelFiles(folder, "f-1.py311", "here", "state", pickle.dumps))
    assert loaded == {key: f"code of {key[0]}, {key[1]}" for key in loaded}


def test_a_file_of_another_kernel_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_digest", lambda value: "0")
    store = KernelFiles(tmp_path, "f-1.py311", "here", "state", pickle.dumps)
    store.save("one", 1)
    assert (store.load("one"), store.load("two")) == (1, None)


def test_kernels_of_another_state_go_and_only_those_of_this_function(tmp_path):
    (tmp_path / "g-1.py311.1.nbc").touch()
    (tmp_path / "f-11.py311.1.nbc").touch()
    old, new = (KernelFiles(tmp_path, "f-1.py311", "here", state, pickle.dumps) for state in ("old", "new"))
    old.save("key", 1)
    assert (old.load("key"), new.load("key")) == (1, None)
    new.save("key", 2)
    new.save("other", 3)
    assert (old.load("key"), new.load("key"), new.load("other")) == (None, 2, 3)
    assert sum(path.name.startswith("f-1.") for path in tmp_path.iterdir()) == 2
    elsewhere = KernelFiles(tmp_path, "f-1.py311", "there", "old", pickle.dumps)
    elsewhere.save("key", 4)
    assert [new.load("key"), elsewhere.load("key")] == [2, 4], "machines that share a folder leave each other alone"
    elsewhere.flush()
    new.flush()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f-11.py311.1.nbc", "g-1.py311.1.nbc"]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_full_disk_under_the_cache_of_kernels(tmp_path, monkeypatch):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    (tmp_path / "kernel.py").write_text(ONE_FILE)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # Python before 3.11.4 leaves byte code that is cut off
    for _ in range(2):
        assert called(tmp_path, preexec_fn=limit) == ["42", "0"]


def test_no_folder_for_the_cache_of_kernels(monkeypatch):
    compiler = numba.njit

    def without_folder(*functions, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return compiler(*functions, **options)

    monkeypatch.setattr(numba, "njit", without_folder)
    assert jit.njit(cache=True)(lambda: 7)() == 7


def test_a_helper_that_does_not_come_is_not_waited_for():
    done, gate = [], threading.Event()
    with Workers(2) as workers:
        workers.each(2, done.append)
        busy = workers._pool.submit(gate.wait, 60)  # the only helper
        workers.each(3, done.append)
        assert not busy.done()
        gate.set()
    assert sorted(done) == [0, 0, 1, 1, 2]
