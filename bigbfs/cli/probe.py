"""``bigbfs probe``: measure the GPU and its link to host memory, or ranks, or what is between GPUs, and write
a device profile."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from bigbfs.cli import outputs
from bigbfs.cli import ranks as ranks_of
from bigbfs.cli.values import Size, json_option, output_option
from bigbfs.cli.wording import printable
from bigbfs.config import (
    BESIDE,
    DeviceProfile,
    GpuLinks,
    RankRates,
    profile_text,
    rates_text,
    read_profile,
    read_toml,
)
from bigbfs.errors import NoDeviceError, Remedy, UsageError
from bigbfs.formats.atomic import replacing
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps


@click.command("probe")
@output_option("--output", "-o", metavar="FILE.toml", help="Write the profile here.")
@click.option(
    "--host-bytes", type=Size(), default="8GiB", show_default=True, help="Host memory to read (random windows too)."
)
@click.option("--device-bytes", type=Size(), default="1GiB", show_default=True, help="Device memory to copy.")
@click.option(
    "--ranks",
    type=click.IntRange(1),
    metavar="N",
    help="Measure N processes on CPUs and the links between them instead, also under mpiexec.",
)
@click.option(
    "--gpus",
    type=ranks_of.Gpus(),
    metavar="N | all",
    help="Measure what is between N GPUs instead, a process for each, also under mpiexec.",
)
@outputs.force_option
@json_option
def command(
    output: Path | None,
    host_bytes: int,
    device_bytes: int,
    ranks: int | None,
    gpus: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Measure how fast the GPU reads host memory and its own, and how long a barrier takes: some ten seconds.

    The profile is printed, or written with --output; `bigbfs plan`, `bfs` and `cc` take it with --profile. With --ranks
    it is a table of rates of ranks, which `bigbfs plan --ranks` reads; with --gpus one of what is between GPUs, which
    `bigbfs plan --gpus` reads: on one machine how fast they store into each other's memory and read it, how long a
    word and a meeting of all take, and calls by NCCL and MPI; over several machines those calls. What else stands in
    the profile stays.
    """
    outputs.check_output(output, "output", force)
    with _remedies(gpus), ranks_of.joined(ranks_of.Ranks(ranks, "auto", "auto", False, gpus=gpus), {}) as group:
        if gpus is not None:
            _probe_links(group, output, device_bytes, as_json)
            return
        if group is not None:
            _probe_ranks(group, output, as_json)
            return
    from bigbfs.engines.gpu.rates import Sizes, measure
    from bigbfs.engines.gpu.runtime.cuda import CudaRuntime

    runtime = CudaRuntime()
    try:
        info = runtime.info
        profile = measure(
            runtime, info.total_bytes, Sizes(host_bytes, device_bytes), lambda line: click.echo(line, file=sys.stderr)
        )
    finally:
        runtime.close()
    day = datetime.now(UTC).date().isoformat()
    text = profile_text(profile, f"Measured by `bigbfs probe` on {day}; the driver knows CUDA {info.driver // 1000}.")
    if output is not None:
        with replacing(output) as stream:
            stream.write(text.encode())
    if as_json:
        click.echo(dumps({"schema": SCHEMA, "command": "probe", "profile": asdict(profile)}))
    elif output is None:
        click.echo(text, nl=False)
    else:
        where = printable(str(output))
        click.echo(f"wrote       {where}; use it with --profile {where}")


@contextmanager
def _remedies(gpus: str | None) -> Iterator[None]:
    """Say of what has no GPU what can be measured all the same."""
    try:
        yield
    except NoDeviceError as error:
        if gpus is not None:
            others = (each for each in error.remedies if each.what is None)
            error.remedies = (*others, Remedy(None, "leave --gpus out and measure processes on CPUs with --ranks"))
        raise


def _probe_ranks(group: Any, output: Path | None, as_json: bool) -> None:
    """Measure the ranks of ``group``, and on the first one print or write what they can do."""
    from bigbfs.algorithms.bfs.ranks.measure import measure

    old = _before(output)
    rates = measure(group, RankRates() if old is None or old.ranks is None else old.ranks)
    if ranks_of.is_first(group):
        _tell("ranks", rates, output, old, as_json)


def _probe_links(group: Any, output: Path | None, device_bytes: int, as_json: bool) -> None:
    """Measure what is between the GPUs of ``group``, and on the first rank print or write it.

    Raises
    ------
    UsageError
        There is one GPU alone.
    """
    from bigbfs.algorithms.bfs.gpu.peers.measure import Sizes, measure
    from bigbfs.engines.gpu.ranks.devices import own_gpu
    from bigbfs.engines.ranks import launch

    if group is None or group.size == 1:
        raise UsageError("--gpus measures what is between GPUs, and one has no other; leave it out to measure that one")
    first, old = ranks_of.is_first(group), _before(output)
    runtime = own_gpu(group, None, "peers" if group.one_host else "hosts")
    try:
        links = measure(
            runtime,
            group,
            GpuLinks() if old is None or old.gpus is None else old.gpus,
            sizes=Sizes(device=device_bytes),
            patience=launch.patience(),
            progress=lambda line: click.echo(line, file=sys.stderr) if first else None,
        )
    finally:
        runtime.close()
    if first:
        _tell("gpus", links, output, old, as_json)


def _before(output: Path | None) -> DeviceProfile | None:
    """Return what stands in ``output``."""
    return read_profile(output) if output is not None and output.exists() else None


def _tell(
    name: str, rates: RankRates | GpuLinks, output: Path | None, old: DeviceProfile | None, as_json: bool
) -> None:
    """Print the table ``name``, or write it into what stands in ``output``."""
    day = datetime.now(UTC).date().isoformat()
    text = f"# Measured by `bigbfs probe --{name}` on {day}.\n{rates_text(rates)}"
    if output is not None:
        if old is not None:
            text = _beside(text, name, rates, output, old)
        with replacing(output) as stream:
            stream.write(text.encode())
    if as_json:
        click.echo(dumps({"schema": SCHEMA, "command": "probe", name: asdict(rates)}))
    elif output is None:
        click.echo(text, nl=False)
    else:
        where = printable(str(output))
        click.echo(f"wrote       {where}; use it with `bigbfs plan --{name} N --profile {where}`")


def _beside(text: str, name: str, rates: RankRates | GpuLinks, output: Path, old: DeviceProfile) -> str:
    """Return ``text``, the table ``name``, with what else stands in ``output``."""
    there, told = set(read_toml(output)), {name: rates}
    if there - set(BESIDE):  # what stands there of a GPU stays
        return profile_text(replace(old, **told), f"Of a GPU, and of {rates.name}.")  # type: ignore[arg-type]  # by name
    others = (getattr(old, other) for other in BESIDE if other in there - {name})
    return "\n".join([text, *(rates_text(other) for other in others)])
