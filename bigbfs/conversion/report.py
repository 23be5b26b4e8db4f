"""ConvertReport: what one conversion read, counted, wrote and took."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bigbfs.jit import compiling
from bigbfs.sizes import counted

PHASES = ("compile", "read", "build", "write", "compress")


@dataclass(frozen=True, slots=True)
class ConvertReport:
    """The result of a conversion.

    Attributes
    ----------
    output
        The graph file written (or found up to date).
    compressed
        The .ccsr beside it, where one was asked for.
    vertices, edges
        Vertices, and directed edges stored.
    lines
        Edges given: lines of text, entries of an array.
    self_loops, duplicates
        Lines that are self-loops; lines that repeat an earlier one, same direction.
    reversed
        Edges of an undirected graph that were given in both directions: by default there are
        2 * (lines - self_loops - duplicates - reversed) edges.
    comment_lines, skipped_lines
        Comment and blank lines; bad lines that were allowed and skipped.
    input_bytes
        Bytes read, as they lie on disk (compressed ones where the input is).
    output_bytes, compressed_bytes
        Bytes of the files ``output`` and ``compressed`` (0 where there is none).
    seconds, phases
        From the call to the last closed file, and what ``PHASES`` took of it; ``compile``: kernels that were in no
        cache yet, which is no part of the others. :attr:`parts` adds the rest.
    peak_rss_bytes
        Largest resident memory of the process so far.
    method
        ``"in memory"``; ``"external"``: sorted on disk, part by part; ``"direct"``: rows of a graph file, taken over;
        ``"ranks"``: by several ranks.
    partitions, spilled_bytes
        Parts of a conversion that was sorted on disk, and bytes of temporary files that it wrote; else 0.
    shards
        Shards in the folder ``output``; 0: it is one file.
    cached
        Nothing had to be done: the output was made of the same input with the same options.
    order
        Order of the vertices: ``"original"``, ``"degree"``, ``"bfs"`` or ``"rcm"``; ``"kept"``: one that the input has,
        and whose name it does not say.
    notes
        What the readers said about the inputs: weights dropped, say; what became of an order that is not kept.
    """

    output: str
    compressed: str | None
    vertices: int
    edges: int
    lines: int
    self_loops: int
    duplicates: int
    reversed: int
    comment_lines: int
    skipped_lines: int
    input_bytes: int
    output_bytes: int
    compressed_bytes: int
    seconds: float
    phases: dict[str, float] = field(default_factory=dict)
    peak_rss_bytes: int = 0
    method: str = "in memory"
    partitions: int = 0
    spilled_bytes: int = 0
    shards: int = 0
    cached: bool = False
    order: str = "original"
    notes: tuple[str, ...] = ()

    @property
    def edges_per_second(self) -> float:
        """Directed edges stored for each second of the conversion; 0 where nothing had to be done."""
        return self.edges / self.seconds if self.seconds > 0 and not self.cached else 0.0

    @property
    def parts(self) -> dict[str, float]:
        """The phases, and ``other``, which is in none: looking at inputs, loading modules; they make ``seconds``."""
        return self.phases | {"other": max(0.0, self.seconds - sum(self.phases.values()))}

    def as_json(self) -> dict[str, Any]:
        """Return the fields as plain values, ``edges_per_second`` among them, and the ``parts`` as ``phases``."""
        return asdict(self) | {"phases": self.parts, "edges_per_second": self.edges_per_second}


def said_once(notes: Sequence[str], inputs: Sequence[str | Path]) -> tuple[str, ...]:
    """Return ``notes`` with those that are the same of several inputs, but for the name in front, as one."""
    found: dict[str, list[str]] = {}
    for note in notes:
        name = next((f"{each}: " for each in inputs if note.startswith(f"{each}: ")), "")
        found.setdefault(note.removeprefix(name), []).append(name.removesuffix(": "))
    return tuple(
        (f"{names[0]}: " if names[0] else "")
        + (f"{text} (and so of {counted(len(names) - 1, 'more input')})" if len(names) > 1 else text)
        for text, names in found.items()
    )


def peak_rss_bytes() -> int:
    """Return the largest resident memory that this process has had so far.

    Of this program alone: what ``getrusage`` says begins with the memory of the process that started it.
    """
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Stopwatch:
    """Adds up the seconds of each phase; ``total`` runs from the start."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self.phases = dict.fromkeys(PHASES, 0.0)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the body."""
        start, compiled = time.perf_counter(), compiling.seconds()
        yield
        compiled = compiling.seconds() - compiled
        self.phases["compile"] += compiled
        self.phases[name] += max(0.0, time.perf_counter() - start - compiled)

    def total(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self._start
