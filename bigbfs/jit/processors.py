"""How many processors this process gets: those it may run on, and no more than its control groups pay for.

A container is often given a share of a large machine as a quota: so many microseconds of processor time in each period,
whatever the number of cores it sees. A thread on each of these uses the quota up in a moment, and then all of them
stand still to the end of the period. A part of a processor counts as a whole one.

Source: the Linux kernel's documentation, cgroup-v2 (``cpu.max``) and sched-bwc (``cpu.cfs_quota_us``); proc(5).
"""

from __future__ import annotations

import os
from functools import cache
from math import ceil
from pathlib import Path


@cache
def processors() -> int:
    """Return the threads that this process can have running at once: 1 or more."""
    allowed = len(os.sched_getaffinity(0))
    share = quota(Path("/proc/self"), Path("/sys/fs/cgroup"))
    return allowed if share is None else max(1, min(allowed, ceil(share)))


def quota(process: Path, mounted: Path) -> float | None:
    """Return the processors that the control groups of a process pay for, the least of all levels; None: no limit.

    Parameters
    ----------
    process
        Its folder in /proc.
    mounted
        Where control groups are seen: version 2 there, or in ``unified``; version 1 in ``cpu`` or ``cpu,cpuacct``.
    """
    try:
        lines = (process / "cgroup").read_text().splitlines()
    except OSError:  # not Linux, or hidden
        return None
    shares = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            tops, read = (mounted, mounted / "unified"), _share_of_version_2
        elif "cpu" in controllers.split(","):
            tops, read = (mounted / "cpu", mounted / controllers), _share_of_version_1
        else:
            continue
        for top in tops:
            # in a container the path may be the host's: what is mounted there is the group itself then
            for folder in _upwards(top, path):
                shares.append(read(folder))
    return min((share for share in shares if share is not None), default=None)


def _upwards(top: Path, path: str) -> list[Path]:
    """Return the folders of a control group and of those above it, up to ``top``."""
    parts = [part for part in path.split("/") if part and part != ".."]
    return [top.joinpath(*parts[:count]) for count in range(len(parts), -1, -1)]


def _share_of_version_2(folder: Path) -> float | None:
    words = _words(folder / "cpu.max")
    return None if len(words) != 2 else _share(*words)


def _share_of_version_1(folder: Path) -> float | None:
    words = _words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")
    return None if len(words) != 2 else _share(*words)


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:  # this level has no such file: it sets no limit
        return []


def _share(allowed: str, period: str) -> float | None:
    """Return processors, from microseconds in each period; "max" and -1 are no limit."""
    try:
        share = int(allowed) / int(period)
    except (ValueError, ZeroDivisionError):
        return None
    return share if share > 0 else None
