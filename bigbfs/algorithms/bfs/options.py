"""What a BFS is asked to do. No NumPy here: the command line reads this page to make its help."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from bigbfs.algorithms.bfs.strategies import STRATEGIES, Strategy
from bigbfs.algorithms.registry import Options
from bigbfs.errors import ArgumentError, UsageError
from bigbfs.sizes import integer

if TYPE_CHECKING:
    from bigbfs.algorithms.bfs.gpu.tuning import Tuning
    from bigbfs.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class BfsOptions(Options):
    """A search.

    Attributes
    ----------
    source
        Vertex to search from, internal.
    max_depth
        Last level to reach; None: no limit.
    want_levels, want_parents
        False: that array of the result is all -1; a GPU does not make it, a CPU, which searches with both, no copy.
    strategy
        A name from ``bigbfs strategies``.
    target
        Vertex at whose level the search may end (on the CPU it does; on a GPU it goes on); None: none.
    fetch
        False: levels and parents stay where they are made; the arrays of the result are all -1.
    tuning
        Of the persistent loop on a GPU; None: as measured.

    Raises
    ------
    UsageError
        The strategy is unknown, or ``max_depth`` is negative.
    """

    source: int = 0
    max_depth: int | None = None
    want_levels: bool = True
    want_parents: bool = True
    strategy: str = "auto"
    fetch: bool = True
    tuning: Tuning | None = None
    target: int | None = None

    exchanges: ClassVar[bool] = True

    programs: ClassVar[dict[str, str]] = {
        "cpu": "bigbfs.algorithms.bfs.cpu.program:CpuBfs",
        "gpu": "bigbfs.algorithms.bfs.gpu.program:GpuBfs",
        "ranks": "bigbfs.algorithms.bfs.ranks.program:bfs_over_ranks",
        "peers": "bigbfs.algorithms.bfs.gpu.peers.program:PeerBfs",
        "hosts": "bigbfs.algorithms.bfs.gpu.hosts.program:HostBfs",
        "streamed": "bigbfs.algorithms.bfs.gpu.hosts.streamed_program:StreamedHostBfs",
    }

    def __post_init__(self) -> None:
        """Refuse what no graph allows, and what is of another type."""
        object.__setattr__(self, "source", integer("source", self.source))
        if self.max_depth is not None:
            object.__setattr__(self, "max_depth", integer("max_depth", self.max_depth))
        if self.target is not None:
            object.__setattr__(self, "target", integer("target", self.target))
        if not isinstance(self.strategy, str):
            raise ArgumentError("must be the name of a strategy", about=(("strategy", self.strategy),))
        if self.strategy not in STRATEGIES:
            raise UsageError(f"strategy {self.strategy!r} is unknown: choose one of {', '.join(STRATEGIES)}")
        if self.max_depth is not None and self.max_depth < 0:
            raise UsageError(f"max_depth is {self.max_depth}: it must be 0 or more")

    def require_source(self, n: int) -> None:
        """Refuse a source that is none of the ``n`` vertices.

        Raises
        ------
        UsageError
            With both numbers.
        """
        if not 0 <= self.source < n:
            raise UsageError(f"source {self.source} is no vertex: the graph has {n}")

    def internal(self, graph: Graph) -> BfsOptions:
        """Return the same search between the vertices whose original ids are ``source`` and ``target``.

        Raises
        ------
        UsageError
            There is no such vertex.
        """
        target = None if self.target is None else graph.vertex(self.target)
        return replace(self, source=graph.vertex(self.source), target=target)

    def require_peers(self) -> None:
        """Refuse what has no form over several GPUs.

        Raises
        ------
        UsageError
            Names the strategy.
        """
        if self.entry.loop != "persistent":
            several = ", ".join(name for name, entry in STRATEGIES.items() if entry.loop == "persistent")
            raise UsageError(f"strategy {self.strategy!r} runs on one GPU, and several are asked for: take {several}")

    @property
    def entry(self) -> Strategy:
        """The strategy."""
        return STRATEGIES[self.strategy]

    @property
    def key(self) -> Hashable:
        """Searches of one strategy share their state."""
        return ("bfs", self.strategy, self.tuning)

    @property
    def uses_heads(self) -> bool:
        """Whether a head table and hot rows in device memory are of use."""
        return self.entry.loop == "persistent"

    @property
    def reads_heads(self) -> bool:
        """Whether rows that the head table holds are read from it, so that more heads are of use."""
        return self.uses_heads

    @property
    def wants_heads(self) -> bool:
        """Whether as many heads as there is room for are of use where edges are mapped, however long the rows are."""
        return self.uses_heads

    @property
    def takes_numbers(self) -> bool:
        """Whether vertices with edges may have numbers of their own on a GPU."""
        return self.entry.loop == "persistent"

    def residencies(self) -> Sequence[str]:
        """Return where the edges of a GPU run may live, best first."""
        return self.entry.residencies if "gpu" in self.entry.backends else ()

    def require_backend(self, backend: str, residency: str) -> None:
        """Refuse a place where the strategy cannot run.

        Raises
        ------
        UsageError
            Names the strategy, the place, and what helps.
        """
        entry = self.entry
        if backend not in entry.backends:
            raise UsageError(
                f"strategy {self.strategy!r} runs on {' and '.join(entry.backends)}, not on the {backend}: choose "
                f"strategy 'auto', or that backend"
            )
        if backend == "gpu" and residency not in ("auto", *entry.residencies):
            raise UsageError(
                f"strategy {self.strategy!r} runs with edges in {' or '.join(entry.residencies)}, not {residency}: "
                f"choose strategy 'auto', or that residency"
            )
