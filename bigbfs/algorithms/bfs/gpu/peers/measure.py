"""What is between GPUs, measured by all ranks together: a few seconds. What it is for is ``bigbfs plan --gpus``.

In: the device of each rank, and the ranks. Out: ``bigbfs.config.GpuLinks``. On one machine: stores into the memory of
the next GPU and reads of it, by all at once; a word from each to each; the barrier at which searches meet
(probe_peers.cu); and calls by NCCL, where all ranks have it, and by MPI. Between machines: those calls alone. A rate is
believed only if what came is what was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import BFS, SLOT
from bigbfs.algorithms.bfs.gpu.peers.arguments import DEFINES, JOINT, LETTER, PEERS
from bigbfs.algorithms.bfs.ranks.measure import best
from bigbfs.config import GpuLinks
from bigbfs.engines.gpu.ranks import transport as transports
from bigbfs.engines.gpu.ranks.arguments import CLOCK_RATE
from bigbfs.engines.gpu.ranks.devices import require_reach
from bigbfs.engines.gpu.ranks.memory import SharedMemory
from bigbfs.engines.gpu.runtime.arguments import BLOCK, WARP, struct, team_threads
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.gpu.runtime.runtime import Kernel, Runtime
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DeviceError
from bigbfs.sizes import counted

FILE = "algorithms/bfs/gpu/peers/probe_peers.cu"
PROBE_KERNELS = (
    *(KernelSpec(FILE, name, DEFINES, team=True) for name in ("store_units", "fetch_units", "tell_peers")),
    KernelSpec(FILE, "meet_peers", DEFINES, cooperative=True, team=True),
)

UNIT = 16
"""Bytes that a thread stores or reads at once."""
TRIALS = 3


@dataclass(frozen=True)
class Sizes:
    """How much is measured with: bytes of device memory of a GPU, ``rounds`` of words and meetings; ``calls`` of a few
    bytes, ``long_calls`` of ``long`` bytes of each rank."""

    device: int = 512 << 20
    rounds: int = 2000
    calls: int = 100
    long_calls: int = 5
    long: int = 16 << 20


def measure(
    runtime: Runtime,
    group: Group,
    before: GpuLinks,
    *,
    sizes: Sizes | None = None,
    patience: float = 60.0,
    progress: Callable[[str], None] = lambda line: None,
    nccl: Callable[[Runtime, Group, float], Any] | None = None,
) -> GpuLinks:
    """Return ``before`` with what was measured now: ranks of one machine say nothing of the link between several, nor
    those of several of what is within one.

    Parameters
    ----------
    runtime, group
        This rank's device, and the ranks, two at least, each with a GPU of its own; all make this call.
    before
        What was known.
    sizes
        What to measure with.
    patience
        Seconds that a rank waits for another.
    progress
        Told about each figure as soon as it is known.
    nccl
        Makes NCCL's transport; None: CuPy's, where all ranks have it.

    Raises
    ------
    DeviceError
        A GPU cannot reach another's memory, a kernel failed, or something else came than was sent.
    """
    bench = _Bench(runtime, group, sizes or Sizes(), patience, progress)
    hosts = len(set(group.machines))
    name = f"{runtime.name}, {group.size} on {counted(hosts, 'machine')}"
    found = replace(before, name=name, gpus=group.size, hosts=hosts)
    if group.one_host:
        require_reach(group, runtime)
        found = replace(found, **bench.peers())
    where = "" if group.one_host else "host_"
    for carrier in ("nccl", "mpi"):
        if carrier == "nccl" and nccl is None and transports.choose("auto", group, runtime, "streamed") != "nccl":
            progress("NCCL: not every rank has it")
            continue
        call, rate = bench.calls(carrier, nccl if carrier == "nccl" else None)
        told: dict[str, Any] = {f"{where}{carrier}_call_seconds": call, f"{where}{carrier}_bytes_per_second": rate}
        found = replace(found, **told)
    return found


class _Bench:
    """The kernels on this rank's device, launched on all at the same time."""

    def __init__(
        self, runtime: Runtime, group: Group, sizes: Sizes, patience: float, progress: Callable[[str], None]
    ) -> None:
        self._runtime, self._group, self._sizes, self._patience = runtime, group, sizes, patience
        self._progress, self._ids = progress, np.dtype(np.uint32)
        self._team = team_threads(runtime.team, self._ids)

    def peers(self) -> dict[str, Any]:
        """Return the rates and seconds of GPUs that reach one another's memory."""
        runtime, group = self._runtime, self._group
        build = {spec.name: spec.build(runtime, self._ids, "plain") for spec in PROBE_KERNELS}
        nbytes = max(self._sizes.device // UNIT, 1) * UNIT
        fields = (("letters", 2 * group.size * 2 * LETTER.itemsize), ("data", nbytes))
        with SharedMemory(group, runtime.shareable, fields) as shared:
            stores, reads = self._streams(build, shared, nbytes)
            state = self._state(shared)
            rounds = self._sizes.rounds
            word = self._rounds(build, "tell_peers", state, 1, WARP) / rounds
            blocks = min(runtime.sm_count, runtime.max_blocks(build["meet_peers"], self._team))
            meeting = self._rounds(build, "meet_peers", state, blocks, self._team) / rounds
            group.barrier()
        return {
            "peer_bytes_per_second": self._say("stores into the next GPU's memory", stores, "B/s"),
            "peer_read_bytes_per_second": self._say("reads of the next GPU's memory", reads, "B/s"),
            "flag_seconds": self._say("a word from each GPU to each", word, "s"),
            "meeting_seconds": self._say("a barrier at which all meet", meeting, "s"),
        }

    def _streams(self, build: dict[str, Kernel], shared: SharedMemory, nbytes: int) -> tuple[float, float]:
        """Return the bytes per second of stores into the next GPU's memory, and of reads of it, all at once."""
        runtime, group, units = self._runtime, self._group, np.uint64(nbytes // UNIT)
        mine, bases = shared.own("data", nbytes).view(np.uint32), shared.bases.copy()
        bases[group.rank] = runtime.pointer(shared.array)
        there = np.uint64(int(bases[(group.rank + 1) % group.size]) + shared.places["data"])
        ones, total = runtime.empty(nbytes // 4, np.uint32), runtime.zeros(1, np.uint64)
        runtime.fill(ones, 1)
        runtime.fill(mine, 0)
        own = np.uint64(runtime.pointer(mine))
        stored = self._seconds(build["store_units"], (ones, there, units))
        runtime.fill(total, 0)
        build["fetch_units"](1, BLOCK, (own, units, total))
        self._require(int(runtime.download(total)[0]), nbytes // 4, "stored")
        read = self._seconds(build["fetch_units"], (there, units, total), before=lambda: runtime.fill(total, 0))
        self._require(int(runtime.download(total)[0]), nbytes // 4, "read")
        return nbytes / stored, nbytes / read

    def _seconds(self, kernel: Kernel, arguments: tuple[Any, ...], before: Callable[[], None] = lambda: None) -> float:
        """Return the seconds of a launch on all devices at once: the median, of the slowest."""
        times = []
        for _ in range(1 + TRIALS):
            before()
            self._runtime.synchronize()  # what others store into has been filled
            self._group.barrier()
            with self._runtime.timer() as timer:
                kernel(self._runtime.max_blocks(kernel, BLOCK), BLOCK, arguments)
            times.append(timer.seconds)
        self._group.barrier()
        return float(max(self._group.objects(median(times[1:]))))

    def _require(self, found: int, expected: int, what: str) -> None:
        if any(each != (expected, expected) for each in self._group.objects((found, expected))):
            raise DeviceError(f"{FILE}: {found} of {expected} ones were {what}: a rate would be wrong")

    def _state(self, shared: SharedMemory) -> np.ndarray:
        """Return what kernels of a search get, of which meetings use little."""
        runtime, group = self._runtime, self._group
        bases = shared.bases.copy()
        bases[group.rank] = runtime.pointer(shared.array)
        self._joint, self._word = runtime.zeros(JOINT.itemsize // 8, np.uint64), runtime.zeros(1, np.uint32)
        self._held = runtime.upload(bases), runtime.zeros(group.size, np.uint64), runtime.zeros(SLOT.itemsize, np.uint8)
        state = struct(
            PEERS,
            joint=runtime.pointer(self._joint),
            bases=runtime.pointer(self._held[0]),
            sent=runtime.pointer(self._held[1]),
            letters_at=shared.places["letters"],
            patience=int(self._patience * CLOCK_RATE),
        )
        state["part"]["rank"], state["part"]["size"] = group.rank, group.size
        state["s"] = struct(BFS, meeting=runtime.pointer(self._word), slots=runtime.pointer(self._held[2]))
        runtime.synchronize()
        group.barrier()  # nobody writes before all memory is zero
        return state

    def _rounds(self, build: dict[str, Kernel], name: str, state: np.ndarray, grid: int, block: int) -> float:
        """Return the seconds of a launch of all rounds, which begins on all devices together."""
        times = []
        for _ in range(1 + TRIALS):
            self._group.barrier()
            # what a host is late by is nobody's round: all are told one word first, and the launch timed is behind that
            build["tell_peers"](1, WARP, (state, np.uint64(1)))
            with self._runtime.timer() as timer:
                build[name](grid, block, (state, np.uint64(self._sizes.rounds)))
            times.append(timer.seconds)
            joint = self._runtime.download(self._joint).view(JOINT)[0]
            if joint["lost"]:
                rank = int(joint["lost"]) - 1
                raise DeviceError(
                    f"rank {rank} (host {self._group.hosts[rank]}) has not come to a meeting: nothing was heard of its "
                    f"GPU for {self._patience:g} s"
                )
        return float(max(self._group.objects(median(times[1:]))))

    def calls(self, name: str, make: Callable[[Runtime, Group, float], Any] | None) -> tuple[float, float]:
        """Return the seconds of a short call by a transport, and the bytes per second into a GPU of long ones."""
        runtime, group, sizes = self._runtime, self._group, self._sizes
        if make is None:
            carrier: Any = transports.made(name, runtime, group, sizes.long * (group.size - 1), self._patience)
        else:
            carrier = make(runtime, group, self._patience)
        try:
            taken = []
            for nbytes, count in ((UNIT, sizes.calls), (sizes.long, sizes.long_calls)):
                data = runtime.zeros(nbytes * group.size, np.uint8)
                parts = [data[rank * nbytes : (rank + 1) * nbytes] for rank in range(group.size)]
                runtime.fill(parts[group.rank], group.rank + 1)

                def gather(parts: list[Any] = parts) -> None:
                    carrier.gather(parts)
                    runtime.synchronize()

                gather()
                taken.append(best(group, count, gather))
                came = [int(runtime.download(part[-1:])[0]) for part in parts]
                if any(each != list(range(1, group.size + 1)) for each in group.objects(came)):
                    raise DeviceError(f"{name} has brought something else than was sent: a rate would be wrong")
        finally:
            carrier.close()
        rate = (group.size - 1) * sizes.long / max(taken[1], 1e-9)
        return self._say(f"a call by {name}", taken[0], "s"), self._say(f"long calls by {name}", rate, "B/s")

    def _say(self, what: str, value: float, unit: str) -> float:
        self._progress(f"{what:<42} {value:.4g} {unit}")
        return value
