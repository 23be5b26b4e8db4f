"""Numbers as people and callers write them.

Byte counts (parse ``6GiB`` or ``50%``, print ``8.4 GiB``), counts of things, arguments of the Python interface, which
are checked at its door; and what memory is free.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from bigbfs.errors import ArgumentError, UsageError
from bigbfs.record import small_file

CGROUP = Path("/sys/fs/cgroup")
_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{letter}{suffix}": 1024**power for power, letter in enumerate("KMGT", 1) for suffix in ("IB", "I", "")}
_UNITS |= {f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)}
_BITS = 128
"""Of a number that a caller gives; no count of bytes, and no id, has as many."""
_PATTERN = re.compile(r"\s*(\d{1,30}(?:\.\d*)?|\.\d+)\s*([A-Za-z]*|%)\s*")


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
    """Return ``count`` bytes for people, in powers of 1024 like the sizes that they give: ``8.4 GiB``."""
    units = ["TiB", "GiB", "MiB", "KiB", "B"]
    while abs(count) >= 1023.5 and len(units) > 1:
        count /= 1024
        units.pop()
    whole = units[-1] == "B" or abs(count) >= 999.5
    return f"{count:,.0f} {units[-1]}" if whole else f"{count:.3g} {units[-1]}"


def _cut(count: int, up: bool) -> int:
    """Return the nearest count of bytes above, or below, that :func:`format_size` prints exactly, or a byte beside."""
    power = max(0, min(4, (count.bit_length() - 1) // 10))
    unit = 1 << 10 * power
    scale = 1 if power == 0 or count >= 1000 * unit else (100, 10, 1)[len(str(count // unit)) - 1]
    steps = count * scale // unit
    return -(-(steps + (up and steps * unit < count * scale)) * unit // scale)


def size_needed(count: int) -> str:
    """Return ``count`` bytes that are needed, for people, rounded up: who allows so much allows enough."""
    return format_size(_cut(count, up=True))


def size_allowed(count: int) -> str:
    """Return ``count`` bytes that may be used, for people, rounded down: it is never what is said of a larger need."""
    return format_size(_cut(count, up=False))


def need_of(need: int, limit: int) -> str:
    """Return "``need`` of ``limit``" for people: the larger one looks larger."""
    if need <= limit:
        return f"{format_size(need)} of {format_size(limit)}"
    return f"{size_needed(need)} of {size_allowed(limit)}"


def id_limit(limit: int) -> str:
    """Return the largest id that there may be, for a message: the largest of all is 2^63-1."""
    return "2^63-1" if limit == 2**63 - 1 else str(limit)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``count`` things in words: ``1 line``, ``12,000 lines``, ``2 vertices`` (whose plural is given)."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def _wrong_type(name: str, value: Any, wanted: str) -> ArgumentError:
    """Return the error for an argument that is of another type than ``wanted`` says; None is no value to show."""
    return ArgumentError(f"{wanted}, not None" if value is None else wanted, about=((name, value),))


def integer(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """Return the whole number ``value``, of any integer type, that a caller gives as the argument ``name``.

    Raises
    ------
    ArgumentError
        It is no integer: 1.0, True and "1" are none.
    UsageError
        It is below ``low`` or above ``high``.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or type(value).__name__ == "bool":  # NumPy's too, without NumPy
        raise _wrong_type(name, value, "must be a whole number") from None
    if number.bit_length() > _BITS:
        raise UsageError(f"is too large, a number of {number.bit_length():,} bits", about=((name, None),))
    if (low is not None and number < low) or (high is not None and number > high):
        limits = f"{low:,} or more" if high is None else f"{low or 0:,} to {high:,}"
        raise UsageError(f"must be {limits}", about=((name, value),))
    return number


def byte_count(name: str, value: Any, *, of_free: bool = False) -> int:
    """Return the bytes that a caller gives as the argument ``name``: a whole number, or text like ``"2GiB"``.

    ``of_free`` allows ``"50%"`` of the free memory.

    Raises
    ------
    ArgumentError
        It is neither.
    UsageError
        It is negative, or text that is no size.
    """
    if not isinstance(value, str):
        try:
            return integer(name, value, 0)
        except ArgumentError:
            raise _wrong_type(name, value, 'must be bytes or a size like "2GiB"') from None
    try:
        return parse_size(value, free_memory() if of_free else None)
    except UsageError as error:
        raise error.saying(error.message.removeprefix(f"{value!r} is "), about=((name, value),)) from None


def switch(name: str, value: Any) -> bool:
    """Return what a caller gives as the argument ``name``: True or False; ArgumentError for anything else."""
    if not isinstance(value, bool) and type(value).__name__ != "bool":
        raise _wrong_type(name, value, "must be True or False")
    return bool(value)


