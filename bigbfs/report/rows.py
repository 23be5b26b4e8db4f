"""What ``bigbfs bench bfs`` records: JSON lines, one object each, and the definition of every field.

The first line is a :class:`Session`, then come a :class:`GraphFacts` for each graph and a :class:`Row` for each
(graph, contender, source), each as soon as it is there. ``kind`` tells them apart: ``session``, ``graph``, ``row``. A
file that ends early is a run that was interrupted; what it holds is whole. Seconds are seconds, bytes are bytes,
sources are original ids; None is what nobody knows (a CPU has no launches).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import median
from typing import Any

from bigbfs.errors import FileAccessError, InputError
from bigbfs.record import gteps

SCHEMA = 1

REFERENCE = "reference"
"""Name of the textbook's serial BFS, which is no strategy of ``bigbfs strategies``."""


@dataclass(frozen=True, slots=True)
class Session:
    """One invocation: what ran where.

    Attributes
    ----------
    command, version, commit, started
        The command line; the version of bigbfs; its commit, "" outside a checkout, with a + where files differ from
        it; UTC, ISO 8601.
    machine
        ``processor``, ``cores`` that the process may use, ``memory_bytes``, ``system``, ``gpu`` (its name or None).
    versions
        Of Python, NumPy, Numba and CuPy.
    limits
        Bytes per second by name: ``host memory``, ``device memory``, ``link``; those that are known.
    seed, trials
        Of the random sources; runs of each source.
    """

    command: str
    version: str
    commit: str
    started: str
    machine: dict[str, Any]
    versions: dict[str, str]
    limits: dict[str, float]
    seed: int
    trials: int
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """A graph: its ``name`` in the rows, what it is made of, and the ``sources`` that every strategy starts from."""

    name: str
    about: str
    vertices: int
    edges: int
    directed: bool
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of one run, by column; a column that nobody counted is empty.

    Attributes
    ----------
    direction
        One letter a level: ``t`` top-down, ``b`` bottom-up.
    frontier, checked, enqueued
        Vertices expanded; edges read; entries put into queues.
    seconds
        Time of the level, None where several ran as one step.
    down, up
        Edges that the level reads top-down, and bottom-up (bigbfs/bench/directions.py): whatever it did.
    """

    direction: str = ""
    frontier: tuple[int, ...] = ()
    checked: tuple[int, ...] = ()
    enqueued: tuple[int, ...] = ()
    seconds: tuple[float | None, ...] = ()
    down: tuple[int, ...] = ()
    up: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """All trials of one contender from one source.

    Attributes
    ----------
    graph, strategy, backend, codec, residency, order, parents
        What ran: ``backend`` is ``gpu``, ``cpu`` or ``serial``; ``parents`` False: levels alone.
    device
        By name.
    source, reached, depth, edges
        As in a run record of ``bigbfs bfs --json``.
    verified
        True: one run from this source was verified before the clock started.
    seconds
        Traversal of each trial: reset, host loop and kernels.
    kernel_seconds
        Of each trial: the kernels alone, by events; empty where there are none.
    open, start, place, compile, copy
        What end-to-end adds to the traversal: open and check the file, start the device, place the arrays, compile or
        load the kernels, bring the results into arrays of the caller. ``start`` and ``compile`` are of this process:
        the first contender on a device pays the most.
    launches, reads
        Kernels launched and values read back by the host, of one trial.
    checked, enqueued
        Edges read in all levels (of a run that nobody counts: from its levels and their directions, rows in stored
        order, as bigbfs/bench/directions.py says); entries put into queues, of which ``reached - 1`` were enough.
    moved_bytes
        What these edges and vertices take at least (see :func:`least_bytes`).
    switches
        Involuntary context switches in each trial, of all threads: somebody else wanted the cores.
    disturbed
        Trials with more of them than ``SWITCHES_PER_SECOND``.
    in_turn
        False: this contender did not fit beside the others, and ran after them instead of in turn.
    kernels
        One object for each kernel: ``name``, ``registers``, ``shared_bytes``, ``occupancy`` (0 to 1).
    levels
        Of the median trial, for the first source of a graph alone.
    """

    graph: str
    strategy: str
    backend: str
    codec: str
    residency: str
    order: str
    parents: bool
    device: str
    source: int
    reached: int
    depth: int
    edges: int
    verified: bool
    seconds: tuple[float, ...]
    kernel_seconds: tuple[float, ...] = ()
    open: float = 0.0
    start: float = 0.0
    place: float = 0.0
    compile: float = 0.0
    copy: float = 0.0
    launches: int | None = None
    reads: int | None = None
    checked: int | None = None
    enqueued: int | None = None
    moved_bytes: int | None = None
    switches: tuple[int, ...] = ()
    disturbed: int = 0
    in_turn: bool = True
    kernels: tuple[dict[str, Any], ...] = ()
    levels: Levels | None = None

    @property
    def traversal(self) -> float:
        """Median of the trials."""
        return median(self.seconds)

    @property
    def kernel(self) -> float | None:
        """Median kernel time, None where it is not known."""
        return median(self.kernel_seconds) if self.kernel_seconds else None

    @property
    def end_to_end(self) -> float:
        """From the file to the caller's arrays."""
        return self.open + self.start + self.place + self.compile + self.traversal + self.copy

    @property
    def gteps(self) -> float:
        """Giga traversed edges per second of the median trial (bigbfs/record.py)."""
        return gteps(self.edges, self.traversal)


