"""What `bigbfs probe --gpus` launches, emulated: what comes is what was sent, and figures come out of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bigbfs.algorithms.bfs.gpu.peers import measure
from bigbfs.algorithms.bfs.gpu.peers.arguments import JOINT
from bigbfs.config import GpuLinks
from bigbfs.engines.gpu.ranks import nccl
from bigbfs.engines.gpu.ranks.memory import SharedMemory
from bigbfs.engines.gpu.runtime.arguments import BLOCK, WARP
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import DeviceError
from emulated.loader import machine
from emulated.nccl import NcclOfThreads
from emulated.peers import PATIENCE, SPINS
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
SMALL = measure.Sizes(device=1 << 12, rounds=5, calls=2, long_calls=2, long=1 << 10)
BEFORE = GpuLinks(
    "before", 1, 1, **dict.fromkeys(("peer_bytes_per_second", "flag_seconds", "host_mpi_call_seconds"), 123.0)
)


@pytest.fixture(autouse=True)
def without_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no rank have NCCL, but where a test brings its own."""
    monkeypatch.setattr(nccl, "lack", lambda: "none here")


def device(build: str, rank: int, blocks: int = 2) -> SimtRuntime:
    """Return the device of a rank."""
    cooperative = frozenset(["meet_peers"])
    return SimtRuntime(build=build, device=rank, sm_count=blocks, spin_limit=SPINS, cooperative=cooperative)


def kernels(runtime: SimtRuntime) -> dict:
    return {spec.name: spec.build(runtime, np.dtype(np.uint32), "plain") for spec in measure.PROBE_KERNELS}


@pytest.mark.parametrize("units", [0, 1, 255, 3 * 256 * 4 + 5])
@pytest.mark.parametrize("build", HERE)
def test_every_unit_is_stored_and_read_once(build: str, units: int) -> None:
    runtime = device(build, 0)
    data = np.random.default_rng(units).integers(0, 2**32, 4 * units, dtype=np.uint32)
    source, target, total = runtime.upload(data), runtime.zeros(4 * units + 4, np.uint32), runtime.zeros(1, np.uint64)
    there = np.uint64(runtime.pointer(target))
    kernels(runtime)["store_units"](3, BLOCK, (source, there, np.uint64(units)))
    np.testing.assert_array_equal(target[: 4 * units], data)
    assert not target[4 * units :].any()
    kernels(runtime)["fetch_units"](3, BLOCK, (there, np.uint64(units), total))
    assert int(total[0]) == int(data.sum(dtype=np.uint64))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("build", HERE)
def test_figures_come_out(build: str, size: int) -> None:
    """On one machine: all but what is between machines, which stays; the same on all ranks."""
    machine(build)
    said: list[str] = []

    def rank(group):
        runtime = device(build, group.rank, 1 + group.rank)
        progress = said.append if group.rank == 0 else lambda line: None
        given = {"sizes": SMALL, "patience": PATIENCE[build], "progress": progress}
        return measure.measure(runtime, group, BEFORE, **given)

    found = run(size, rank, limit=120.0)
    assert found == found[:1] * size
    links = found[0]
    assert (links.gpus, links.hosts) == (size, 1) and "emulated GPU" in links.name
    for name in ("peer_bytes_per_second", "flag_seconds", "peer_read_bytes_per_second", "meeting_seconds"):
        assert getattr(links, name) not in (123.0, getattr(GpuLinks(), name))
    assert links.mpi_call_seconds != BEFORE.mpi_call_seconds and links.nccl_call_seconds == BEFORE.nccl_call_seconds
    assert links.host_mpi_call_seconds == 123.0
    assert any("NCCL: not every rank has it" in line for line in said) and len(said) == 4 + 1 + 2


@pytest.mark.parametrize("build", HERE[:1])
def test_between_machines_calls_alone(build: str) -> None:
    """By NCCL and by MPI; what is within a machine stays."""
    machine(build)

    def rank(group):
        def made(runtime, group, patience):
            return NcclOfThreads(runtime, group, 0, patience)

        given = {"sizes": SMALL, "patience": PATIENCE[build], "nccl": made}
        return measure.measure(device(build, group.rank), group, BEFORE, **given)

    found = run(2, rank, limit=120.0, hosts=("a", "b"))
    for links in found:
        assert links.peer_bytes_per_second == 123.0 and links.mpi_call_seconds == BEFORE.mpi_call_seconds
        assert links.hosts == 2 and links.host_mpi_call_seconds != 123.0
        assert links.host_nccl_bytes_per_second != BEFORE.host_nccl_bytes_per_second


@pytest.mark.parametrize("name", ["tell_peers", "meet_peers"])
@pytest.mark.parametrize("build", HERE)
def test_whoever_does_not_come_is_named(build: str, name: str) -> None:
    """The other rank's kernel is not launched: who waits gives up, and says for whom."""
    machine(build)

    def rank(group):
        runtime = device(build, group.rank)
        bench = measure._Bench(runtime, group, SMALL, 0.2, lambda line: None)
        with SharedMemory(group, runtime.shareable, (("letters", 2 * 2 * 2 * 40), ("data", 16))) as shared:
            state = bench._state(shared)
            if group.rank == 0:
                grid, block = (1, WARP) if name == "tell_peers" else (2, bench._team)
                kernels(runtime)[name](grid, block, (state, np.uint64(3)))
            group.barrier()
            joint = runtime.download(bench._joint).view(JOINT)[0]
            return int(joint["lost"])

    assert run(2, rank, limit=120.0) == [2, 0]


@pytest.mark.parametrize("build", HERE[:1])
def test_a_rate_of_something_else_is_no_rate(build: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(build)
    kept = SimtRuntime.fill
    monkeypatch.setattr(SimtRuntime, "fill", lambda self, array, value: kept(self, array, 2 if value == 1 else value))

    def rank(group):
        runtime = device(build, group.rank)
        with pytest.raises(DeviceError, match="ones were stored"):
            measure.measure(runtime, group, BEFORE, sizes=replace(SMALL, rounds=1), patience=PATIENCE[build])

    run(2, rank, limit=120.0)


@pytest.mark.parametrize("build", HERE[:1])
def test_gpus_out_of_reach_are_named(build: str) -> None:
    machine(build)

    def rank(group):
        with pytest.raises(DeviceError, match="cannot reach the memory of GPU emulated 0"):
            measure.measure(device(build, 0), group, BEFORE, sizes=SMALL, patience=PATIENCE[build])

    run(2, rank, limit=120.0)
