"""``bigbfs plan --ranks``: memory of a rank and of a machine, what a search will take, whether more would help."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import click
import numpy as np

from bigbfs.algorithms.bfs.ranks import model
from bigbfs.algorithms.components.ranks import exchange
from bigbfs.cli import options
from bigbfs.config import DeviceProfile, RankRates
from bigbfs.engines.cpu import memory, ranked_memory
from bigbfs.engines.ranks.partition import deal
from bigbfs.errors import UsageError
from bigbfs.formats.shards.here import ShardsHere
from bigbfs.formats.shards.mapped import index_bytes, require_shards
from bigbfs.graph.graph import Graph
from bigbfs.jit.processors import processors
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps, graph_object
from bigbfs.report.table import labelled, table
from bigbfs.sizes import counted, format_size

MOST = 4
"""Up to so many times the ranks asked for are looked at."""


@dataclass(frozen=True)
class Item:
    """Memory of one rank: rank 0 of a machine of ``ranks`` ranks takes ``first``, each other ``others``."""

    name: str
    first: int
    others: int
    purpose: str


def run_of(graph: Graph | ShardsHere, ranks: int, hosts: int | None, threads: int | None) -> model.Run:
    """Return what is asked about.

    Raises
    ------
    UsageError
        There are more machines than ranks, or fewer shards than ranks.
    """
    hosts = 1 if hosts is None else hosts
    if hosts > ranks:
        raise UsageError(f"--hosts {hosts} is more than --ranks {ranks}; each machine runs a rank at least")
    beside = -(-ranks // hosts)
    threads = max(1, processors() // beside) if threads is None else threads
    if isinstance(graph, ShardsHere):
        require_shards(graph.path, len(graph.manifest.shards), ranks)
        return model.Run(graph.n, graph.busy(), graph.m, ranks, hosts, threads)
    busy = int(np.count_nonzero(graph.degrees()))
    return model.Run(graph.n, busy, graph.m, ranks, hosts, threads, common=True)


def ledger(graph: Graph | ShardsHere, run: model.Run) -> list[Item]:
    """Return what a rank keeps beside the graph, for BFS with levels and parents."""
    n, ids = graph.n, np.dtype(np.uint32 if graph.n < 2**32 else np.uint64)
    if run.one_state:
        return _common_ledger(n, ids)
    mine = 64 * max(deal(n, run.ranks).counts(), default=0)
    offsets: list[Item] = []
    if isinstance(graph, ShardsHere):
        mine = max(graph.of_rank(rank, run.ranks)[1] for rank in range(run.ranks))
        ways = 1 if graph.flags.symmetric else 2
        size = index_bytes(graph.codec, mine, graph.ids, ways)
        offsets = [Item("offsets", size, size, "where own rows begin")]
        if graph.rest is not None and "labels" in graph.rest.sections:
            offsets.append(Item("ids", 16 * n, 16 * n, "original ids, as they come and as one array"))
    window = ranked_memory.window_bytes(n) if run.ranks > 1 else 0
    survey, search = ranked_memory.survey_bytes(n, mine, ids), ranked_memory.state_bytes(n, mine, ids)
    buffers = ranked_memory.buffer_bytes(run.threads, ids)
    result = [ranked_memory.tree_bytes(n, mine, ids, first=first, levels=True, parents=True) for first in (True, False)]
    return [
        *offsets,
        Item("survey", survey, survey, "heads of own vertices, a byte and a bit of all"),
        Item("search", search, search, "levels, parents, queue of own vertices, bitmaps of all"),
        Item("window", window, 0, "bits that ranks of a machine show one another, once a machine"),
        Item("claims", buffers, buffers, "buffers of the threads"),
        Item("result", result[0], result[1], "levels and parents on their way to rank 0"),
    ]


def _common_ledger(n: int, ids: np.dtype) -> list[Item]:
    """Return the same of ranks that work on one state, which the first counts."""
    survey = [ranked_memory.common_survey_bytes(n, ids, first=first) for first in (True, False)]
    search = [ranked_memory.common_bytes(n, ids, first=first) for first in (True, False)]
    result = memory.tree_bytes(n, levels=True, parents=True)
    return [
        Item("survey", survey[0], survey[1], "heads, which all ranks see, and a byte of all vertices"),
        Item(
            "search",
            search[0],
            search[1],
            "levels, parents, queue and bitmaps, which all ranks see; a bit of all vertices",
        ),
        Item("result", result, 0, "levels and parents on rank 0"),
    ]


def show(graph: Graph | ShardsHere, run: model.Run, profile: DeviceProfile | None, as_json: bool) -> None:
    """Print the plan."""
    rates = RankRates() if profile is None or profile.ranks is None else profile.ranks
    items, levels = ledger(graph, run), model.predict(run, rates)
    counts = model.best_count(run, rates, MOST * run.ranks)
    best = min(counts, key=lambda count: counts[count])
    beside = -(-run.ranks // run.hosts)
    machine = sum(item.first + (beside - 1) * item.others for item in items)
    if as_json:
        click.echo(dumps(_object(graph, run, rates, items, levels, counts, machine)))
        return
    click.echo(options.describe(graph))
    ranks = f"{counted(run.ranks, 'rank')} on {counted(run.hosts, 'machine')}, {counted(run.threads, 'thread')} each"
    click.echo(labelled("ranks", f"{ranks}; rates: {rates.name}"))
    click.echo("")
    rows = [(item.name, format_size(item.first), format_size(item.others), item.purpose) for item in items]
    click.echo(table(("memory", "rank 0", "others", "what"), rows))
    click.echo("")
    click.echo(labelled("machine", f"{format_size(machine)} beside the graph's pages, which its ranks share"))
    click.echo("")
    timed = [
        (level.name, level.levels, 1e3 * level.work, level.told, format_size(level.bytes), 1e3 * level.exchange)
        for level in levels
    ]
    click.echo(table(("levels", "how many", "work ms", "told by", "into a rank", "exchange ms"), timed))
    click.echo("")
    total = 1e3 * model.seconds_of(levels)
    click.echo(labelled("predicted", f"{total:.3g} ms a search of few levels; {_share(levels)}"))
    how = "meetings" if run.one_state else "calls"
    each = f"{1e6 * model.call_seconds(run, rates):.3g} us of {how}: what counts in a graph of thousands of levels"
    click.echo(labelled("each level", each))
    click.echo(labelled("components", _said_of_components(run, rates)))
    more = ", ".join(f"{count}: {1e3 * seconds:.3g} ms" for count, seconds in counts.items())
    click.echo(labelled("by ranks", more))
    click.echo(labelled("verdict", verdict(run.ranks, counts, best)))
    if isinstance(graph, ShardsHere):
        click.echo("")
        owned = [
            (each["rank"], *each["shards"], each["rows"], format_size(each["bytes"])) for each in _owned(graph, run)
        ]
        click.echo(table(("rank", "first shard", "last", "rows", "files"), owned))


def _owned(graph: ShardsHere, run: model.Run) -> list[dict[str, Any]]:
    """Return which shards each rank opens."""
    found = []
    for rank in range(run.ranks):
        parts, rows, size = graph.of_rank(rank, run.ranks)
        found.append({"rank": rank, "shards": [parts.start, parts.stop - 1], "rows": rows, "bytes": size})
    return found


def verdict(ranks: int, counts: dict[int, float], best: int) -> str:
    """Return in words whether other numbers of ranks would be quicker."""
    if best == ranks:
        return f"{ranks} is the quickest of these: more ranks would be slower"
    if not counts[best]:
        return "one process is the quickest: no edge is followed"
    if best > ranks:
        return f"more ranks would be quicker, up to {best} of these: {counts[ranks] / counts[best]:.2f} times"
    return f"fewer would be quicker: {best}, by {counts[ranks] / counts[best]:.2f} times; more ranks are slower still"


def told_of_components(run: model.Run, rates: RankRates) -> tuple[float, float]:
    """Return the bytes into a rank by which components are told, and the seconds of that."""
    if run.one_state:
        return 0.0, model.call_seconds(run, rates)
    link = model.link_of(rates, run)
    return exchange.told(run.n, run.ranks, link.call, link.bytes_per_second)


def _said_of_components(run: model.Run, rates: RankRates) -> str:
    nbytes, seconds = told_of_components(run, rates)
    if not nbytes:
        return "nothing is sent"
    bits = f"{format_size(nbytes)} of bits into a rank, {1e3 * seconds:.3g} ms of exchange"
    return f"{bits}, whatever the diameter; and pairs of what the largest leaves out"


def _share(levels: list[model.Predicted]) -> str:
    total = model.seconds_of(levels)
    return f"exchange {sum(level.exchange for level in levels) / total:.0%} of it" if total else "no work"


def _object(
    graph: Graph | ShardsHere,
    run: model.Run,
    rates: RankRates,
    items: list[Item],
    levels: list[model.Predicted],
    counts: dict[int, float],
    machine: int,
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "command": "plan",
        "graph": graph_object(graph),
        "ranks": run.ranks,
        "hosts": run.hosts,
        "threads": run.threads,
        "vertices_with_edges": run.busy,
        "rates": asdict(rates),
        "memory": [asdict(item) for item in items],
        "machine_bytes": machine,
        "levels": [asdict(level) for level in levels],
        "seconds": model.seconds_of(levels),
        "level_call_seconds": model.call_seconds(run, rates),
        "components": dict(zip(("bytes", "seconds"), told_of_components(run, rates), strict=True)),
        "seconds_by_ranks": {str(count): seconds for count, seconds in counts.items()},
    } | ({"shards": _owned(graph, run)} if isinstance(graph, ShardsHere) else {})
