"""``bigbfs probe``: measure the GPU and its link to host memory, or ranks and theirs, and write a device profile."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from bigbfs.cli import outputs
from bigbfs.cli import ranks as ranks_of
from bigbfs.cli.values import PATH, Size, json_option
from bigbfs.cli.wording import printable
from bigbfs.config import RankRates, profile_text, rates_text, read_profile, read_toml
from bigbfs.formats.atomic import replacing
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps


@click.command("probe")
@click.option("--output", "-o", type=PATH, metavar="FILE.toml", help="Write the profile here.")
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
@outputs.force_option
@json_option
def command(
    output: Path | None, host_bytes: int, device_bytes: int, ranks: int | None, force: bool, as_json: bool
) -> None:
    """Measure how fast the GPU reads host memory and its own, and how long a barrier takes: some ten seconds.

    The profile is printed, or written with --output; `bigbfs plan`, `bfs` and `cc` take it with --profile. With --ranks
    it is a table of rates of ranks, which `bigbfs plan --ranks` reads; what else stands in the profile stays.
    """
    outputs.check_output(output, "output", force)
    with ranks_of.joined(ranks_of.Ranks(ranks, "auto", "auto", False), {}) as group:
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


def _probe_ranks(group: Any, output: Path | None, as_json: bool) -> None:
    """Measure the ranks of ``group``, and on the first one print or write what they can do."""
    from bigbfs.algorithms.bfs.ranks.measure import measure

    there = output is not None and output.exists()
    old = read_profile(output) if output is not None and there else None
    rates = measure(group, RankRates() if old is None or old.ranks is None else old.ranks)
    if not ranks_of.is_first(group):
        return
    text = f"# Ranks measured by `bigbfs probe --ranks` on {datetime.now(UTC).date().isoformat()}.\n{rates_text(rates)}"
    if output is not None:
        if old is not None and set(read_toml(output)) != {"ranks"}:  # what stands there of a GPU stays
            text = profile_text(replace(old, ranks=rates), f"Of a GPU, and of {rates.name}.")
        with replacing(output) as stream:
            stream.write(text.encode())
    if as_json:
        click.echo(dumps({"schema": SCHEMA, "command": "probe", "ranks": asdict(rates)}))
    elif output is None:
        click.echo(text, nl=False)
    else:
        where = printable(str(output))
        click.echo(f"wrote       {where}; use it with `bigbfs plan --ranks N --profile {where}`")
