"""``bigbfs probe``: measure the GPU and its link to host memory, and write a device profile."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from bigbfs.cli import outputs
from bigbfs.cli.options import PATH, Size, json_option
from bigbfs.config import profile_text
from bigbfs.formats.atomic import replacing
from bigbfs.record import SCHEMA
from bigbfs.report.jsonout import dumps


@click.command("probe")
@click.option("--output", "-o", type=PATH, metavar="FILE.toml", help="Write the profile here.")
@click.option(
    "--host-bytes", type=Size(), default="8GiB", show_default=True, help="Host memory to read (random windows too)."
)
@click.option("--device-bytes", type=Size(), default="1GiB", show_default=True, help="Device memory to copy.")
@outputs.force_option
@json_option
def command(output: Path | None, host_bytes: int, device_bytes: int, force: bool, as_json: bool) -> None:
    """Measure how fast the GPU reads host memory and its own, and how long a barrier takes: some ten seconds.

    The profile is printed, or written with --output; `bigbfs plan`, `bfs` and `cc` take it with --profile.
    """
    outputs.check_output(output, "output", force)
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
        click.echo(f"wrote       {output}; use it with --profile {output}")