def refuse_unknown(function: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse keyword arguments that ``function`` does not have, with the one that may be meant.

    Raises
    ------
    ArgumentError
        Names the first of them and its value.
    """
    for name, value in given.items():
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, list(known), 1)
            hint = f"; is {near[0]} meant?" if near else f": {', '.join(known)}"
            raise ArgumentError(f"{function} has no such argument{hint}", about=((name, value),))


def choice(name: str, value: Any, names: Iterable[str]) -> str:
    """Return the one of ``names`` that a caller gives as the argument ``name``.

    Raises
    ------
    ArgumentError
        It is no text.
    UsageError
        It is none of them.
    """
    allowed = list(names)
    if not isinstance(value, str):
        raise _wrong_type(name, value, f"must be one of {', '.join(allowed)}")
    if value not in allowed:
        raise UsageError(f"is unknown: choose one of {', '.join(allowed)}", about=((name, value),))
    return value


def file_path(name: str, value: Any) -> Path:
    """Return the path that a caller gives as the argument ``name``.

    Raises
    ------
    ArgumentError
        It is neither text nor a path.
    UsageError
        It is empty, or holds a NUL character, as no name does.
    """
    if not isinstance(value, str | os.PathLike) or isinstance(found := os.fspath(value), bytes):
        raise _wrong_type(name, value, "must be the path of a file")
    if not found or "\0" in found:
        what = "is empty" if not found else "holds a NUL character"
        raise UsageError(f"{what}; name a file", about=((name, value),))
    return Path(found)


def free_memory() -> int:
    """Return the bytes of memory that a new process can have: what is available, or left in its control groups."""
    _, found, rest = small_file("/proc/meminfo").partition(b"MemAvailable:")
    if found:
        available = int(rest.split(maxsplit=1)[0]) * 1024
    else:
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(min([available, *(_left_in(*each) for each in _limits())]), 0)


def total_memory() -> int:
    """Return the bytes of memory that this machine has, or that its control groups allow."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([total, *(limit for limit, _, _ in _limits())])


_OF_VERSION_2 = ("memory.max", "memory.current", "")
_OF_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
"""Files of a control group's limit and use, and what counters begin with that hold what those below it have, too."""


_NO_LIMIT = 1 << 60
"""What version 1 says where there is none is some more."""


def _limits() -> Iterator[tuple[int, Path, tuple[str, str, str]]]:
    """Yield the limit of every control group that this process is in and that has one, its folder, and its files."""
    for folder, files in _groups(CGROUP):
        with suppress(OSError, ValueError):  # it has gone, or says "max"
            limit = int(small_file(f"{folder}/{files[0]}"))
            if limit < _NO_LIMIT:
                yield limit, folder, files


@cache
def _groups(mounted: Path) -> list[tuple[Path, tuple[str, str, str]]]:
    """Return the control groups that this process has begun in, and those above them, which may limit its memory."""
    places = [(mounted, _OF_VERSION_2)]
    with suppress(OSError):
        for line in small_file("/proc/self/cgroup").decode(errors="surrogateescape").splitlines():
            _, controllers, path = (*line.split(":", 2), "", "")[:3]
            parts = [part for part in path.split("/") if part and part != ".."]
            if not controllers:
                tops, files = [mounted, mounted / "unified"], _OF_VERSION_2
            elif "memory" in controllers.split(","):
                tops, files = [mounted / "memory"], _OF_VERSION_1
            else:
                continue
            # in a container the path may be the host's: what is mounted there is the group itself then
            places += [(top.joinpath(*parts[:count]), files) for top in tops for count in range(len(parts) + 1)]
    return [each for each in dict.fromkeys(places) if _is_there(each[0] / each[1][0])]


def _is_there(path: Path) -> bool:
    with suppress(OSError):  # it may not be looked at
        return path.exists()
    return False


def _left_in(limit: int, group: Path, files: tuple[str, str, str]) -> int:
    """Return limit minus use; pages of files count as used there, but are given up when needed (not those of tmpfs)."""
    _, use, prefix = files
    try:
        used = int(small_file(f"{group}/{use}"))
        for line in small_file(f"{group}/memory.stat").decode().splitlines():
            if line.startswith((f"{prefix}inactive_file ", f"{prefix}active_file ")):
                used -= int(line.split()[1])
    except (OSError, ValueError):
        return limit
    return limit - used


SHOWN = 120
"""Characters of a name that a table or a message shows; of a longer one its beginning and its end."""
_HEAD, _TAIL = 50, 30


def shortened(text: str) -> str:
    """Return a name for people: of one that is very long, the beginning, the end and the length."""
    return text if len(text) <= SHOWN else f"{text[:_HEAD]}...{text[-_TAIL:]} ({len(text):,} characters)"


def quoted(text: str) -> str:
    """Return a name in quotes, as Python writes it, for a message; shortened as :func:`shortened` does."""
    if len(text) <= SHOWN:
        return repr(text)
    return f"{text[:_HEAD]!r}...{text[-_TAIL:]!r} ({len(text):,} characters)"