def least_bytes(checked: int, reached: int, edge_bytes: float, id_bytes: int, *, parents: bool) -> int:
    """Return the bytes that a traversal moves at least.

    Each edge read: its id, as stored (``edge_bytes``), and the 4 bytes of a level. Each vertex reached: two offsets of
    8 bytes, its level, and its parent. Caches may save some of it, queues and bitmaps add to it.
    """
    vertex = 16 + 4 + (id_bytes if parents else 0)
    return int(checked * (edge_bytes + 4)) + reached * vertex


@dataclass(slots=True)
class Record:
    """Everything that one or more files of rows hold."""

    sessions: list[Session] = field(default_factory=list)
    graphs: dict[str, GraphFacts] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, item: Session | GraphFacts | Row) -> None:
        """Take in one line's object."""
        if isinstance(item, Session):
            self.sessions.append(item)
        elif isinstance(item, GraphFacts):
            self.graphs[item.name] = item
        else:
            self.rows.append(item)


_KINDS: dict[str, type[Session] | type[GraphFacts] | type[Row]] = {"session": Session, "graph": GraphFacts, "row": Row}


def line_of(item: Session | GraphFacts | Row) -> str:
    """Return the JSON line of ``item``; NaN is refused, since JSON has none."""
    kind = next(name for name, made in _KINDS.items() if isinstance(item, made))
    return json.dumps({"kind": kind, **asdict(item)}, allow_nan=False, separators=(",", ":"))


def parse_line(text: str) -> Session | GraphFacts | Row:
    """Return what ``line_of`` made a line of.

    Raises
    ------
    ValueError
        It is no such line (the message says why).
    """
    table = json.loads(text)
    made = _KINDS.get(table.pop("kind", "")) if isinstance(table, dict) else None
    if made is None:
        raise ValueError("no object of kind session, graph or row")
    known = {item.name for item in fields(made)}
    missing = {"graph", "seconds"} & known - set(table)
    if missing or set(table) - known:
        raise ValueError(f"unknown or missing keys: {', '.join(sorted(missing | (set(table) - known)))}")
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    if values.get("levels"):
        columns: Iterable[tuple[str, Any]] = values["levels"].items()
        made_of: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in columns}
        values["levels"] = Levels(**made_of)
    try:
        return made(**values)
    except TypeError as error:
        raise ValueError(str(error).partition("() ")[2] or str(error)) from None


def read_rows(paths: Iterable[Path]) -> Record:
    """Return what the files of rows ``paths`` hold.

    Raises
    ------
    FileAccessError
        A file cannot be read.
    InputError
        A line is none of ours (names file and line), or there is no row. A last line that was cut short is left out,
        with a note.
    """
    record = Record()
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise FileAccessError(f"{path}: cannot read: {error.strerror}; check the path") from error
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: byte {error.start}: not text; `bigbfs bench bfs` writes rows") from error
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            try:
                record.add(parse_line(line))
            except ValueError as error:
                if number == len(lines) and not text.endswith("\n"):
                    record.notes.append(f"{path}: the last line was cut short; it is left out.")
                    continue
                raise InputError(f"{path}:{number}: no row of a bench: {error}") from error
    if not record.rows:
        raise InputError(f"{', '.join(map(str, paths))}: no row in it; `bigbfs bench bfs` writes rows")
    return record
