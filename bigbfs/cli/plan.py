"""``bigbfs plan``: every buffer of a GPU run with its place, what was chosen and why, and the floor of the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from bigbfs.algorithms import ALGORITHMS
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.ranked_gpus import as_one
from bigbfs.algorithms.words import USUAL, usual_work
from bigbfs.cli import gpus_plan, many_plan, options, rank_plan, values
from bigbfs.cli.notes import with_notes
from bigbfs.cli.ranks import PARTITIONS, TRANSPORTS
from bigbfs.config import DEFAULT_PROFILE, DeviceProfile, find_profile, read_profile
from bigbfs.engines.engine import Work
from bigbfs.engines.gpu.floor import Floor, floors
from bigbfs.engines.gpu.numbering import plan_and_numbers
from bigbfs.engines.gpu.planning import PLACES, Limits, Plan, default_budget, default_ram_budget, make_plan
from bigbfs.engines.gpu.runtime import device
from bigbfs.errors import NoDeviceError, UsageError
from bigbfs.formats.container.parts import holds_manifest
from bigbfs.formats.shards.here import ShardsHere
from bigbfs.graph.graph import Graph
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps, graph_object
from bigbfs.report.table import labelled, table
from bigbfs.sizes import counted, format_size

OF_PLANS = {
    "hosts": ("ranks", "gpus"),
    "transport": ("gpus",),
    "partition": ("gpus",),
    "threads": ("ranks", "searches"),
    "memory": ("searches",),
    "collect": ("searches",),
}
"""Options that belong to some of the plans."""


@dataclass(frozen=True)
class Target:
    """The device that is planned for: its rates, ``free_bytes`` of its memory, and by ``origin`` how that is known."""

    profile: DeviceProfile
    name: str
    free_bytes: int
    registers_read_only: bool
    origin: str


@click.command("plan")
@options.graph_argument
@options.compressed_option
@options.memory_options
@click.option(
    "--algorithm",
    "algorithms",
    type=click.Choice(list(ALGORITHMS)),
    multiple=True,
    default=USUAL,
    show_default=True,
    help="What is going to be run; repeatable. Memory that they share is counted once.",
)
@options.strategy_option
@click.option("--ranks", type=click.IntRange(1), metavar="N", help="Plan BFS by N processes on CPUs instead.")
@click.option("--gpus", type=click.IntRange(1, 1024), metavar="N", help="Plan a run by N ranks, each with a GPU.")
@click.option(
    "--hosts", type=click.IntRange(1), metavar="H", help="With --ranks or --gpus: on so many machines. Default: 1."
)
@click.option(
    "--transport",
    type=click.Choice(TRANSPORTS),
    default="auto",
    show_default=True,
    help="With --gpus: as that of the run; auto takes MPI for NCCL, which takes less memory.",
)
@click.option(
    "--partition",
    type=click.Choice(PARTITIONS),
    default="auto",
    show_default=True,
    help="With --gpus: as that of the run; whole is for --algorithm bfs and cc.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="With --ranks: threads of each. Default: its share of cores. With --searches: of the run.",
)
@click.option("--searches", metavar="K|all", help="Plan K searches (all: from every vertex) instead: on CPUs.")
@click.option(
    "--collect",
    type=click.Choice(list(many_plan.COLLECTED)),
    help="With --searches: what they are for. Default: closeness.",
)
@click.option("--memory", type=values.MEMORY, metavar="SIZE", help="With --searches: as that of `bigbfs distances`.")
@values.json_option
def command(
    graph: Path | None,
    compressed: bool,
    residency: str,
    vram_budget: int | None,
    ram_budget: int | None,
    profile: DeviceProfile | None,
    algorithms: tuple[str, ...],
    strategy: str,
    as_json: bool,
    **of_plans: Any,
) -> None:
    """Show what a run on a GPU would keep where, and why; nothing is placed.

    GRAPH is a .csrbin or .ccsr; without it, the newest one in this folder. With --profile the plan is for the device
    that the profile describes, else for the GPU of this machine, else (there is none) for an H200. A plan that does not
    fit ends with exit code 5, as the run would. The floor is bytes that must move over the rates of the profile.

    With --ranks: the memory of a rank and of a machine, what a search of few levels will take by the rates that
    `bigbfs probe --ranks` wrote into the profile, and whether more ranks would be slower. Of a folder of shards, which
    ones each rank opens; not all of them need be here.

    With --gpus: what each rank of a run on several GPUs takes of its device and of its host, by the functions by which
    the run decides; with the edges in the file, what each reads of it. Then the time of a search, level by level, and
    of components, beside that of one GPU, and whether more GPUs would be faster or slower; links are those of the
    profile (`bigbfs probe --gpus`). Which GPUs are here does not matter. Shards must all be here for that.

    With --searches: how many searches at once the memory of CPUs holds, what each width takes, how often the edges are
    read and for how long. A few single searches are run, which show how the levels of this graph are shaped. With
    --residency, --vram-budget or --ram-budget too: the plan of such searches on a GPU, in the widest batches that fit.
    """
    _require_together(of_plans)
    ranks, gpus, hosts, threads, searches = (
        of_plans[name] for name in ("ranks", "gpus", "hosts", "threads", "searches")
    )
    if searches is not None:
        with options.opened(graph, compressed) as (opened, _):
            _show_searches(opened, (residency, vram_budget, ram_budget), profile, of_plans, as_json)
        return
    if ranks is not None:
        refuse_gpu(residency, vram_budget, ram_budget)
        if graph is not None and holds_manifest(graph):
            shards = ShardsHere(graph)
            rank_plan.show(shards, rank_plan.run_of(shards, ranks, hosts, threads), profile, as_json)
            return
        with options.opened(graph, compressed) as (opened, _):
            rank_plan.show(opened, rank_plan.run_of(opened, ranks, hosts, threads), profile, as_json)
        return
    target, machines = find_target(profile), gpus_plan.machines_of(gpus or 1, hosts)
    with options.opened(graph, compressed, shards=True) as (held, _):
        opened = as_one(held)
        limits = _limits(opened, target, vram_budget, ram_budget)
        work = usual_work(strategy, names=algorithms)
        if len(machines) > 1:
            how = {"residency": residency, "kind": of_plans["partition"], "transport": of_plans["transport"]}
            gpus_plan.show(opened, machines, target, work, limits, how, as_json)
            return
        _show(opened, target, work, residency, limits, as_json)


def _show(graph: Graph, target: Target, work: Sequence[Work], residency: str, limits: Limits, as_json: bool) -> None:
    """Print the plan of a run on one GPU."""
    for each in work:
        each.require_backend("gpu", residency)
    read_only = target.registers_read_only
    plan = make_plan(graph, residency, limits.vram, ram_budget=limits.ram, registers_read_only=read_only, work=work)
    floor = floors(graph, plan, target.profile)
    if as_json:
        click.echo(dumps(plan_object(graph, target, plan, floor)))
    else:
        _print(graph, target, plan, floor)


def _limits(graph: Graph, target: Target, vram_budget: int | None, ram_budget: int | None) -> Limits:
    """Return what a run may take: the budgets, and by default what there is."""
    return Limits(
        default_budget(target.free_bytes) if vram_budget is None else vram_budget,
        default_ram_budget(graph) if ram_budget is None else ram_budget,
    )


def _show_searches(
    graph: Graph,
    where: tuple[str, int | None, int | None],
    profile: DeviceProfile | None,
    given: dict[str, Any],
    as_json: bool,
) -> None:
    """Print the plan of many searches: on one GPU, if ``where``, residency and budgets, speaks of it, else on CPUs."""
    residency, vram_budget, ram_budget = where
    collect = given["collect"] or "closeness"
    if where == ("auto", None, None):
        many_plan.show(graph, given["searches"], collect, given["memory"], given["threads"], as_json)
        return
    _refuse_cpu(given)
    target = find_target(profile)
    limits = _limits(graph, target, vram_budget, ram_budget)
    sources, work = many_plan.work_on_gpu(graph, given["searches"], collect)
    asked = (residency, limits.vram, None, None, limits.ram, target.registers_read_only)
    plan, _ = plan_and_numbers(graph, asked, (work,))
    planned = plan.work[0]
    assert isinstance(planned, ManyOptions)
    width, batches = many_plan.batches_on_gpu(planned, sources)
    if as_json:
        more = {"searches": sources, "collect": collect, "width": width, "batches": batches}
        click.echo(dumps(with_notes(plan_object(graph, target, plan, []) | more)))
        return
    _print(graph, target, plan, [])
    text = f"{sources:,}, for {collect}: {width} at once, {counted(batches, 'batch', 'batches')}"
    click.echo(labelled("searches", text))


def _refuse_cpu(given: dict[str, Any]) -> None:
    """Refuse options of searches on CPUs in the plan of searches on a GPU.

    Raises
    ------
    UsageError
        One is given.
    """
    for name in ("memory", "threads"):
        if given[name] is not None:
            raise UsageError(
                f"--{name} is for searches on CPUs, and --residency, --vram-budget and --ram-budget are for those on a "
                "GPU; leave one of them out"
            )


def _require_together(given: dict[str, Any]) -> None:
    """Refuse two plans at once, and options of a plan that is not asked for."""
    asked = [f"--{name}" for name in ("ranks", "gpus", "searches") if given[name] is not None]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} are plans of their own; give one of them")
    for name, plans in OF_PLANS.items():
        if given[name] not in (None, "auto") and all(given[plan] is None for plan in plans):
            named = " or ".join(f"--{plan}" for plan in plans)
            raise UsageError(f"--{name} goes with {named}; give that too, or leave it out")


def refuse_gpu(residency: str, vram_budget: int | None, ram_budget: int | None) -> None:
    """Refuse options of a GPU run in the plan of ranks on CPUs.

    Raises
    ------
    UsageError
        One is given.
    """
    given = {"--residency": residency != "auto", "--vram-budget": vram_budget, "--ram-budget": ram_budget}
    for name, value in given.items():
        if value:
            raise UsageError(
                f"{name} is for a run on a GPU, and --ranks for one on CPUs; leave one of them out, or give --gpus for "
                "ranks on GPUs"
            )


def find_target(profile: DeviceProfile | None) -> Target:
    """Return the device of ``profile``, or the one here with the rates of the default, or the default."""
    if profile is not None:
        return Target(profile, profile.name, profile.memory_bytes, profile.registers_read_only, "profile given")
    rates = read_profile(find_profile(DEFAULT_PROFILE))
    try:
        found = device.probe()
    except NoDeviceError:
        origin = f"packaged profile {DEFAULT_PROFILE}, because no GPU is usable here"
        return Target(rates, rates.name, rates.memory_bytes, rates.registers_read_only, origin)
    origin = f"found here; rates of the packaged profile {DEFAULT_PROFILE} (`bigbfs probe` measures this device's)"
    return Target(rates, found.name, found.free_bytes, found.registers_read_only, origin)


def plan_object(graph: Graph, target: Target, plan: Plan, floor: list[Floor]) -> dict[str, Any]:
    """Return the object that ``bigbfs plan --json`` prints."""
    return {
        "schema": SCHEMA,
        "command": "plan",
        "graph": graph_object(graph),
        "device": target.name,
        "device_origin": target.origin,
        "residency": plan.residency,
        "why": list(plan.why),
        "head_groups": plan.head_groups,
        "hot_bytes": plan.hot_bytes,
        "limits": asdict(plan.limits),
        "totals": {where: plan.bytes_in(where) for where in PLACES},
        "buffers": [asdict(buffer) for buffer in plan.buffers],
        "floors": [asdict(item) for item in floor],
    }


def _print(graph: Graph, target: Target, plan: Plan, floor: list[Floor]) -> None:
    click.echo(options.describe(graph))
    click.echo(labelled("device", f"{target.name}: {format_size(target.free_bytes)} of memory, {target.origin}"))
    for line in plan.why:
        click.echo(labelled("residency", line))
    click.echo("")
    click.echo(plan.ledger())
    click.echo("")
    rows = [(item.work, 1e3 * item.seconds, item.gteps, item.limit) for item in floor]
    if rows:
        click.echo(table(("floor", "ms", "GTEPS", "held by"), rows))
