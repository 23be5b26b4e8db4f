"""What this machine is, and what it has no room for: each refusal is a sentence that says why."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from bigbfs.bench.machine import cores, processor
from bigbfs.conversion.memory import build_need
from bigbfs.engines.ranks import launch
from bigbfs.errors import UsageError
from bigbfs.generate import edge_bytes
from bigbfs.generate.catalogue import find, resolve
from bigbfs.sizes import format_size, free_memory, total_memory
from rank_suite import predictions
from rank_suite.cases import Measurement, Row, measurements

SHARE = 0.9
"""Of the free memory, the free disk and a GPU's memory, what a row may take."""

SMALLEST = 10
"""Scale below which no graph is looked for."""


@dataclass(frozen=True)
class Machine:
    """What runs are held against.

    Attributes
    ----------
    gpus
        Names of the GPUs here.
    gpu_bytes
        Memory of the smallest of them.
    memory_bytes, disk_bytes
        Free host memory, and room in the folder of the graphs.
    """

    gpus: tuple[str, ...]
    gpu_bytes: int
    memory_bytes: int
    disk_bytes: int


def look(folder: Path) -> Machine:
    """Return what this machine has; graphs will lie in ``folder``."""
    found = _asked_of_the_driver()
    names = tuple(name for name, _ in found)
    smallest = min((size for _, size in found), default=0)
    return Machine(names, smallest, free_memory(), shutil.disk_usage(folder).free)


def look_again(machine: Machine, folder: Path) -> Machine:
    """Return ``machine`` with the room that there is now."""
    return replace(machine, memory_bytes=free_memory(), disk_bytes=shutil.disk_usage(folder).free)


def facts(machine: Machine) -> dict[str, Any]:
    """Return what a line of results says of the machine, the load of other work included."""
    return {
        "processor": processor(),
        "cores": cores(),
        "memory_bytes": total_memory(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "gpus": list(machine.gpus),
        "load": round(os.getloadavg()[0], 1),
    }


def takes_gpus(work: str) -> bool:
    """Return whether ``bigbfs bfs`` or ``cc`` has the option that runs it over several GPUs."""
    command = import_module(f"bigbfs.cli.{work}").command
    return any("--gpus" in option.opts for option in command.params)


def no_ranks(measurement: Measurement, machine: Machine) -> str | None:
    """Return why there are no such ranks here, or None; nothing is generated for this."""
    count = measurement.ranks
    if measurement.row.on_gpus:
        if count > 1 and not takes_gpus(measurement.work):
            return f"`bigbfs {measurement.work}` has no option --gpus: GPUs do not run over ranks yet"
        if count > len(machine.gpus):
            return f"{count} GPU{'s' if count > 1 else ''} asked for, {len(machine.gpus)} here"
        need = predictions.memory_of_a_gpu(measurement)
        if need > SHARE * machine.gpu_bytes:
            return f"{format_size(int(need))} of each GPU's memory, which has {format_size(machine.gpu_bytes)}"
    if count > 1:
        try:
            launch.mpiexec()
        except UsageError as error:
            return str(error)
    return None


def no_room(measurement: Measurement, machine: Machine) -> str | None:
    """Return why the graph's file has no place on the disk or in the page cache, or None."""
    size = file_bytes(measurement)
    for what, room in (("the disk", machine.disk_bytes), ("host memory", machine.memory_bytes)):
        if size > SHARE * room:
            return f"a graph file of about {format_size(size)}, and {what} has {format_size(room)} free"
    return None


def file_bytes(measurement: Measurement) -> int:
    """Return about how large the graph's file is."""
    work = predictions.work_of(measurement)
    return int(work.arcs * work.arc_bytes + 8 * work.n)


def largest(row: Row, seed: int, machine: Machine) -> Row:
    """Return ``row`` with the largest scale, up to its own, that can be generated and kept here.

    The build in memory is what counts: it is larger than the file.
    """
    if not row.largest:
        return row
    scale = row.parameters["scale"]
    while scale > SMALLEST:
        tried = _scaled(row, scale)
        first = next(measurements(tried, seed))
        if no_room(first, machine) is None and _build_bytes(tried) <= SHARE * machine.memory_bytes:
            break
        scale -= 1
    return _scaled(row, scale)


def _scaled(row: Row, scale: int) -> Row:
    return replace(row, parameters=row.parameters | {"scale": scale})


def _build_bytes(row: Row) -> int:
    complete = resolve(find(row.kind), row.parameters)
    held = edge_bytes(row.kind, complete)
    n = complete["vertices"]
    return build_need(n, held // (8 if n < 2**32 else 16), held, both=True, reordered=row.order == "degree")


def _asked_of_the_driver() -> list[tuple[str, int]]:
    line = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        found = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):  # no driver here, or none that answers
        return []
    if found.returncode:
        return []
    split = [text.rpartition(",") for text in found.stdout.splitlines() if "," in text]
    return [(name.strip(), int(mebibytes) << 20) for name, _, mebibytes in split]
