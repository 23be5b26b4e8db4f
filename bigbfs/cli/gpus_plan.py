"""``bigbfs plan --gpus``: what each rank of a run on several GPUs would keep where, and read from the file,
and how long it will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import click

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.gpus_ahead import Asked, ahead
from bigbfs.algorithms.ranked_gpus import labels_stay, planned_on_gpus
from bigbfs.cli import gpus_times, options
from bigbfs.cli.gpus_remedies import with_remedies
from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.placement.ledger import Buffer
from bigbfs.engines.gpu.planning import PLACES, Limits, Plan
from bigbfs.engines.gpu.ranks.agree import Agreed
from bigbfs.engines.gpu.ranks.plan import STREAMED, own_reads, placing_reads
from bigbfs.engines.ranks.partition import WHOLE
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps, graph_object
from bigbfs.report.table import labelled, table
from bigbfs.sizes import counted, format_size

SHOWN = 16
"""Ranks that are printed; of more, so many that take most."""


def machines_of(gpus: int, hosts: int | None) -> tuple[str, ...]:
    """Return the machine of each rank: as many ranks on each, or nearly.

    Raises
    ------
    UsageError
        There are more machines than ranks.
    """
    hosts = 1 if hosts is None else hosts
    if hosts > gpus:
        raise UsageError(f"--hosts {hosts} is more than --gpus {gpus}; each machine runs a rank at least")
    return tuple(f"machine {rank * hosts // gpus}" for rank in range(gpus))


def show(
    graph: Graph,
    hosts: tuple[str, ...],
    target: Any,
    work: Sequence[Work],
    limits: Limits,
    how: dict[str, str],
    as_json: bool,
) -> None:
    """Print what ranks of ``hosts`` agree on for ``work``; ``how``: as of ``planned_on_gpus``."""
    agreed = _agreed(graph, hosts, target, work, limits, how)
    asked = Asked(work, limits, target.registers_read_only, how, target.profile)
    times, deep = ahead(graph, asked, len(set(hosts)), agreed)
    if agreed.plans[0].whole:  # the model is of ranks that have own rows alone
        times = [replace(each, search=[], components=None) for each in times]
    searches = how.get("kind", "auto") == "auto" and any(isinstance(each, BfsOptions) for each in work)
    whole = getattr(graph, "partition", None) is None  # of shards no rank would have all rows
    levels = deep if searches and whole else None
    alone = _labels_stay(graph, len(hosts), work, limits, how)
    if alone:
        times = [each if each.gpus == 1 else replace(each, components=None) for each in times]
    first, size = agreed.plans[0], len(hosts)
    if as_json:
        predicted = gpus_times.times_object(times, size, target.profile, levels)
        more = {"levels_of_one": levels, "labels_of_one": alone, "predicted": predicted}
        click.echo(dumps(_object(graph, hosts, target, agreed) | more))
        return
    click.echo(options.describe(graph))
    click.echo(labelled("device", f"{target.name}: {format_size(target.free_bytes)} of memory, {target.origin}"))
    ranks = f"{counted(size, 'rank')} on {counted(len(set(hosts)), 'machine')}, a GPU for each"
    click.echo(labelled("ranks", f"{ranks}; partition {_kind(agreed)}, transport {_carried(agreed)}"))
    click.echo(labelled("residency", "; ".join((f"{first.residency}, for which all ranks have room", *first.why))))
    if levels is not None:
        said = f"about {levels:,} are expected: bfs stays on one GPU, which is quicker; --partition words shares it"
        click.echo(labelled("levels", said))
    if alone:
        said = (
            "stored by degree: cc stays on one GPU, sooner with placing; --partition whole labels it quicker, "
            "--partition words shares it"
        )
        click.echo(labelled("components", said))
    click.echo("")
    click.echo(_ranks_table(agreed))
    click.echo("")
    machine = machine_bytes(hosts, agreed.plans)
    click.echo(labelled("machine", f"{format_size(machine)} of host memory for the ranks of one, at most"))
    if first.residency == STREAMED:
        click.echo(labelled("file", _said_of_reads(agreed)))
    click.echo("")
    if first.whole:
        click.echo(labelled("predicted", "no time is, where each GPU has all rows"))
    gpus_times.show(times, size, target.profile, levels, how["transport"] == "auto")
    worst = max(range(size), key=lambda rank: agreed.plans[rank].device_bytes)
    click.echo(f"\nrank {worst}:")
    click.echo(together(agreed.plans[worst]).ledger())


def together(plan: Plan) -> Plan:
    """Return the plan with what several algorithms hold under one name as one buffer: each has its own of them."""
    sums: dict[tuple[str, str, str], int] = {}
    for each in plan.buffers:
        key = (each.name, each.where, each.purpose)
        sums[key] = sums.get(key, 0) + each.bytes
    merged = [Buffer(name, nbytes, where, purpose) for (name, where, purpose), nbytes in sums.items()]
    return replace(plan, buffers=type(plan.buffers)(merged))


def _labels_stay(graph: Graph, gpus: int, work: Sequence[Work], limits: Limits, how: dict[str, str]) -> bool:
    """Return whether ``cc`` runs on one of so many GPUs alone."""
    if not any(isinstance(each, ComponentsOptions) for each in work):
        return False
    if how.get("residency", "auto") not in ("auto", "vram"):
        return False
    return labels_stay(graph, gpus, how.get("kind", "auto"), lambda: limits.vram)


def _agreed(
    graph: Graph,
    hosts: tuple[str, ...],
    target: Any,
    work: Sequence[Work],
    limits: Limits,
    how: dict[str, str],
) -> Agreed:
    """Return the plans of all ranks.

    Raises
    ------
    UsageError, DoesNotFitError
        As ``planned_on_gpus``; with what helps, for which plans are made too.
    """

    def plan(gpus: int, limits: Limits, **other: str) -> Agreed:
        there = hosts if gpus == len(hosts) else machines_of(gpus, len(set(hosts)))
        read_only = target.registers_read_only
        return planned_on_gpus(graph, there, work, limits, registers_read_only=read_only, **how | other)

    try:
        return plan(len(hosts), limits)
    except DoesNotFitError as error:
        raise with_remedies(error, plan, len(hosts), limits) from None


def _kind(agreed: Agreed) -> str:
    """Return the partition as it is asked for: where each GPU has all rows, words only say who owns which vertices."""
    return WHOLE if agreed.plans[0].whole else agreed.partition.kind


def _carried(agreed: Agreed) -> str:
    """Return the transport in words."""
    return f"{agreed.transport} (NCCL takes no staging)" if agreed.transport == "mpi" else agreed.transport


def _ranks_table(agreed: Agreed) -> str:
    plans = agreed.plans
    most = sorted(range(len(plans)), key=lambda rank: plans[rank].device_bytes, reverse=True)[:SHOWN]
    rows = [
        (
            rank,
            agreed.partition.local_vertices(rank),
            *(format_size(plans[rank].bytes_in(where)) for where in ("vram", "mapped", "pinned", "host")),
            format_size(own_reads(plans[rank])),
        )
        for rank in sorted(most)
    ]
    return table(("rank", "vertices", "device", "mapped", "pinned", "host", "edges in file"), rows)


def _said_of_reads(agreed: Agreed) -> str:
    """Return what ranks read from the file, in words."""
    placing = sum(placing_reads(plan) for plan in agreed.plans)
    all_of_them = format_size(sum(own_reads(plan) for plan in agreed.plans))
    return (
        f"placing reads {format_size(placing)}, --verify {all_of_them}, a run what its levels or passes need of that; "
        "a file that was never checked is read once more"
    )


def machine_bytes(hosts: Sequence[str], plans: Sequence[Plan]) -> int:
    """Return the host memory of the machine whose ranks take most; pages of the file that all map count once."""
    found = []
    for host in dict.fromkeys(hosts):
        here = [plan for plan, each in zip(plans, hosts, strict=True) if each == host]
        own = sum(plan.bytes_in("pinned") + plan.bytes_in("host") for plan in here)
        found.append(own + max(plan.bytes_in("mapped") for plan in here))
    return max(found)


def _object(graph: Graph, hosts: tuple[str, ...], target: Any, agreed: Agreed) -> dict[str, Any]:
    first = agreed.plans[0]
    return {
        "schema": SCHEMA,
        "command": "plan",
        "graph": graph_object(graph),
        "device": target.name,
        "device_origin": target.origin,
        "gpus": len(hosts),
        "hosts": len(set(hosts)),
        "partition": _kind(agreed),
        "transport": agreed.transport,
        "residency": first.residency,
        "why": list(first.why),
        "head_groups": first.head_groups,
        "limits": asdict(first.limits),
        "machine_bytes": machine_bytes(hosts, agreed.plans),
        "ranks": [
            {
                "rank": rank,
                "host": host,
                "vertices": agreed.partition.local_vertices(rank),
                "hot_bytes": plan.hot_bytes,
                "placing_reads": placing_reads(plan),
                "totals": {where: plan.bytes_in(where) for where in PLACES},
                "buffers": [asdict(buffer) for buffer in together(plan).buffers],
            }
            for rank, (host, plan) in enumerate(zip(hosts, agreed.plans, strict=True))
        ],
    }
