"""The placement that ranks of several GPUs agree on: the first way for which all of them have room.

A run and ``bigbfs plan`` make the same calls here. In a run every rank plans for itself, and hears what the others say;
for a plan one process plays all ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.planning import HOT_SHARE, Limits, Plan
from bigbfs.engines.gpu.ranks.plan import STREAMED, plan_of, ways, with_hot_rows
from bigbfs.engines.ranks.partition import WHOLE, Partition, cut
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.graph.graph import Graph


@dataclass(frozen=True)
class Ranks:
    """Who plans.

    Attributes
    ----------
    hosts
        Machine of each rank.
    mine
        Ranks that are planned for here.
    everyone
        Returns what is said of all ranks, in order, from what is said of each of ``mine``.
    carrier
        Returns the transport of a form of the work; asked for by all ranks together.
    """

    hosts: tuple[str, ...]
    mine: Sequence[int]
    everyone: Callable[[list[Any]], list[Any]]
    carrier: Callable[[str], str]


@dataclass(frozen=True)
class Wanted:
    """What is asked for: the work, where edges may lie, the names given for transport and exchange, and whether each
    rank takes all rows."""

    work: tuple[Work, ...]
    residency: str = "auto"
    transport: str = "auto"
    exchange: str = "auto"
    whole: bool = False

    @property
    def streams(self) -> bool:
        """Whether rows might be streamed if nobody says otherwise."""
        return (
            self.transport != "peers"
            and self.exchange == "auto"
            and all(STREAMED in getattr(each, "programs", ()) for each in self.work)
        )


@dataclass(frozen=True)
class Agreed:
    """The plans of ``Ranks.mine``, who owns what, the form of the work, and what carries words between ranks."""

    plans: tuple[Plan, ...]
    partition: Partition
    form: str
    transport: str


def as_ranges(graph: Graph, partition: Partition) -> Partition:
    """Return ``partition``, or where it deals words one into ranges: each rank then reads one stretch of the file."""
    return partition if len(partition.bounds) else cut(np.asarray(graph.adjacency.indptr), partition.size)


def agree(
    graph: Graph,
    partition: Partition,
    ranks: Ranks,
    wanted: Wanted,
    form: str,
    limits: Limits,
    registers_read_only: bool,
) -> Agreed:
    """Return the first way for which all ranks have room, in the file at last; all ranks make this call.

    Parameters
    ----------
    form
        What :func:`bigbfs.engines.gpu.ranks.transport.form_of` has said.
    limits, registers_read_only
        As of :func:`bigbfs.engines.gpu.planning.make_plan`, for each of ``ranks.mine``.

    Raises
    ------
    UsageError
        The residency is unknown, or a rank cannot use the transport.
    DoesNotFitError
        A rank has no room.
    """
    if form != STREAMED:
        try:
            return _fitting(graph, partition, ranks, wanted, form, limits, registers_read_only)
        except DoesNotFitError:
            if wanted.whole or wanted.residency != "auto" or not wanted.streams:
                raise
    found = _fitting(
        graph,
        as_ranges(graph, partition),
        ranks,
        replace(wanted, residency=STREAMED),
        STREAMED,
        limits,
        registers_read_only,
    )
    if partition.kind != "words" or partition.size == 1:
        return found
    said = "ranges, not words: each rank reads one stretch of the file"
    return replace(found, plans=tuple(replace(plan, why=(*plan.why, said)) for plan in found.plans))


def _fitting(
    graph: Graph,
    partition: Partition,
    ranks: Ranks,
    wanted: Wanted,
    form: str,
    limits: Limits,
    registers_read_only: bool,
) -> Agreed:
    """Return the first way of ``wanted.residency`` for which all ranks have room."""
    transport, residency = ranks.carrier(form), wanted.residency
    programs = [each.program(form, residency) for each in wanted.work]
    if wanted.whole:
        _require_all_rows(transport, residency, programs)
    tried = list(ways(graph, residency, wanted.work, whole=wanted.whole))
    how = (limits, registers_read_only, programs, transport == "mpi")
    planned = [
        [
            plan_of(graph, partition, rank, choice, groups, *how, stages, whole=all_rows)
            for choice, groups, stages, all_rows in tried
        ]
        for rank in ranks.mine
    ]
    everyone = ranks.everyone([([plan.fits for plan in plans], plans[-1].ledger()) for plans in planned])
    for number in range(len(tried)):
        if all(fits[number] for fits, _ in everyone):
            share = 1.0 if residency == "auto" else HOT_SHARE
            chosen = (
                with_hot_rows(plans[number], graph, partition, rank, share)
                for rank, plans in zip(ranks.mine, planned, strict=True)
            )
            return Agreed(tuple(chosen), partition, form, transport)
    raise _no_room(graph, ranks, everyone, planned[0][-1], residency, wanted.streams and form != STREAMED)


def _require_all_rows(transport: str, residency: str, programs: Sequence[Any]) -> None:
    """Refuse that each rank takes all rows where that has no form.

    Raises
    ------
    UsageError
        Says why.
    """
    why = ""
    if transport != "peers":
        why = "GPUs that each have all rows are those of one machine"
    elif residency not in ("auto", "vram"):
        why = f"each GPU has all rows in its own memory, and edges that are {residency} lie outside"
    elif not all(getattr(program, "TAKES_ALL_ROWS", False) for program in programs):
        why = "not all of this work has a form where each GPU has all rows"
    if why:
        raise UsageError(why, about=(("partition", WHOLE),), remedies=(("partition", "auto", "use {}"),))


def _no_room(
    graph: Graph, ranks: Ranks, everyone: list[Any], last: Plan, residency: str, streams: bool
) -> DoesNotFitError:
    """Return the error that names the first rank without room, and its ledger."""
    size = len(ranks.hosts)
    worst = next(rank for rank, (fits, _) in enumerate(everyone) if not fits[-1] or rank == size - 1)
    return DoesNotFitError(
        f"{graph.path or 'the graph'} does not fit {size} GPUs, not even with the smallest head table: rank "
        f"{worst} (host {ranks.hosts[worst]})\n{everyone[worst][1]}",
        remedies=(
            *((("partition", "auto", "use {}"),) if last.whole else ()),
            *((("residency", "mapped", "use {}"),) if residency == "vram" else ()),
            *((("residency", STREAMED, "use {}"),) if residency in ("vram", "mapped") and streams else ()),
            "more GPUs, where `bigbfs plan` says that they have room",
            ("backend", "cpu"),
        ),
        lead="\nwhat helps: ",
    )
