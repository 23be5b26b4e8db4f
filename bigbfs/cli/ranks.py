"""Commands that run as several ranks: the options, joining the others, starting them, and what only rank 0 does.

``--ranks N`` runs the same command line under mpiexec; a process that mpiexec or srun has started joins the others.
Only rank 0 prints and writes. A rank that fails says so and ends all (:func:`bigbfs.engines.ranks.launch.leave`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from bigbfs.cli.said import say
from bigbfs.cli.same_command import require_one_command
from bigbfs.engines.backends import GPU_OPTIONS
from bigbfs.engines.ranks import launch
from bigbfs.errors import Argument, BigBfsError, UsageError
from bigbfs.formats.atomic import remove_stale
from bigbfs.jit.processors import processors
from bigbfs.sizes import counted

F = TypeVar("F", bound=Callable[..., Any])

WHOLE = "whole"
PARTITIONS = ("auto", "words", "ranges", WHOLE)
EXCHANGES = ("auto", "common", "messages", "list", "bitmap", "hubs", "window")
TRANSPORTS = ("auto", "peers", "nccl", "mpi")


@dataclass(frozen=True)
class Ranks:
    """What the options say: how many ranks (None: as many as were started), and how they share and tell; ``gpus``: so
    many, or ``"all"``, one for each rank; None: CPUs. ``transport``: what carries words between GPUs."""

    count: int | None
    partition: str
    exchange: str
    verbose: bool
    gpus: str | None = None
    transport: str = "auto"


class Gpus(click.ParamType):
    """How many GPUs: a number, or all."""

    name = "gpus"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what is neither."""
        text = str(value)
        if text != "all" and not (text.isdecimal() and int(text) > 0):
            self.fail(f"{value!r} is neither a number above 0 nor 'all'.", param, ctx)
        return text


def gpus_option(stays: str = "") -> Callable[[F], F]:
    """Return the options of commands that run on several GPUs, to go above :func:`options`; ``stays``: when on one."""
    text = f"Run on N GPUs of this machine, a process for each{stays}."
    number = click.option("--gpus", type=Gpus(), metavar="N | all", help=text)
    by = click.option(
        "--transport",
        type=click.Choice(TRANSPORTS),
        default="auto",
        show_default=True,
        help="How GPUs tell each other: in one another's memory (one machine), by NCCL, or by MPI and host memory.",
    )
    return lambda function: number(by(function))


def options(function: F) -> F:
    """Add the options of commands that run as several ranks; they arrive as one argument, ``ranks``."""
    decorators = (
        click.option(
            "--ranks",
            "count",
            type=click.IntRange(1),
            metavar="N",
            help="Run as N processes, each with its share of the graph (`mpiexec -n N bigbfs ...` does the same).",
        ),
        click.option(
            "--partition",
            type=click.Choice(PARTITIONS),
            default="auto",
            show_default=True,
            help="What a rank owns: words of 64 vertices in turn, or a range. whole: words, and each GPU has all rows.",
        ),
        click.option(
            "--exchange",
            type=click.Choice(EXCHANGES),
            default="auto",
            show_default=True,
            help="How ranks tell each other what is visited.",
        ),
        click.option("-v", "--verbose", is_flag=True, help="Every rank says what it does, on standard error."),
    )

    def command(**given: Any) -> Any:
        names = ("count", "partition", "exchange", "verbose")
        on_gpus = {"gpus": given.pop("gpus", None), "transport": given.pop("transport", "auto")}
        asked = replace(Ranks(*(given.pop(name) for name in names)), **on_gpus)
        with _remedies_beside(asked):
            return function(ranks=asked, **given)

    command.__doc__ = function.__doc__
    command.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]  # click's own
    for decorate in reversed(decorators):
        command = decorate(command)
    return command  # type: ignore[return-value]  # wrapped, it is called like F


