"""Options that several commands share, and what they have in common: finding and opening the graph."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from bigbfs import api
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.algorithms.ranked_engine import open_shards
from bigbfs.cli import converting
from bigbfs.cli.notes import tell
from bigbfs.cli.ranks import engine as _ranked
from bigbfs.cli.ranks import in_turn, on_any
from bigbfs.cli.values import PATH, THREADS, Size
from bigbfs.cli.wording import printable
from bigbfs.config import DeviceProfile, find_profile, read_profile
from bigbfs.engines.backends import GPU_OPTIONS, check_options
from bigbfs.errors import FileAccessError, UsageError
from bigbfs.formats.container.parts import holds_manifest
from bigbfs.graph.graph import Graph
from bigbfs.jit import compiling
from bigbfs.record import LOST_SHARE
from bigbfs.record import disturbed as is_disturbed
from bigbfs.report.progress import Progress
from bigbfs.report.table import labelled
from bigbfs.sizes import counted, format_size

F = TypeVar("F", bound=Callable[..., Any])


_graph = click.argument("graph", required=False, type=PATH, metavar="[GRAPH]")
compressed_option = click.option(
    "--compressed", is_flag=True, help="Use the delta-varint .ccsr (made from the .csrbin when missing)."
)
verify_option = click.option(
    "--verify", is_flag=True, help="Verify every result against the edges of GRAPH; exit 3 on any difference."
)
verify_bounds_option = click.option(
    "--verify", is_flag=True, help="Search singly from a sample of vertices; exit 3 where one is out of its bounds."
)


def graph_argument(function: F) -> F:
    """Add the argument GRAPH, and the option for one that is a table of edges."""
    return _graph(converting.columns_option(function))


strategy_option = click.option(
    "--strategy",
    type=click.Choice(list(STRATEGIES)),
    default="auto",
    show_default=True,
    help="How the frontier is expanded; see `bigbfs strategies`.",
)


class Profile(click.ParamType):
    """A device profile: a TOML file, or the name of a packaged one."""

    name = "profile"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> DeviceProfile:
        """Find and read it."""
        return value if isinstance(value, DeviceProfile) else read_profile(find_profile(value))


def memory_options(function: F) -> F:
    """Add the options that say what memory a GPU run may take."""
    decorators = (
        click.option(
            "--residency",
            type=click.Choice(api.RESIDENCIES),
            default="auto",
            show_default=True,
            help="Where the edges live on a GPU run: its memory, host memory read in place, the file read in batches.",
        ),
        click.option("--vram-budget", type=Size(), help="GPU memory to use at most, e.g. 6GiB. Default: what is free."),
        click.option(
            "--ram-budget",
            type=Size(),
            help="Host memory to page-lock at most for a GPU run (file pages read in place count). Default: 90 %.",
        ),
        click.option(
            "--profile",
            type=Profile(),
            metavar="FILE | NAME",
            help="Rates of the GPU: a file that `bigbfs probe` wrote, or a packaged one (h200, laptop-6gb).",
        ),
    )
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


def where_options(function: F) -> F:
    """Add the options that say where a traversal runs."""
    threads = click.option("--threads", type=THREADS, help="CPU threads. Default: all that this process may use.")
    backend = click.option(
        "--backend", type=click.Choice(api.BACKENDS), default="auto", show_default=True, help="auto: GPU if any."
    )
    return backend(memory_options(threads(function)))


def check_where(where: dict[str, Any]) -> None:
    """Refuse, before any work is done ``where_options`` that do not go together.

    Raises
    ------
    NoDeviceError, UsageError
        As :func:`bigbfs.engines.backends.check_options`.
    """
    given = {name: where[name] for name in GPU_OPTIONS if where[name] not in (None, "auto")}
    if given or where["threads"] is not None:
        check_options(where["backend"], api.choose_backend(where.get("backend", "auto")), given, where["threads"])


def resolve_graph(graph: Path | None, compressed: bool) -> Path:
    """Return the file to open: ``graph``, or else the newest graph file in this folder.

    Edges in another format are converted first, or their graph file found up to date. With ``compressed`` a plain file
    is turned into its .ccsr (made when missing or stale). Without it, and without a ``graph``, the .csrbin beside the
    newest .ccsr is preferred.

    Raises
    ------
    UsageError
        No graph is named and this folder holds none.
    FileAccessError
        It holds none that may be read.
    """
    path = converting.converted(_newest(compressed) if graph is None else graph)
    if compressed and path.suffix != ".ccsr":
        from bigbfs.conversion import ensure_compressed

        path = ensure_compressed(path, Progress(), partial(_say_made, path))
    return path


def _newest(compressed: bool) -> Path:
    """Return the newest graph file of this folder; one that is newer and may not be read is told."""
    from bigbfs.formats.container.newest import closed_graphs, newest_graph

    path = newest_graph(Path())
    closed = closed_graphs(Path(), path)
    if path is None and closed:
        more = f", nor may {counted(len(closed) - 1, 'other')}" if closed[1:] else ""
        raise FileAccessError(
            f"no GRAPH given, and {closed[0][0]} in this folder may not be read ({closed[0][1]}){more}; change its "
            "mode, run as its owner, or name another GRAPH"
        )
    if path is None:
        raise UsageError("no GRAPH given and no .csrbin or .ccsr in this folder: run `bigbfs convert FILE` first")
    for other, why in closed:
        tell(printable(f"bigbfs: passed over {other}, which is newer than {path}: cannot read: {why}"))
    plain = path.with_suffix(".csrbin")
    return plain if not compressed and path.suffix == ".ccsr" and os.access(plain, os.R_OK) else path


@contextmanager
def opened(
    graph: Path | None, compressed: bool, group: Any = None, *, shards: bool = False
) -> Iterator[tuple[Graph, float]]:
    """Open the graph that the arguments mean; yield it with the seconds that this took. Its edges are not looked at.

    ``group``: the ranks that all open it; what must be converted is converted once. With ``shards`` it may be a folder
    of them: each rank opens its own, a process alone all.
    """
    if shards and graph is not None and on_any(group, holds_manifest(graph)):
        converting.require_no_columns(graph)
        start = time.perf_counter()
        with open_shards(graph, group) as found:
            if compressed and found.codec == "plain":
                raise UsageError(f"{graph}: has plain rows; split the .ccsr for --compressed")
            yield found, time.perf_counter() - start
        return
    path = in_turn(group, lambda: resolve_graph(graph, compressed))
    _say_what_is_newer(path)
    start = time.perf_counter()
    with Graph.open(path) as found:
        if compressed and found.codec == "plain":
            raise UsageError(f"{path}: holds plain rows, whatever its name; rename it to .csrbin for --compressed")
        kinds = {"compressed": found.codec != "plain", "directed": found.flags.directed}
        compiling.graph = frozenset(kind for kind, true in kinds.items() if true)
        yield found, time.perf_counter() - start


def _say_made(plain: Path, made: Path) -> None:
    size = format_size(made.stat().st_size)
    tell(f"bigbfs: made {printable(str(made))} of {printable(str(plain))}, {size}")


def _say_what_is_newer(path: Path) -> None:
    from bigbfs.formats.container.origin import newer_sources

    for source in newer_sources(path):
        tell(f"bigbfs: {source} is newer than {path}, which was made of it: `bigbfs convert` makes it again")


@contextmanager
def placed(graph: Graph, work: tuple[Any, ...], ranks: tuple[Any, Any] = (None, None), **where: Any) -> Iterator[Any]:
    """Place ``graph`` for ``work`` and yield the engine; say so on a terminal where it takes long.

    ``ranks``: the group that places it together, and what the options say of ranks.
    """
    group, asked = ranks
    if group is None and api.choose_backend(where.get("backend", "auto")) == "cpu":
        group = getattr(graph, "group", None)  # that of a process which has opened all shards
    with ExitStack() as stack:
        with Progress().step("place the graph, compile what runs on it"):
            made = api.engine(graph, work=work, **where) if group is None else _ranked(graph, group, work, asked, where)
            engine = stack.enter_context(made)
        yield engine


def setup_line(engine: Any, opening: float, verifying: float | None) -> str:
    """Return the line of the seconds that are no part of a traversal; ``opening`` is what opening the file took."""
    setup = engine.setup
    parts = {"open": opening + setup.open, "start": setup.start, "place": setup.place, "compile": setup.compile}
    if engine.backend == "cpu":
        del parts["start"]
    if verifying is not None:
        parts["verify"] = verifying
    return "apart       " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in parts.items())


def disturbed_line(disturbed: int, runs: int) -> str | None:
    """Return the line that says how many of the timed ``runs`` had to share the cores; None where none had to."""
    if not disturbed:
        return None
    return (
        f"disturbed   {disturbed:,} of {counted(runs, 'run')} waited for a core for over {LOST_SHARE:.0%} of the time"
    )


def lost_line(lost: float) -> str | None:
    """Return the line that says which share of the time a run had no core; None where that is little."""
    return f"disturbed   for {lost:.0%} of the time it had to wait for a core" if is_disturbed(lost) else None


def describe(graph: Any) -> str:
    """Return the line that says which graph is worked on, or two where one of 80 characters does not hold it."""
    kind = "directed" if graph.flags.directed else "undirected"
    counts = f"{counted(graph.n, 'vertex', 'vertices')}, {counted(graph.m, 'directed edge')}, {kind}, {graph.codec}"
    line = f"graph       {printable(str(graph.path))}: {counts}"
    return line if len(line) <= 80 else f"graph       {printable(str(graph.path))}:\n            {counts}"


def describe_engine(engine: Any, how: str = "") -> str:
    """Return what says where the work is done, and ``how``, in lines of 80 characters at most."""
    outside = engine.residency in ("mapped", "streamed")  # then also how: the file itself, or a copy
    where = f"{engine.residency} ({engine.edges_kind})" if outside else engine.residency
    return labelled("backend", f"{engine.backend}: {engine.device}, edges in {where}{how}")
