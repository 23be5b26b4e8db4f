"""Device profiles: what a GPU, its links and ranks can do, as `bigbfs probe` measures it."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from bigbfs.config.tables import from_table, read_toml
from bigbfs.errors import ConfigError, UsageError

DEFAULT_PROFILE = "h200"
"""The packaged device profile that stands for a device of which nothing was measured."""


@dataclass(frozen=True)
class LineRate:
    """How fast kernels read aligned lines of 128 bytes of page-locked host memory.

    Attributes
    ----------
    pattern
        ``"ascending"``: one line of ``every`` lines, in ascending order; ``"random"``: any line of a window of
        ``window_bytes``.
    lines_per_second
        Lines read.
    """

    pattern: str
    lines_per_second: float
    every: int = 1
    window_bytes: int = 0

    def __post_init__(self) -> None:
        """Refuse what was never measured."""
        if self.pattern not in ("ascending", "random"):
            raise ConfigError(f"pattern is {self.pattern!r}; choose from ascending, random")


@dataclass(frozen=True)
class RankRates:
    """What CPU ranks and the links between them can do; written by ``bigbfs probe --ranks``.

    Attributes
    ----------
    name, ranks, hosts
        The processor, for people; with how many of both it was measured.
    call_seconds, bytes_per_second, host_call_seconds, host_bytes_per_second
        A collective call of a few bytes, and what comes into a rank in a long one: on one machine, between machines.
    vertex_seconds
        A search by one thread of one rank, for each vertex that has edges.
    """

    name: str = "no rank measured"
    ranks: int = 1
    hosts: int = 1
    call_seconds: float = 10e-6
    bytes_per_second: float = 4e9
    host_call_seconds: float = 40e-6
    host_bytes_per_second: float = 2e9
    vertex_seconds: float = 20e-9

    def __post_init__(self) -> None:
        """Refuse rates that nothing can be divided by."""
        _require_rates(self)


@dataclass(frozen=True)
class GpuLinks:
    """What carries words between the GPUs of a machine, and of several; written by ``bigbfs probe --gpus``.

    The defaults are those of two H200, or two H100, of one machine with NVLink; between machines they are assumed.

    Attributes
    ----------
    name, gpus, hosts
        The device, for people; with how many of both it was measured.
    peer_bytes_per_second, peer_read_bytes_per_second
        A kernel stores into another GPU's memory, and reads it, while all others do.
    flag_seconds
        From one kernel's store into another GPU's memory until that one sees it.
    meeting_seconds
        A barrier of the grid at which all GPUs of a machine meet.
    nccl_call_seconds, nccl_bytes_per_second, mpi_call_seconds, mpi_bytes_per_second
        A collective call that a host waits for, and what comes into a GPU in a long one, on one machine.
    host_nccl_call_seconds, host_nccl_bytes_per_second, host_mpi_call_seconds, host_mpi_bytes_per_second
        The same between machines.
    """

    name: str = "NVLink, as between two H200"
    gpus: int = 2
    hosts: int = 1
    peer_bytes_per_second: float = 360e9
    peer_read_bytes_per_second: float = 372e9
    flag_seconds: float = 1.3e-6
    meeting_seconds: float = 7e-6
    nccl_call_seconds: float = 33e-6
    nccl_bytes_per_second: float = 200e9
    mpi_call_seconds: float = 30e-6
    mpi_bytes_per_second: float = 3.5e9
    host_nccl_call_seconds: float = 40e-6
    host_nccl_bytes_per_second: float = 20e9
    host_mpi_call_seconds: float = 60e-6
    host_mpi_bytes_per_second: float = 1.9e9

    def __post_init__(self) -> None:
        """Refuse rates that nothing can be divided by."""
        _require_rates(self)


@dataclass(frozen=True)
class DeviceProfile:
    """What a GPU and its link to host memory can do; written by ``bigbfs probe``.

    Attributes
    ----------
    name
        The device, for people.
    memory_bytes
        Device memory.
    multiprocessors
        How many.
    memory_bytes_per_second
        A copy inside device memory, read and write counted.
    link_bytes_per_second
        Kernels read page-locked host memory, in sequence.
    link_lines_per_second
        The same by aligned lines of 128 bytes in ascending order, few of them touched.
    link_random_lines_per_second
        Lines anywhere in more host memory than ``link_window_bytes``.
    link_window_bytes
        Largest window inside which random lines come as fast as ascending ones.
    barrier_seconds
        A barrier of the whole grid.
    registers_read_only
        Whether the pages of a file mapping can be read in place; else edges in host memory are a copy.
    line_rates
        What was measured, one table each.
    ranks
        Rates of CPU ranks, where they were measured.
    gpus
        What is between GPUs, where that was measured.
    """

    name: str
    memory_bytes: int
    multiprocessors: int
    memory_bytes_per_second: float
    link_bytes_per_second: float
    link_lines_per_second: float
    link_random_lines_per_second: float
    link_window_bytes: int
    barrier_seconds: float
    registers_read_only: bool = True
    line_rates: tuple[LineRate, ...] = ()
    ranks: RankRates | None = None
    gpus: GpuLinks | None = None

    def __post_init__(self) -> None:
        """Refuse rates that nothing can be divided by."""
        _require_rates(self)


BESIDE = {"ranks": RankRates, "gpus": GpuLinks}
"""Tables of a profile that are measured apart from the device: ``[ranks]``, ``[gpus]``."""


def _require_rates(rates: RankRates | GpuLinks | DeviceProfile) -> None:
    for item in fields(rates):
        value = getattr(rates, item.name)
        if isinstance(value, int | float) and not isinstance(value, bool) and not 0 < value < float("inf"):
            raise ConfigError(f"{item.name} is {value}; it must be more than 0")


def read_profile(path: str | Path) -> DeviceProfile:
    """Return the device profile in the TOML file ``path``.

    One that has tables of ranks or of links alone says nothing of a GPU: that of the default profile stands beside
    them.

    Raises
    ------
    FileAccessError, ConfigError
        It cannot be read, or is no profile.
    """
    table = read_toml(path)
    beside: dict[str, Any] = {}
    for name, kind in BESIDE.items():
        given = table.pop(name, None)
        if given is None:
            continue
        if not isinstance(given, dict):
            raise ConfigError(f"{path}: key {name!r} is {given!r}; it must be a [{name}] table")
        beside[name] = from_table(kind, given, f"{path}, {name}")
    alone = not table and beside
    device = read_profile(find_profile(DEFAULT_PROFILE)) if alone else _device(table, path)
    return replace(device, **beside) if beside else device


def _device(table: dict[str, Any], path: str | Path) -> DeviceProfile:
    rates = table.get("line_rates", [])
    if not isinstance(rates, list) or not all(isinstance(rate, dict) for rate in rates):
        raise ConfigError(f"{path}: key 'line_rates' is {rates!r}; it must be [[line_rates]] tables")
    made = [from_table(LineRate, rate, f"{path}, line rate {number}") for number, rate in enumerate(rates, 1)]
    return from_table(DeviceProfile, table | {"line_rates": made}, str(path))


def find_profile(name: str) -> Path:
    """Return the file that ``name`` means: a path, or the ``NAME`` of a packaged ``device-NAME.toml``.

    Packaged profiles lie in the folder configs/ of a checkout, beside the package, or of the installed package.

    Raises
    ------
    UsageError
        There is no such file.
    """
    if Path(name).is_file() or name.endswith(".toml"):
        return Path(name)
    package = Path(__file__).resolve().parents[1]
    folders = (package.parent / "configs", package / "configs")
    known = sorted(path for folder in folders for path in folder.glob("device-*.toml"))
    for path in known:
        if path.stem == f"device-{name}":
            return path
    names = ", ".join(dict.fromkeys(path.stem.removeprefix("device-") for path in known))
    raise UsageError(f"no device profile {name!r}: give a .toml file (`bigbfs probe` writes one), or one of {names}")


def profile_text(profile: DeviceProfile, comment: str) -> str:
    """Return ``profile`` as a TOML file whose first line is the ``comment``."""
    lines = [f"# {comment}"]
    for item in fields(profile):
        value = getattr(profile, item.name)
        if item.name not in ("line_rates", *BESIDE):
            lines.append(f"{item.name} = {_toml(value)}")
    for rate in profile.line_rates:
        lines += ["", "[[line_rates]]", f"pattern = {_toml(rate.pattern)}"]
        size = "every" if rate.pattern == "ascending" else "window_bytes"
        lines += [f"{size} = {_toml(getattr(rate, size))}", f"lines_per_second = {_toml(rate.lines_per_second)}"]
    tables = [rates_text(getattr(profile, name)) for name in BESIDE if getattr(profile, name) is not None]
    return "\n".join(["\n".join(lines) + "\n", *tables])


def rates_text(rates: RankRates | GpuLinks) -> str:
    """Return the table of ``rates`` for a profile."""
    name = next(name for name, kind in BESIDE.items() if isinstance(rates, kind))
    return "\n".join(
        [f"[{name}]", *(f"{item.name} = {_toml(getattr(rates, item.name))}" for item in fields(rates)), ""]
    )


def _toml(value: str | int | float | bool) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if "e" in f"{value:.4g}" or "." in f"{value:.4g}" else f"{value:.4g}.0"
    return json.dumps(value, ensure_ascii=False)  # strings, whole numbers and booleans are the same in TOML
