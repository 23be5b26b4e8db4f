"""Configuration files: TOML read into frozen dataclasses; an unknown key is an error that names the nearest one."""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from bigbfs.errors import ConfigError, FileAccessError, UsageError

T = TypeVar("T")

_CHOICES = {
    "algorithms": ("bfs", "cc"),
    "codecs": ("plain", "varint"),
    "backends": ("cpu", "gpu"),
    "residencies": ("vram", "mapped", "streamed"),
}

DEFAULT_PROFILE = "h200"
"""The packaged device profile that stands for a device of which nothing was measured."""


@dataclass(frozen=True)
class BenchCase:
    """One graph of a bench suite and what is run on it.

    Attributes
    ----------
    name
        Name in the results.
    kind, parameters
        Arguments of ``bigbfs.generate.graph``.
    algorithms
        ``"bfs"``, ``"cc"`` or both.
    codecs
        ``"plain"``, ``"varint"`` or both.
    backends
        ``"cpu"``, ``"gpu"`` or both; a backend that is not present is left out, and said so.
    residencies
        Of the GPU runs.
    orders
        ``"original"``, ``"degree"`` or both (tools/bench_gpu.py).
    budgets
        Device memory that a run with its edges mapped or streamed may take: ``"all"``, or a size (tools/bench_gpu.py).
    heads
        Groups of heads: -1 stands for the engine's choice; each after the first with few sources (tools/bench_gpu.py).
    strategies
        Of BFS (tools/bench_gpu.py).
    components
        Algorithms and switches of the components: words of ``bigbfs.algorithms.components.options.parse_options``
        (tools/bench_gpu.py).
    sources
        Random sources of degree > 0.
    chosen
        Sources by their original ids, instead of random ones (tools/bench_gpu.py).
    trials
        Runs of each source (the median counts), and of the components.
    """

    name: str
    kind: str
    parameters: dict[str, Any] = field(default_factory=dict)
    algorithms: tuple[str, ...] = ("bfs", "cc")
    codecs: tuple[str, ...] = ("plain", "varint")
    backends: tuple[str, ...] = ("cpu", "gpu")
    residencies: tuple[str, ...] = ("vram", "mapped")
    orders: tuple[str, ...] = ("original",)
    budgets: tuple[str, ...] = ("all",)
    heads: tuple[int, ...] = (-1,)
    strategies: tuple[str, ...] = ("auto",)
    components: tuple[str, ...] = ("afforest",)
    sources: int = 8
    chosen: tuple[int, ...] = ()
    trials: int = 3

    def __post_init__(self) -> None:
        """Refuse what would silently run nothing."""
        for name, known in _CHOICES.items():
            given = getattr(self, name)
            unknown = [value for value in given if value not in known]
            if unknown or not given:
                raise ConfigError(f"{name} is {list(given)}; choose from {', '.join(known)}")
        if self.sources < 1 or self.trials < 1:
            raise ConfigError(f"sources is {self.sources}, trials is {self.trials}; at least 1 of each is run")


@dataclass(frozen=True)
class BenchSuite:
    """A bench suite: ``seed`` of the graphs and sources, and the cases."""

    seed: int
    cases: tuple[BenchCase, ...]


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

    def __post_init__(self) -> None:
        """Refuse rates that nothing can be divided by."""
        _require_rates(self)


def _require_rates(rates: RankRates | DeviceProfile) -> None:
    for item in fields(rates):
        value = getattr(rates, item.name)
        if isinstance(value, int | float) and not isinstance(value, bool) and not 0 < value < float("inf"):
            raise ConfigError(f"{item.name} is {value}; it must be more than 0")


def from_table(kind: type[T], table: dict[str, Any], where: str) -> T:
    """Return the dataclass ``kind`` made of a TOML ``table``.

    Raises
    ------
    ConfigError
        A key is unknown (the nearest one is named), missing, of the wrong type, or has a value that cannot be.
    """
    known = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    for key in table:
        if key not in known:
            import difflib

            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            raise ConfigError(f"{where}: unknown key {key!r}; {hint}")
    values = {}
    for name, item in known.items():
        if name not in table:
            if item.default is MISSING and item.default_factory is MISSING:
                raise ConfigError(f"{where}: key {name!r} is missing")
            continue
        value = tuple(table[name]) if isinstance(table[name], list) else table[name]
        if item.type == "float" and type(value) is int:
            value = float(value)
        expected = {"str": str, "int": int, "float": float, "bool": bool}.get(str(item.type).split("[")[0])
        expected = expected or (tuple if str(item.type).startswith("tuple") else dict)
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise ConfigError(f"{where}: key {name!r} is {table[name]!r}; it must be {item.type}")
        values[name] = value
    try:
        return kind(**values)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the tables of the TOML file ``path``.

    Raises
    ------
    FileAccessError
        It cannot be read.
    ConfigError
        It is no TOML.
    """
    import tomllib

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileAccessError(f"{path}: cannot read: {error.strerror}; check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error


def read_suite(path: str | Path) -> BenchSuite:
    """Return the bench suite in the TOML file ``path``: a ``seed`` and one ``[[cases]]`` table per graph.

    Raises
    ------
    FileAccessError, ConfigError
        It cannot be read, or is no suite.
    """
    table = read_toml(path)
    cases = table.get("cases", [])
    if not isinstance(cases, list) or not cases or not all(isinstance(case, dict) for case in cases):
        raise ConfigError(f"{path}: a suite needs at least one [[cases]] table")
    made = [from_table(BenchCase, case, f"{path}, case {number}") for number, case in enumerate(cases, 1)]
    return from_table(BenchSuite, table | {"cases": made}, str(path))


def read_profile(path: str | Path) -> DeviceProfile:
    """Return the device profile in the TOML file ``path``.

    One that has rates of ranks alone says nothing of a GPU: that of the default profile stands beside them.

    Raises
    ------
    FileAccessError, ConfigError
        It cannot be read, or is no profile.
    """
    table = read_toml(path)
    ranks = table.pop("ranks", None)
    if ranks is not None:
        if not isinstance(ranks, dict):
            raise ConfigError(f"{path}: key 'ranks' is {ranks!r}; it must be a [ranks] table")
        rates = from_table(RankRates, ranks, f"{path}, ranks")
        return replace(_device(table, path) if table else read_profile(find_profile(DEFAULT_PROFILE)), ranks=rates)
    return _device(table, path)


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
    package = Path(__file__).resolve().parent
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
        if item.name not in ("line_rates", "ranks"):
            lines.append(f"{item.name} = {_toml(value)}")
    for rate in profile.line_rates:
        lines += ["", "[[line_rates]]", f"pattern = {_toml(rate.pattern)}"]
        size = "every" if rate.pattern == "ascending" else "window_bytes"
        lines += [f"{size} = {_toml(getattr(rate, size))}", f"lines_per_second = {_toml(rate.lines_per_second)}"]
    return "\n".join(lines) + "\n" + ("" if profile.ranks is None else f"\n{rates_text(profile.ranks)}")


def rates_text(rates: RankRates) -> str:
    """Return the table of ``rates`` for a profile."""
    return "\n".join(["[ranks]", *(f"{item.name} = {_toml(getattr(rates, item.name))}" for item in fields(rates)), ""])


def _toml(value: str | int | float | bool) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if "e" in f"{value:.4g}" or "." in f"{value:.4g}" else f"{value:.4g}.0"
    return json.dumps(value, ensure_ascii=False)  # strings, whole numbers and booleans are the same in TOML
