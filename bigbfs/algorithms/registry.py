"""The registry of algorithms: one entry each, from which commands, verification, plans and tests are made.

No NumPy here, and none behind it until an entry is asked for its parts: ``bigbfs --help`` reads this page.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from bigbfs.errors import UsageError

if TYPE_CHECKING:
    from bigbfs.engines.gpu.placement.arrays import ArraySpec
    from bigbfs.engines.gpu.runtime.kernels import KernelSpec
    from bigbfs.graph.graph import Graph


class Oracle(Protocol):
    """What the reference says of one graph, and whether results agree."""

    def __init__(self, graph: Any, runs: int) -> None:
        """Compute what is expected of ``graph`` (plain rows), for so many runs."""

    def work(self, strategy: str) -> Iterator[Any]:
        """Yield the options of every run under ``strategy``."""

    def differences(self, work: Any, result: Any) -> list[str]:
        """Return what is wrong with ``result``, in words; nothing if it is right."""


def load(name: str) -> Any:
    """Return what ``"module:attribute"`` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


class Options:
    """What the options of every algorithm can do: they are the work that an engine runs (:mod:`bigbfs.engines.engine`).

    ``programs`` names the program of each backend. Those of a GPU have two functions beside what ``Program`` asks for:
    ``arrays(options, residency)`` and ``kernels(options, residency)``.
    """

    __slots__ = ()

    programs: ClassVar[dict[str, str]]

    exchanges: ClassVar[bool] = False
    """Whether ranks may be told how to tell one another what is visited."""

    @property
    def key(self) -> Hashable:
        """Work of one key shares a program: by default all of an algorithm's."""
        return type(self).__name__

    @property
    def called(self) -> str:
        """What errors call it: by default the name of the class without ``Options``."""
        return type(self).__name__.removesuffix("Options").lower()

    @property
    def uses_heads(self) -> bool:
        """Whether a head table and hot rows in device memory are of use."""
        return True

    @property
    def reads_heads(self) -> bool:
        """Whether rows that the head table holds are read from it, so that more heads are of use."""
        return False

    @property
    def wants_heads(self) -> bool:
        """Whether as many heads as there is room for are of use where edges are mapped, however long the rows are."""
        return False

    @property
    def takes_numbers(self) -> bool:
        """Whether vertices with edges may have numbers of their own on a GPU."""
        return False

    @property
    def fills_memory(self) -> bool:
        """Whether its state is most of what a run on a GPU takes."""
        return False

    def internal(self, graph: Graph) -> Self:
        """Return the same work on internal vertices; UsageError where it names a vertex that is not there."""
        return self

    def residencies(self) -> Sequence[str]:
        """Return where the edges of a GPU run may live, best first."""
        return ("vram", "mapped", "streamed")

    def require_backend(self, backend: str, residency: str) -> None:
        """Refuse a place where this work cannot run; by default there is none."""

    def arrays(self, residency: str) -> tuple[ArraySpec, ...]:
        """Return the state in device memory of a GPU run."""
        found: tuple[ArraySpec, ...] = load(self.programs["gpu"]).arrays(self, residency)
        return found

    def kernels(self, residency: str) -> tuple[KernelSpec, ...]:
        """Return every kernel that a GPU run launches."""
        found: tuple[KernelSpec, ...] = load(self.programs["gpu"]).kernels(self, residency)
        return found

    def narrower(self) -> Self | None:
        """Return the same work with less state, for a GPU that has no room for more; None: there is no such."""
        return None

    def program(self, backend: str, residency: str) -> Callable[[Any, Any], Any]:
        """Return what makes the program from the placed graph and these options."""
        made: Callable[[Any, Any], Any] = load(self.programs[backend])
        return made


class Algorithm(NamedTuple):  # a dataclass takes some milliseconds to make, at each `bigbfs --help`
    """An algorithm; the parts are named as ``"module:attribute"`` and loaded when they are asked for.

    Attributes
    ----------
    name
        What it is called in tables and by ``bigbfs plan --algorithm``.
    command
        Name of its command.
    summary
        One line for ``bigbfs --help``.
    options, result
        Its options and result classes.
    oracle
        A class as ``Oracle``: the reference beside it.
    kernels
        A function that returns every kernel of the algorithm, those of its verification and variants too; empty where
        it does not run on a GPU.
    table
        The registry of its strategies; empty where there is but one way.
    needs
        Flags that a graph must have (``GraphFlags``), such as ``"directed"``.
    source
        Where it comes from.
    """

    name: str
    command: str
    summary: str
    options: str
    result: str
    oracle: str
    source: str
    kernels: str = ""
    table: str = ""
    needs: tuple[str, ...] = ()

    @property
    def strategies(self) -> Iterable[str]:
        """Names that ``--strategy`` takes, as a live view of their registry."""
        names: Iterable[str] = load(self.table) if self.table else ("auto",)
        return names

    def fits(self, graph: Any) -> bool:
        """Return whether ``graph`` has the flags that this algorithm needs."""
        return all(getattr(graph.flags, need) for need in self.needs)

    def part(self, name: str) -> Any:
        """Return what the field ``name`` (``"options"``, ``"result"``, ``"oracle"``, ``"kernels"``) names."""
        return load(getattr(self, name))


def work_of(algorithms: dict[str, Algorithm], names: Sequence[str]) -> tuple[Any, ...]:
    """Return the default options of the algorithms ``names``.

    Raises
    ------
    UsageError
        There is no such algorithm.
    """
    for name in names:
        if name not in algorithms:
            raise UsageError(f"algorithm {name!r} is unknown: choose from {', '.join(algorithms)}")
    return tuple(algorithms[name].part("options")() for name in names)
