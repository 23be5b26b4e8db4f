"""Make a Markdown table of the JSON lines that tools/bench_gpu.py has written.

    python tools/gpu_table.py docs/results/gpu-h200.jsonl

The columns are those of docs/results/gpu-h200.md; a row that a later line repeats is left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

HEADERS = (
    *("graph", "order", "rows", "edges in", "device memory", "work", "ms, median / slowest"),
    *("GTEPS, median / slowest", "device GB", "placed in s", "commit"),
)


def work(row: dict[str, Any]) -> str:
    """Return what was done: the algorithm, and the strategy where it is not the default one."""
    return str(row["algorithm"]) if row["strategy"] == "auto" else f"{row['algorithm']} {row['strategy']}"


def cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of one row."""
    rates = "-"
    if "median_gteps" in row:
        rates = f"{row['median_gteps']:,.3g} / {row['slowest_gteps']:,.3g}"
        if row["median_gteps"] >= 1000:
            rates = f"{row['median_gteps']:,.0f} / {row['slowest_gteps']:,.0f}"
    return [
        *(str(row[name]) for name in ("graph", "order", "codec", "residency", "budget")),
        work(row),
        f"{1e3 * row['seconds']:.3g} / {1e3 * row['slowest_seconds']:.3g}",
        rates,
        f"{row['device_bytes'] / 1e9:.2f}",
        f"{row['place']:.2f}",
        str(row["commit"]),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lines", type=Path, nargs="+", help="files of JSON lines; later ones count")
    found: dict[tuple[str, ...], list[str]] = {}
    for path in parser.parse_args().lines:
        for line in path.read_text().splitlines():
            filled = cells(json.loads(line))
            found[tuple(filled[:6])] = filled
    print(f"| {' | '.join(HEADERS)} |\n|{'---|' * len(HEADERS)}")
    for filled in found.values():
        print(f"| {' | '.join(filled)} |")


if __name__ == "__main__":
    main()
