"""Measure a device profile: the link to host memory, device memory, a barrier of the grid
(kernels/probe/probe_link.cu).

In: a runtime and how many bytes to read. Out: ``bigbfs.config.DeviceProfile``. Every rate is the median of ``TRIALS``
launches after one that does not count, and a rate is believed only if the sum of what was read is right. The host
memory is an array of ones, page-locked where it lies as the edges of a graph are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np

from bigbfs.config import DeviceProfile, LineRate
from bigbfs.engines.gpu.runtime.arguments import BLOCK, LINE, team_threads
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of
from bigbfs.engines.gpu.runtime.runtime import Array, Kernel, Runtime
from bigbfs.errors import DeviceError

FILE = "kernels/probe/probe_link.cu"
KERNELS = (
    *kernels_of(FILE, ("read_units", "read_lines", "copy_units"), team=True),
    KernelSpec(FILE, "meet", cooperative=True, team=True),
)

UNIT = 16
"""Bytes that a thread reads at once."""

EVERY = (1, 4, 16, 64)
"""One of so many lines is read in ascending order."""

WINDOWS = tuple(1 << power for power in (24, 26, 28, 30, 32, 33, 34))
"""Bytes of the windows inside which lines are read in random order."""

AS_FAST = 0.8
"""Random lines of a window count as fast as ascending ones from this share of their rate on."""

MOST_LINES = 1 << 22
"""Lines that a launch reads at most."""

ROUNDS = 20_000
"""Barriers of a launch."""

TRIALS = 3


@dataclass(frozen=True)
class Sizes:
    """Bytes to measure with: ``host`` memory, ``device`` memory (twice), and ``rounds`` of the barrier."""

    host: int = 8 << 30
    device: int = 1 << 30
    rounds: int = ROUNDS


def measure(
    runtime: Runtime,
    memory_bytes: int,
    sizes: Sizes | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> DeviceProfile:
    """Return the profile of the device of ``runtime``.

    Parameters
    ----------
    runtime
        The device.
    memory_bytes
        Device memory in all.
    sizes
        What to measure with; the host memory is cut to whole lines, and at least the smallest window.
    progress
        Told about each rate as soon as it is known.

    Raises
    ------
    DeviceError
        A kernel failed or read something else than what is there.
    DoesNotFitError
        The memory to measure with cannot be had.
    """
    sizes = sizes or Sizes()
    bench = _Bench(runtime, progress)
    memory_rate = bench.copies(sizes.device // UNIT)
    barrier = bench.barriers(sizes.rounds)
    host = np.ones(max(sizes.host, LINE * EVERY[-1]) // LINE * LINE // 4, np.uint32)
    mapping = runtime.map(host)
    try:
        sequential = bench.sequence(mapping.array)
        ascending = [bench.lines(mapping.array, every, 1) for every in EVERY]
        windows = [size for size in WINDOWS if size <= host.nbytes] or [host.nbytes]
        random = [bench.lines(mapping.array, size // LINE, max(1, size // LINE // 4)) for size in windows]
    finally:
        mapping.close()
    typical = median(ascending)
    as_fast = [size for size, rate in zip(windows, random, strict=True) if rate >= AS_FAST * typical]
    rates = [LineRate("ascending", rate, every=every) for every, rate in zip(EVERY, ascending, strict=True)]
    rates += [LineRate("random", rate, window_bytes=size) for size, rate in zip(windows, random, strict=True)]
    return DeviceProfile(
        name=runtime.name,
        memory_bytes=memory_bytes,
        multiprocessors=runtime.sm_count,
        memory_bytes_per_second=memory_rate,
        link_bytes_per_second=sequential,
        link_lines_per_second=typical,
        link_random_lines_per_second=random[-1],
        link_window_bytes=max(as_fast, default=windows[0]),
        barrier_seconds=barrier,
        registers_read_only=runtime.registers_read_only,
        line_rates=tuple(rates),
    )


class _Bench:
    """The kernels of one runtime, launched over the whole device."""

    def __init__(self, runtime: Runtime, progress: Callable[[str], None]) -> None:
        self._runtime = runtime
        self._progress = progress
        ids = np.dtype(np.uint32)
        self._team = team_threads(runtime.team, ids)
        self._kernels: dict[str, Kernel] = {spec.name: spec.build(runtime, ids, "plain") for spec in KERNELS}
        self._sum = runtime.zeros(1, np.uint64)

    def sequence(self, data: Array) -> float:
        """Return the bytes per second of reading all of ``data`` in sequence."""
        units = np.uint64(data.nbytes // UNIT)
        seconds = self._seconds("read_units", (data, units, self._sum), expected=data.nbytes // 4)
        return self._say("link, in sequence", data.nbytes / seconds, "B/s")

    def lines(self, data: Array, window: int, per_window: int) -> float:
        """Return the lines per second of reading ``per_window`` lines of each ``window`` lines of ``data``."""
        count = min(data.nbytes // LINE // window * per_window, MOST_LINES)
        arguments = (data, np.uint64(window), np.uint64(per_window), np.uint64(count), self._sum)
        seconds = self._seconds("read_lines", arguments, expected=count * LINE // 4)
        what = f"link, 1 line of {window}" if per_window == 1 else f"link, random lines of {window * LINE:,} bytes"
        return self._say(what, count / seconds, "lines/s")

    def copies(self, units: int) -> float:
        """Return the bytes per second, read and written, of a copy inside device memory."""
        source = self._runtime.zeros(4 * units, np.uint32)
        target = self._runtime.empty(4 * units, np.uint32)
        seconds = self._seconds("copy_units", (source, target, np.uint64(units)))
        return self._say("device memory, copy", 2 * units * UNIT / seconds, "B/s")

    def barriers(self, rounds: int) -> float:
        """Return the seconds of a barrier of the grid."""
        word = self._runtime.zeros(1, np.uint32)
        kernel = self._kernels["meet"]
        blocks = self._runtime.max_blocks(kernel, self._team)
        blocks = min(blocks, self._runtime.sm_count)
        times = []
        for _ in range(1 + TRIALS):
            with self._runtime.timer() as timer:
                kernel(blocks, self._team, (word, np.uint64(rounds)))
            times.append(timer.seconds)
        return self._say("barrier of the grid", median(times[1:]) / rounds, "s")

    def _seconds(self, name: str, arguments: tuple[Array, ...], expected: int | None = None) -> float:
        """Return the median time of a launch; ``expected`` is the sum that it must leave."""
        kernel, runtime = self._kernels[name], self._runtime
        blocks = runtime.max_blocks(kernel, BLOCK)
        times = []
        for _ in range(1 + TRIALS):
            runtime.fill(self._sum, 0)
            with runtime.timer() as timer:
                kernel(blocks, BLOCK, arguments)
            times.append(timer.seconds)
            found = int(runtime.download(self._sum)[0])
            if expected is not None and found != expected:
                raise DeviceError(
                    f"{FILE}: {name} read a sum of {found} where {expected} ones are: a rate would be wrong"
                )
        return median(times[1:])

    def _say(self, what: str, value: float, unit: str) -> float:
        self._progress(f"{what:<42} {value:.4g} {unit}")
        return value
