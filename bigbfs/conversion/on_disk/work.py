"""What all steps of a conversion share: of any that ranks make together, and of an external build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bigbfs.conversion import cache
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.report import Stopwatch
from bigbfs.conversion.targets import Targets
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import Workers
from bigbfs.report.progress import Progress

Sources = list[dict[str, Any]] | None


class NamedSections(Protocol):
    """The names of the vertices; see ``conversion/names``."""

    def sections(self) -> Iterator[tuple[str, np.dtype, int, Iterator[np.ndarray]]]:
        """Return name, dtype, items and content of each section."""


class NamedEdges(NamedSections, Protocol):
    """Names and edges, once they have been read."""

    def sample(self) -> np.ndarray:
        """Return ids that occur."""

    def feed(self, edges: EdgeBuffer) -> EdgeList:
        """Append all edges."""


@dataclass
class Job:
    """One conversion: what it reads and writes, its clock, its threads, and what readers say of the inputs."""

    inputs: Sequence[str | Path]
    targets: Targets
    options: ConvertOptions
    sources: Sources
    watch: Stopwatch
    workers: Workers
    threads: int
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def told(self, total: int, unit: str, name: str) -> Iterator[Progress]:
        """Name a step on a terminal; what is yielded is told of what is done."""
        told = Progress(self.options.progress)
        with told.step(name, total, unit):
            yield told


@dataclass(kw_only=True)
class Work(Job):
    """One conversion by way of the disk, and what it may use there.

    ``named`` has the names of the vertices, ``given`` the edges between them, which have been read already.
    """

    plan: Plan
    scratch: Scratch
    named: NamedSections | None = None
    given: NamedEdges | None = None


def provenance_of(work: Job, counted: dict[str, int], codec: str) -> dict[str, Any]:
    """Return the record of where the graph comes from; what is not known yet has a stand-in of about that length."""
    counts = {"duplicates": 0, "reversed": 0} | counted
    found = cache.provenance(work.sources, work.options, counts, work.notes)
    if codec == "varint" and work.targets.plain is not None:
        done = counted.get("duplicates") is not None and work.targets.plain.exists()
        found["plain"] = cache.identify_graph(work.targets.plain) if done else f"sha256 {'0' * 64} size {10**10}"
    return found
