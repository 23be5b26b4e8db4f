"""The emulation itself: what CUDA promises holds, and what CUDA forbids is reported by kernel, file and line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from emulated import loader
from emulated.builds import BUILDS, CompileError, cache_folder, kernel_library, machine_library
from emulated.loader import KernelFault, LaunchOptions
from emulated.runtime import SimtRuntime, builds_here

KERNELS = Path(__file__).parent / "kernels"
BASICS = KERNELS / "basics.cu"
HERE = builds_here()
ELSEWHERE = {name: pytest.param(name, marks=pytest.mark.skip(reason=f"runs in the {name} build")) for name in BUILDS}
ONLY = {name: pytest.mark.parametrize("build", [name if name in HERE else ELSEWHERE[name]]) for name in BUILDS}


def pytest_generate_tests(metafunc):
    if not any(mark.args[0] == "build" for mark in metafunc.definition.iter_markers("parametrize")):
        metafunc.parametrize("build", HERE)


class Bench:
    """The test kernels in one build: ``bench.run(name, grid, block, args)``."""

    def __init__(self, build):
        self.build = build
        self.module = loader.load(BASICS, {}, build)
        self.seed = {"plain": 0, "asan": 0}.get(build, 11)

    def put(self, values, dtype=np.uint32):
        return loader.copy(np.asarray(values, dtype), self.build)

    def run(self, name, grid, block, args, shared=0, **options):
        options.setdefault("seed", self.seed)
        self.module.get_function(name)(grid, block, args, shared, LaunchOptions(**options))


@pytest.fixture
def bench(build):
    return Bench(build)


def u32(value):
    return np.uint32(value)


def test_block_sums_of_a_partial_last_block(bench):
    out = bench.put([0] * 4)
    bench.run("block_sums", 4, 256, (u32(1000), bench.put(np.arange(1000)), out))
    assert out.tolist() == [np.arange(1000)[i : i + 256].sum() for i in range(0, 1000, 256)]


@pytest.mark.parametrize("block", [32, 96, 128])
def test_block_scan_in_dynamic_shared_memory(bench, block):
    values = np.random.default_rng(1).integers(0, 100, 5 * block)
    data = bench.put(values)
    bench.run("block_scan", 5, block, (data,), 4 * block)
    assert np.array_equal(data.reshape(5, block), values.reshape(5, block).cumsum(axis=1))


@pytest.mark.parametrize("resident", [1, 2, 0])
def test_histogram(bench, resident):
    values = np.random.default_rng(2).integers(0, 10, 3_000)
    counts = bench.put([0] * 10)
    bench.run("histogram", 3, 64, (u32(3_000), bench.put(values), counts), resident=resident)
    assert np.array_equal(counts, np.bincount(values, minlength=10))


def test_warp_aggregated_append_keeps_every_number_once(bench):
    values = np.random.default_rng(3).permutation(2_000)
    queue, size = bench.put([0] * 1_000), bench.put([0])
    bench.run("append_even", 8, 256, (u32(2_000), bench.put(values), queue, size))
    assert size[0] == 1_000
    assert np.array_equal(np.sort(queue), np.arange(0, 2_000, 2))


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_grid_barrier_between_blocks_that_run_together(bench, blocks):
    n = blocks * 64
    a, b = bench.put(np.arange(n)), bench.put([0] * n)
    bench.run("rotate", blocks, 64, (u32(7), a, b, bench.put([0])), resident=0)
    assert np.array_equal(b, (np.arange(n) + 7) % n)


def test_spin_lock_between_blocks(bench):
    counter = bench.put([0])
    bench.run("locked_increment", 12, 32, (bench.put([0]), counter), resident=0)
    assert counter[0] == 12


def test_threads_that_returned_do_not_hold_up_a_barrier(bench):
    out = bench.put([0])
    bench.run("early_exit", 2, 64, (out,))
    assert out[0] == 80


def test_warp_functions_against_their_definition(bench):
    x = np.random.default_rng(4).permutation(32) + np.where(np.arange(32) % 5 == 0, 0, 7)
    out = bench.put(np.zeros(16 * 32))
    bench.run("warp_functions", 1, 32, (bench.put(x), out))
    lane = np.arange(32)
    expected = [
        np.full(32, x[7]),
        x[lane // 8 * 8 + 3],
        x[np.where(lane >= 3, lane - 3, lane)],
        x[np.where(lane % 16 >= 3, lane - 3, lane)],
        x[np.where(lane + 5 < 32, lane + 5, lane)],
        x[np.where(lane % 8 + 5 < 8, lane + 5, lane)],
        x[lane ^ 9],
        [sum(1 << k for k in range(32) if x[k] == x[i]) for i in range(32)],
        np.full(32, (0xFFFFFFFF + 1) % 2**32),
        np.full(32, x.sum()),
        np.full(32, (x.min() - 50) % 2**32),
        np.full(32, x.max()),
        np.full(32, np.bitwise_xor.reduce(x)),
        np.full(32, int((x == 3).any()) | 2),
        np.full(32, (x % 2).sum() + 100 * int((x == 3).any()) + 1000),
        np.full(32, x[1]),
    ]
    for k, row in enumerate(expected):
        assert out[32 * k : 32 * k + 32].tolist() == np.asarray(row).tolist(), f"r[{k}]"


def test_a_struct_by_value(bench):
    pair = np.zeros((), np.dtype([("a", "u4"), ("b", "u8"), ("c", "u8")], align=True))
    pair["a"], pair["b"] = 5, 2**40
    out = bench.put([0], np.uint64)
    bench.run("takes_struct", 1, 1, (pair, np.int32(2), out))
    assert out[0] == 2**40 + 7


@pytest.mark.parametrize(
    ("kernel", "block", "message"),
    [
        ("divergent_barrier", 64, "divergent __syncthreads: thread"),
        ("divergent_ballot", 32, "divergent __ballot_sync with mask 0xffffffff: lane"),
        ("overlapping_masks", 32, "__ballot_sync"),
        ("narrow_masks_first", 32, "__ballot_sync"),
        ("half_a_barrier", 64, "mask 0xffffff00 does not name the calling lane"),
        ("wrong_mask", 32, "mask 0x0000ffff does not name the calling lane"),
        ("exited_lane", 32, "__ballot_sync"),
        ("half_a_warp_waits", 64, "wait at __syncwarp(0xffffffff)"),
    ],
)
def test_divergence_is_reported_by_name_and_line(bench, kernel, block, message):
    with pytest.raises(KernelFault) as fault:
        bench.run(kernel, 1, block, (bench.put([0] * 64),))
    assert message in str(fault.value)
    assert f"kernel {kernel}" in str(fault.value)
    assert "basics.cu:" in str(fault.value)


def test_a_fault_leaves_the_machine_usable(bench):
    for _ in range(3):
        with pytest.raises(KernelFault):
            bench.run("divergent_barrier", 1, 64, (bench.put([0]),))
        test_block_sums_of_a_partial_last_block(bench)


def test_a_block_that_waits_for_one_that_does_not_run_is_a_livelock(bench):
    with pytest.raises(KernelFault, match=r"(livelock|ran for more than).* block \d .*basics\.cu:\d+"):
        bench.run("waits_forever", 2, 32, (bench.put([0]),), spin_limit=20_000, seconds=1)


def test_endless_barriers_run_into_the_time_limit(bench):
    with pytest.raises(KernelFault, match=r"ran for more than 0\.2 s"):
        bench.run("endless_barriers", 1, 64, (bench.put([0]),), seconds=0.2)


@pytest.mark.skipif("tsan" in HERE, reason="the thread sanitizer holds signals back")
def test_a_loop_without_any_switch_is_stopped(bench):
    for _ in range(2):
        with pytest.raises(KernelFault, match=r"kernel volatile_wait_alone.*ran for more than 0\.1 s|livelock"):
            bench.run("volatile_wait_alone", 1, 32, (bench.put([0]),), seconds=0.1)
    test_block_sums_of_a_partial_last_block(bench)


def test_the_wrong_argument_is_refused(bench):
    array = bench.put([0] * 4)
    for args, message in (
        ((np.int32(1), array), "the parameter is u4, got i4"),
        ((np.uint64(1), array), "the parameter is u4, got u8"),
        ((1, array), "needs a NumPy scalar"),
        ((u32(1), array.view(np.int32)), "a pointer to u4 got an array of i4"),
        ((u32(1), bench.put([0] * 4, np.uint64)), "a pointer to u4 got an array of u8"),
        ((u32(1), u32(1)), "needs an array"),
        ((u32(1), bench.put([0] * 8)[::2]), "not contiguous"),
        ((u32(1),), "takes 2 arguments, got 1"),
    ):
        with pytest.raises(TypeError, match=message):
            bench.run("store_past", 1, 1, args)


def test_a_store_past_an_array(bench):
    for position in (4, -1):
        with pytest.raises(KernelFault, match=r"past the end|before the beginning|heap-buffer-overflow"):
            bench.run("store_past", 1, 1, (u32(position % 2**32), bench.put([0] * 4)))


def test_uninitialised_memory_is_poison(bench):
    assert loader.empty(3, np.uint32, bench.build).tolist() == [0xCBCBCBCB] * 3
    if bench.build != "tsan":  # there a system thread's own shared arrays start as zeros
        out = bench.put([0])
        for _ in range(2):
            bench.run("sees_poison", 2, 1, (out,))
            assert out[0] == 0xCBCBCBCB


@ONLY["preempt"]
def test_preemption_loses_increments_that_are_not_atomic(build):
    bench, lost = Bench("preempt"), 0
    for seed in range(1, 6):
        counts = bench.put([0] * 4)
        values = np.zeros(500, np.uint32)
        bench.run("histogram_race", 2, 64, (u32(500), bench.put(values), counts), seed=seed, resident=2)
        lost += counts[0] < 500
    assert lost == 5


@ONLY["preempt"]
def test_preemption_breaks_a_scan_without_its_barrier(build):
    bench = Bench("preempt")
    data = bench.put([1] * 128)
    bench.run("block_scan_race", 1, 128, (data,), 512, seed=5)
    assert data.tolist() != list(range(1, 129))


@ONLY["preempt"]
def test_the_same_seed_gives_the_same_schedule(build):
    bench, results = Bench("preempt"), []
    for seed in (7, 7, 8):
        queue, size = bench.put([0] * 1_000), bench.put([0])
        bench.run("append_even", 8, 256, (u32(2_000), bench.put(np.arange(2_000)), queue, size), seed=seed, resident=3)
        results.append(queue.tolist())
    assert results[0] == results[1]
    assert results[0] != results[2]


@ONLY["preempt"]
def test_a_loop_on_a_volatile_load_lets_others_run(build):
    Bench("preempt").run("volatile_wait", 2, 32, (Bench("preempt").put([0]),), resident=0, spin_limit=10**6)


@ONLY["asan"]
@pytest.mark.parametrize(
    ("kernel", "value", "shared", "message"),
    [
        ("load_past", 4, 0, "heap-buffer-overflow"),
        ("shared_past", 8, 0, "object too small|global-buffer-overflow"),
        ("dynamic_past", 4, 16, "heap-buffer-overflow"),
    ],
)
def test_loads_past_the_end_are_found(build, kernel, value, shared, message):
    bench = Bench("asan")
    args = (u32(value), bench.put([0] * 4), bench.put([0])) if kernel == "load_past" else (u32(value), bench.put([0]))
    with pytest.raises(KernelFault, match=message):
        bench.run(kernel, 1, 8, args, shared)


@ONLY["asan"]
def test_undefined_shifts_are_found(build):
    with pytest.raises(KernelFault, match=r"basics\.cu:\d+.*undefined behaviour: shift"):
        Bench("asan").run("shift", 1, 1, (u32(32), Bench("asan").put([0])))


@ONLY["tsan"]
@pytest.mark.parametrize(
    ("kernel", "grid", "shared"),
    [("histogram_race", 1, 0), ("histogram_race", 2, 0), ("block_scan_race", 1, 512), ("rotate_no_fence", 2, 0)],
)
def test_races_are_found(build, kernel, grid, shared):
    bench = Bench("tsan")
    data = bench.put([1] * 128)
    args = {
        "histogram_race": (u32(64), bench.put(np.arange(64) % 4), bench.put([0] * 4)),
        "block_scan_race": (data,),
        "rotate_no_fence": (u32(4), data, bench.put([0] * 128), bench.put([0])),
    }[kernel]
    with pytest.raises(KernelFault, match=r"data race[\s\S]*basics\.cu:\d+"):
        bench.run(kernel, grid, 64 if kernel != "block_scan_race" else 128, args, shared, resident=0)


@ONLY["tsan"]
def test_a_race_between_blocks_only_is_found(build):
    bench = Bench("tsan")
    with pytest.raises(KernelFault, match="data race"):
        bench.run("histogram_race", 8, 32, (u32(8 * 32), bench.put(np.arange(256) % 32), bench.put([0] * 32)))


@ONLY["plain"]
def test_the_cache_honours_xdg_and_knows_what_changed(build, tmp_path, monkeypatch):
    machine = machine_library(BUILDS["plain"])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copyfile(machine, cache_folder() / machine.name)  # compiled before
    source = tmp_path / "own.cu"
    source.write_text('#include "simt.hpp"\nKERNEL void set(int* out) { out[0] = VALUE; }\nENTRY(set)\n')
    one = kernel_library(source, {"VALUE": "1"}, BUILDS["plain"])
    assert one.is_relative_to(tmp_path / "cache")
    assert kernel_library(source, {"VALUE": "1"}, BUILDS["plain"]) == one
    assert kernel_library(source, {"VALUE": "2"}, BUILDS["plain"]) != one
    source.write_text(source.read_text() + "// changed\n")
    assert kernel_library(source, {"VALUE": "1"}, BUILDS["plain"]) != one
    assert sorted(file.suffix for file in cache_folder().iterdir()) == [".so"] * 4


@ONLY["plain"]
def test_a_kernel_that_does_not_compile_says_where(build, tmp_path):
    source = tmp_path / "bad.cu"
    source.write_text('#include "simt.hpp"\nKERNEL void bad(int* out) { out[0] = nothing; }\nENTRY(bad)\n')
    with pytest.raises(CompileError, match=r"bad\.cu:2:.*nothing"):
        loader.load(source)


@ONLY["plain"]
def test_an_unknown_kernel_is_a_key_error(build):
    with pytest.raises(KeyError, match=r"basics\.cu has no ENTRY\(nobody\)"):
        loader.load(BASICS).get_function("nobody")


@pytest.mark.wide  # compiles the machine once more
@ONLY["plain"]
def test_ucontext_runs_the_same_kernels(build, tmp_path):
    test = f"{__file__}::test_block_scan_in_dynamic_shared_memory"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "plain", test],
        env={**os.environ, "SIMT_UCONTEXT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


@ONLY["plain"]
def test_runtime_has_what_the_protocol_asks_for(build):
    from bigbfs.engines.gpu.runtime.runtime import Runtime

    missing = [name for name in vars(Runtime) if not name.startswith("_") and not hasattr(SimtRuntime(), name)]
    assert missing == []
