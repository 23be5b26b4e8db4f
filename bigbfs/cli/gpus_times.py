"""``bigbfs plan --gpus``: how long a run will take, what is told, and whether more GPUs would help."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from bigbfs.algorithms.bfs.ranks.gpus_model import Predicted
from bigbfs.algorithms.gpus_ahead import Ahead
from bigbfs.config import DeviceProfile, GpuLinks
from bigbfs.report.table import labelled, table
from bigbfs.sizes import format_size

LIKE = 0.03
"""Times that are no further apart are taken for the same."""


def links_of(profile: DeviceProfile) -> tuple[GpuLinks, str]:
    """Return what is between GPUs, and how that is known."""
    if profile.gpus is None:
        return (
            GpuLinks(),
            "as two H200 with NVLink, between machines assumed (`bigbfs probe --gpus` measures)",
        )
    return profile.gpus, f"{profile.gpus.name}, from the profile"


def show(found: list[Ahead], gpus: int, profile: DeviceProfile, deep: int | None, nccl_assumed: bool) -> None:
    """Print what is predicted of ``gpus`` GPUs, beside other numbers.

    Parameters
    ----------
    found, gpus
        What is predicted of each number, and the number asked for.
    profile
        Whose links are reckoned with.
    deep
        Levels for which bfs stays on one.
    nccl_assumed
        Whether nobody has said how ranks tell one another.
    """
    mine = next(each for each in found if each.gpus == gpus)
    one = next(each for each in found if each.gpus == 1)
    by = f"told by {mine.transport}"
    if mine.transport == "nccl" and nccl_assumed:
        by += ", as runs do where they have it (--transport mpi for the other)"
    if mine.search or mine.components is not None:
        click.echo(labelled("links", f"{links_of(profile)[1]}; {by}"))
    if mine.search:
        click.echo("")
        click.echo(_levels_table(mine.search))
        click.echo("")
        click.echo(labelled("predicted", _told_of_search(mine, one)))
        click.echo(labelled("by GPUs", _by_gpus({each.gpus: each.search_seconds for each in found}, found)))
    if mine.components is not None:
        label = mine.components
        told = _shared("cc", gpus, label.seconds, label.exchange, label.bytes)
        alone = "" if one.components is None else f"; {_ms(one.components.seconds)} on one"
        click.echo(labelled("predicted", told + alone))
        times = {each.gpus: None if each.components is None else each.components.seconds for each in found}
        click.echo(labelled("by GPUs", _by_gpus(times, found)))
    for name, said in verdicts(found, gpus, deep).items():
        click.echo(labelled("verdict", f"{name}: {said}"))


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


def _shared(work: str, gpus: int, seconds: float, exchange: float, moved: float) -> str:
    share = exchange / seconds
    return f"{work} {_ms(seconds)} on {gpus} GPUs, exchange {share:.0%} of it, {format_size(moved)} into a GPU"


def _levels_table(search: list[Predicted]) -> str:
    headers = ("level", "way", "frontier", "edges", "work ms", "told by", "into a GPU", "exchange ms")
    rows, level = [], 0
    for each in search:
        name = f"{level}" if each.levels == 1 else f"{level} to {level + each.levels - 1}"
        counts = (round(each.vertices), round(each.edges))
        told = (each.told, format_size(each.bytes), 1e3 * each.exchange)
        rows.append((name, each.direction, *counts, 1e3 * each.work, *told))
        level += each.levels
    return table(headers, rows)


def _told_of_search(mine: Ahead, one: Ahead) -> str:
    seconds = mine.search_seconds
    assert seconds is not None
    exchange, moved = (sum(getattr(level, name) for level in mine.search) for name in ("exchange", "bytes"))
    told = _shared("bfs", mine.gpus, seconds, exchange, moved)
    if one.search_seconds is None:
        return f"{told}; one GPU has no room as asked" if one.residency is None else f"{told}; nothing said of one"
    return (
        f"{told}; {_ms(one.search_seconds)} on one ({one.residency}): {one.search_seconds / seconds:.2f} times as fast"
    )


def _by_gpus(times: dict[int, float | None], found: list[Ahead]) -> str:
    """Return the time of each number of GPUs; residencies where they differ."""
    where = {each.gpus: each.residency for each in found}
    differ = len({each for each in where.values() if each}) > 1
    said = []
    for gpus, seconds in times.items():
        if where[gpus] is None:
            said.append(f"{gpus}: no room")
        elif seconds is None:
            said.append(f"{gpus}: {where[gpus]}, nothing said")
        else:
            said.append(f"{gpus}: {_ms(seconds)}" + (f" {where[gpus]}" if differ else ""))
    return ", ".join(said)


def verdicts(found: list[Ahead], gpus: int, deep: int | None) -> dict[str, str]:
    """Return for each work a sentence: whether more GPUs would be faster or slower, and whether fewer would."""
    said = {}
    searched = {each.gpus: each.search_seconds for each in found if each.search_seconds is not None}
    labelled_in = {each.gpus: each.components.seconds for each in found if each.components is not None}
    if deep is not None:
        said["bfs"] = f"two GPUs or more will be slower than one: some {deep:,} thin levels, in each of which they meet"
    elif gpus in searched:
        said["bfs"] = verdict(gpus, searched)
    if gpus in labelled_in:
        said["cc"] = verdict(gpus, labelled_in)
    if not said and any(each.residency == "streamed" for each in found):
        said["time"] = "not predicted: edges stay in the file, and the disk decides"
    return said


def verdict(gpus: int, times: dict[int, float]) -> str:
    """Return whether more than ``gpus`` would be faster, or fewer, by the ``times`` of each number."""
    least = min(times.values())
    best = min(count for count, seconds in times.items() if seconds <= (1 + LIKE) * least)
    are = "one GPU is" if best == 1 else f"{best} are"
    if best == gpus:
        beside = f", {times[1] / times[gpus]:.2f} times as fast as one" if gpus > 1 and 1 in times else ""
        return f"more GPUs would be slower, or no faster: {are} the fastest of these{beside}"
    gain = f"{times[gpus] / times[best]:.2f} times as fast as {gpus}"
    if best > gpus:
        return f"more GPUs would be faster: {are} {gain}"
    return f"more GPUs would be slower, and so are {gpus}: {are} {gain}"


def times_object(found: list[Ahead], gpus: int, profile: DeviceProfile, deep: int | None) -> dict[str, Any]:
    """Return the same for ``--json``."""
    mine = next(each for each in found if each.gpus == gpus)
    return {
        "links": asdict(links_of(profile)[0]),
        "links_measured": profile.gpus is not None,
        "search": [asdict(level) for level in mine.search],
        "by_gpus": [
            {
                "gpus": each.gpus,
                "hosts": each.hosts,
                "residency": each.residency,
                "search": _sums(each.search_seconds, each.search),
                "components": None
                if each.components is None
                else asdict(each.components) | {"seconds": each.components.seconds},
            }
            for each in found
        ],
        "verdicts": verdicts(found, gpus, deep),
    }


def _sums(seconds: float | None, search: list[Predicted]) -> dict[str, float] | None:
    """Return seconds, those of the exchange, and bytes into a GPU, of a search."""
    if seconds is None:
        return None
    exchange, moved = (sum(getattr(level, name) for level in search) for name in ("exchange", "bytes"))
    return {"seconds": seconds, "exchange": exchange, "bytes": moved}
