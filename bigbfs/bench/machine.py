"""The machine that a bench runs on, and whether somebody else is busy on it."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import numpy as np

from bigbfs.config import DeviceProfile
from bigbfs.report.rows import Session

STRETCH_BYTES = 1 << 25
"""What one thread copies in one go to measure host memory; larger than its share of any cache."""

COPIES = 4


def processor() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: the platform module has at least the architecture
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return the cores that this process may use."""
    return len(os.sched_getaffinity(0))


def host_bytes_per_second(threads: int) -> float:
    """Return what ``threads`` copy inside host memory, read and write counted: the best of a few copies."""
    pairs = [(np.ones(STRETCH_BYTES, np.uint8), np.empty(STRETCH_BYTES, np.uint8)) for _ in range(threads)]
    best = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(COPIES):
            start = time.perf_counter()
            for done in [pool.submit(np.copyto, target, source) for source, target in pairs]:
                done.result()
            best = min(best, time.perf_counter() - start)
    return 2.0 * STRETCH_BYTES * threads / best


def commit() -> str:
    """Return the commit of this checkout, with a + where files differ from it; "" outside a checkout."""
    here = Path(__file__).resolve().parent
    line = ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"]
    try:
        found = subprocess.run(line, cwd=here, capture_output=True, text=True, check=False)
    except OSError:  # no git here
        return ""
    return found.stdout.strip()


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version(), "NumPy": np.__version__, "Numba": metadata.version("numba")}
    for package in ("cupy-cuda13x", "cupy-cuda12x"):
        try:
            found["CuPy"] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def describe(
    version: str,
    *,
    gpu: str | None,
    profile: DeviceProfile | None,
    threads: int,
    seed: int,
    trials: int,
    about: str | None = None,
) -> Session:
    """Return the session that begins now.

    Parameters
    ----------
    version
        Of bigbfs.
    gpu, profile
        Name of the GPU that is used, and its rates where they are known.
    threads
        Threads that the CPU's runs use.
    about
        What stands for the commit, where this is no checkout.
    """
    limits = {"host memory": host_bytes_per_second(threads)}
    if gpu is not None and profile is not None:
        limits |= {"device memory": profile.memory_bytes_per_second, "link": profile.link_bytes_per_second}
    machine = {
        "processor": processor(),
        "cores": cores(),
        "threads": threads,
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "system": f"{platform.system()} {platform.release()}",
        "gpu": gpu,
    }
    return Session(
        command=shlex.join(["bigbfs", *sys.argv[1:]]),
        version=version,
        commit=about or commit(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine,
        versions=_versions(),
        limits=limits,
        seed=seed,
        trials=trials,
    )
