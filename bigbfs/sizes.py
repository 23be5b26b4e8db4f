"""Byte counts as people write them: parse ``6GiB`` or ``50%``, print ``8.4 GB``; and what memory is free."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from bigbfs.errors import UsageError

CGROUP = Path("/sys/fs/cgroup")
_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{letter}{suffix}": 1024**power for power, letter in enumerate("KMGT", 1) for suffix in ("IB", "I", "")}
_UNITS |= {f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)}
_PATTERN = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*|%)\s*")


def parse_size(text: str, whole: int | None = None) -> int:
    """Return the bytes that ``text`` means.

    ``6GiB``, ``6Gi`` and ``6G`` are 6 * 2**30, ``6GB`` is 6e9, a bare number is bytes, ``50%`` is half of ``whole``.

    Raises
    ------
    UsageError
        It is no size, a percentage where there is no whole, or one above 100.
    """
    match = _PATTERN.fullmatch(text)
    if match:
        number, unit = float(match[1]), match[2].upper()
        if unit == "%" and whole is not None:
            if number > 100:
                raise UsageError(f"{text!r} is more than there is, and so no limit: a share is 100% at most")
            return int(whole * number / 100)
        if unit in _UNITS:
            return int(number * _UNITS[unit])
    share = "" if whole is None else ", or a %"
    raise UsageError(f"{text!r} is not a size: write bytes or a number with KiB, MiB, GiB, TiB (or MB, GB){share}")


def format_size(count: float) -> str:
    """Return ``count`` bytes for people, in powers of 1000: ``8.4 GB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def free_memory() -> int:
    """Return the bytes of memory that a new process can have: what is available, or left in its cgroup."""
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            available = int(line.split()[1]) * 1024
    with suppress(OSError, ValueError):  # no cgroup v2 here, or no limit ("max")
        available = min(available, _left_in_cgroup(CGROUP))
    return max(available, 0)


def total_memory() -> int:
    """Return the bytes of memory that this machine has, or that its cgroup allows."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no cgroup v2 here, or no limit ("max")
        total = min(total, int((CGROUP / "memory.max").read_text()))
    return total


def _left_in_cgroup(group: Path) -> int:
    """Return limit minus use; pages of files count as used there, but are given up when needed (not those of tmpfs)."""
    used = int((group / "memory.current").read_text())
    for line in (group / "memory.stat").read_text().splitlines():
        if line.startswith(("inactive_file ", "active_file ")):
            used -= int(line.split()[1])
    return int((group / "memory.max").read_text()) - used