@contextmanager
def _remedies_beside(asked: Ranks) -> Iterator[None]:
    """Say of the CPU as a remedy that it goes without --gpus, which would refuse it; offer no other number of GPUs
    where the launcher has said how many processes there are."""
    try:
        yield
    except BigBfsError as error:
        if asked.gpus is not None:
            error.remedies = tuple(
                each._replace(words=f"{each.words} and no --gpus") if each.what == Argument("backend", "cpu") else each
                for each in error.remedies
                if not (isinstance(each.what, Argument) and each.what.name == "gpus" and launch.started())
            )
        raise


@contextmanager
def joined(asked: Ranks, where: dict[str, Any]) -> Iterator[Any]:
    """Yield the group that this process is a rank of, or None: it works alone.

    Raises
    ------
    UsageError
        The launcher, MPI, ``--ranks`` or the ranks' command lines contradict one another, or the run is for a GPU.
    click.exceptions.Exit
        The ranks were started, and have ended: with their exit code.
    """
    by = launch.started()
    if asked.gpus is not None:
        asked = _on_gpus(asked, by, where)
    elif asked.transport != "auto":
        raise UsageError("--transport is for ranks on GPUs; give --gpus too, or leave it out")
    if by is None and asked.count is None:
        refuse_alone(asked)
        yield None
        return
    if asked.gpus is None:
        if where.get("backend") == "gpu":
            way = "use --gpus all" if asked.count is None else f"use --gpus {asked.count} in place of --ranks"
            raise UsageError(f"ranks run on CPUs unless --gpus is given; {way}, or leave --backend gpu out")
        where["backend"] = "cpu"
    if by is None and asked.count == 1:
        yield one()
        return
    if by is None:
        assert asked.count is not None
        _require_cores(asked)
        arguments = click.get_current_context().find_root().obj or sys.argv[1:]
        threads = where.get("threads") or max(1, processors() // asked.count)
        raise click.exceptions.Exit(_started(asked.count, arguments, threads))
    if asked.count not in (None, by.size):
        option, way = ("--ranks", "leave --ranks out") if asked.gpus is None else ("--gpus", "use --gpus all")
        raise UsageError(f"{option} {asked.count}, and {by.by} started {by.size}; {way}")
    group = launch.join(by)
    require_one_command(group)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(sys.stdout if group.rank == 0 else nowhere):
        if asked.verbose:
            say(group, f"process {os.getpid()}, {group.host_rank + 1} of {group.host_size} on this host")
        yield group
    launch.part()


def _require_cores(asked: Ranks) -> None:
    """Refuse far more ranks than this machine has cores: they poll, and would take minutes to start and to meet.

    Raises
    ------
    UsageError
        With both numbers.
    """
    cores, count = processors(), asked.count or 0
    if asked.gpus is None and count > launch.MOST_A_CORE * cores:
        way = f"use --ranks {cores}" if cores > 1 else "leave it out"
        raise UsageError(
            f"--ranks {count}: this process has {counted(cores, 'core')}, and {launch.MOST_A_CORE} ranks for each at "
            f"most are started; {way}, or start them on more machines with mpiexec"
        )


def prefer_gpus(asked: Ranks, where: dict[str, Any]) -> None:
    """Note that a run with --gpus is on GPUs, before other options are held against that.

    Raises
    ------
    UsageError
        It is for the CPU too.
    """
    if asked.gpus is None:
        return
    if where.get("backend") == "cpu":
        raise UsageError("--gpus and --backend cpu contradict each other; leave one of them out")
    where["backend"] = "gpu"


def _on_gpus(asked: Ranks, by: launch.Started | None, where: dict[str, Any]) -> Ranks:
    """Return ``asked`` with the number of ranks that the GPUs asked for make.

    Raises
    ------
    UsageError, NoDeviceError
        There are not so many, or an option does not go with them.
    """
    from bigbfs.engines.gpu.ranks.devices import require_count
    from bigbfs.engines.gpu.runtime import device

    if asked.count is not None:
        raise UsageError("--gpus and --ranks each say how many processes there are; give one of them")
    if asked.exchange != "auto" and asked.transport not in ("nccl", "mpi"):
        raise UsageError(
            "--exchange is for ranks on CPUs, and for GPUs with --transport nccl or mpi; leave it out, or give that"
        )
    if by is not None:
        return replace(asked, count=by.size if asked.gpus == "all" else int(asked.gpus or 0))
    wanted = max(1, device.count()) if asked.gpus == "all" else int(asked.gpus or 0)
    require_count(wanted)
    if wanted == 1:
        return replace(asked, count=None, partition="auto", exchange="auto", verbose=False, gpus=None, transport="auto")
    return replace(asked, count=wanted)


def stays_on_one(graph: Any, group: Any, asked: Ranks) -> bool:
    """Return whether one GPU alone is taken for ``graph``, and say so; all ranks make this call."""
    if group is None or asked.gpus is None:
        return False
    from bigbfs.algorithms.ranked_gpus import levels_of_one

    levels = levels_of_one(graph, group, asked.partition)
    if levels is not None and group.rank == 0:
        click.echo(
            f"bigbfs: stays on one GPU: about {levels:,} levels are expected, and {group.size} GPUs would meet in each "
            "of them; --partition words shares the graph all the same",
            err=True,
        )
    return levels is not None


def _started(ranks: int, arguments: Sequence[str], threads: int) -> int:
    """Run the ranks and return their exit code; a file that one was killed over is not left half-written."""
    code = -1
    try:
        code = launch.start(ranks, arguments, threads)
    finally:
        if code:
            for value in click.get_current_context().params.values():
                if isinstance(value, Path):
                    remove_stale(value)
    return code


def refuse_alone(asked: Ranks) -> None:
    """Refuse options that only ranks have a use for."""
    for name in ("partition", "exchange"):
        if getattr(asked, name) != "auto":
            way = "--gpus" if asked.partition == WHOLE else "--ranks"
            raise UsageError(f"--{name} is for several ranks; give {way} too, or leave it out")
    if asked.verbose:
        raise UsageError("--verbose is what ranks say; give --ranks too, or leave it out")


def one() -> Any:
    """Return a group of this process alone."""
    from bigbfs.engines.ranks.threads import alone

    return alone()


def is_first(group: Any) -> bool:
    """Return whether this process prints and writes."""
    return group is None or group.rank == 0


def in_turn(group: Any, work: Callable[[], Path]) -> Path:
    """Return what ``work`` returns, which may write a file: first on one rank of each host, then on the others."""
    if group is None:
        return work()
    found = work() if group.host_rank == 0 else None
    group.barrier()
    return work() if found is None else found


def on_any(group: Any, mine: bool) -> bool:
    """Return whether something is so on any rank: all must go one way."""
    return mine if group is None else any(group.objects(mine))


def engine(graph: Any, group: Any, work: tuple[Any, ...], asked: Ranks, where: dict[str, Any]) -> Any:
    """Return the engine of this rank for ``graph``, which speaks original ids."""
    if asked.gpus is not None:
        from bigbfs.algorithms.ranked_gpus import ranked_on_gpus

        given = {name: where[name] for name in GPU_OPTIONS if where[name] is not None}
        tell = partial(say, group) if asked.verbose else None
        return ranked_on_gpus(
            graph,
            group,
            work,
            strategy=where.get("strategy", "auto"),
            kind=asked.partition,
            transport=asked.transport,
            exchange=asked.exchange,
            tell=tell,
            **given,
        )
    from bigbfs.algorithms.ranked_engine import ranked

    return ranked(
        graph,
        group,
        work,
        strategy=where.get("strategy", "auto"),
        threads=where["threads"],
        partition=asked.partition,
        exchange=asked.exchange,
    )
