"""Make the table of docs/results/distributed.md of what ``bigbfs plan --gpus`` predicts beside what was measured.

    python tools/predicted_gpus.py
    python tools/predicted_gpus.py --write docs/results/distributed.md

No graph is made: R-MAT and uniform graphs are known by the degrees that their rule gives. What was measured is in that
page and in docs/notebook/several-gpus.md. The H200 is that of configs/device-h200.toml; of the H100 nothing was probed:
it is taken to read and write its memory at 0.9 of the rate of its data sheet, as the H200 does, and to have the same
link.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rank_table import put

from bigbfs.algorithms.bfs.ranks.expected import Degrees
from bigbfs.algorithms.bfs.ranks.gpus_model import Facts, Gpus, search, seconds_of
from bigbfs.algorithms.components.ranks.gpus_model import components
from bigbfs.config import DeviceProfile, find_profile, read_profile
from bigbfs.errors import BigBfsError

H100_MEMORY = 2.76e12
"""Bytes read and written per second, as `bigbfs probe` measures them."""

FEW = 3000
"""Degrees of more than so many are taken to be what they are on average."""

MARK = "predicted"


@dataclass(frozen=True)
class Row:
    """A measurement: of which graph, where and what, on one GPU and on two (0: not run), ms."""

    graph: str
    work: str
    device: str
    residency: str
    one: float
    two: float


ROWS = (
    Row("R-MAT 26 by degree", "bfs", "H100", "vram", 1.162, 0.913),
    Row("R-MAT 26 by degree", "bfs", "H200", "vram", 1.031, 0.0),
    Row("R-MAT 26", "bfs", "H200", "vram", 1.88, 0.0),
    Row("R-MAT 26", "bfs", "H200", "mapped", 2.37, 0.0),
    Row("uniform 26", "bfs", "H100", "mapped", 7.61, 4.35),
    Row("uniform 26", "bfs", "H200", "mapped", 6.76, 0.0),
    Row("R-MAT 26", "bfs, top-down", "H100", "mapped", 99.2, 53.7),
    Row("R-MAT 26", "bfs, top-down", "H200", "mapped", 102.8, 52.3),
    Row("R-MAT 26 by degree", "cc", "H200", "vram", 0.566, 1.257),
    Row("uniform 26", "cc", "H100", "mapped", 9.93, 6.60),
    Row("uniform 26", "cc", "H200", "mapped", 7.42, 0.0),
    Row("grid 5000 x 5000", "bfs", "H200", "vram", 22.2, 0.0),
)


def poisson(mean: float) -> tuple[np.ndarray, np.ndarray]:
    """Return degrees and how probable each is; of large means the mean alone."""
    if mean > FEW:
        return np.array([mean]), np.ones(1)
    spread = 8 * math.sqrt(mean) + 10
    degree = np.arange(max(0, int(mean - spread)), int(mean + spread) + 1)
    logs = np.array([math.lgamma(each + 1) for each in degree])
    return degree.astype(float), np.exp(degree * math.log(mean) - mean - logs)


def gathered(parts: list[tuple[np.ndarray, np.ndarray]]) -> Degrees:
    """Return ``parts`` (degrees, vertices) as one."""
    degree, place = np.unique(np.concatenate([each for each, _ in parts]), return_inverse=True)
    counts = np.bincount(place, np.concatenate([each for _, each in parts]))
    kept = (degree > 0) & (counts > 1e-9)
    return Degrees(degree[kept], counts[kept])


def rmat(scale: int, factor: int = 16) -> Degrees:
    """Return the degrees by Graph500's initiator: vertices of as many ones among their bits have a mean in common."""
    parts = []
    for ones in range(scale + 1):
        degree, share = poisson(2 * factor * 2**scale * 0.76 ** (scale - ones) * 0.24**ones)
        parts.append((degree, share * math.comb(scale, ones)))
    return gathered(parts)


def uniform(scale: int, factor: int = 16) -> Degrees:
    """Return the degrees of a uniform graph."""
    degree, share = poisson(2.0 * factor)
    return gathered([(degree, share * 2**scale)])


def facts_of(graph: str, scale: int = 26) -> Facts:
    """Return what is known of the graph of a row."""
    n = 1 << scale
    if graph.startswith("grid"):
        degrees = Degrees(np.array([4.0]), np.array([25e6]))
        return Facts(25_000_000, 100_000_000, 4, degrees, 4.0, False, False, True, deep=7500)
    even = graph.startswith("uniform")
    degrees = uniform(scale) if even else rmat(scale)
    return Facts(n, round(degrees.edges), 4, degrees, 4.0, "by degree" in graph, even, True)


def predicted(row: Row, gpus: int, profile: DeviceProfile) -> float:
    """Return the ms that ``row`` is predicted to take on so many GPUs of one machine."""
    facts = facts_of(row.graph)
    if row.work == "cc":
        busy = facts.degrees.busy
        return 1e3 * components(facts.n, busy, facts.id_bytes, gpus, profile, by_degree=facts.by_degree).seconds
    mapped = row.residency == "mapped"
    # as the plans of these runs have it: rows that are even and mapped are held by heads where they are short
    heads = 32 if mapped and facts.even else 8
    where = Gpus(gpus, 1, "peers", row.residency, heads, 0.5 if mapped else 0.0)
    return 1e3 * seconds_of(search(facts, where, profile, top_down="top-down" in row.work))


def profiles() -> dict[str, DeviceProfile]:
    """Return what is known of each device."""
    h200 = read_profile(find_profile("h200"))
    return {"H200": h200, "H100": replace(h200, name="NVIDIA H100", memory_bytes_per_second=H100_MEMORY)}


def table() -> str:
    """Return the table."""
    lines = ["| graph | edges in | work | GPU | one: predicted, measured | two: predicted, measured | times: both |"]
    lines.append("|---|---|---|---|---|---|---|")
    known = profiles()
    for row in ROWS:
        one, two = (predicted(row, gpus, known[row.device]) for gpus in (1, 2))
        said = [f"{one:.3g}, {row.one:.3g} ({one / row.one - 1:+.0%})"]
        said.append(f"{two:.3g}, {row.two:.3g} ({two / row.two - 1:+.0%})" if row.two else f"{two:.3g}, not run")
        said.append(f"{one / two:.2f}, " + (f"{row.one / row.two:.2f}" if row.two else "-"))
        lines.append(f"| {row.graph} | {row.residency} | {row.work} | {row.device} | {' | '.join(said)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put it between its marks")
    given = parser.parse_args()
    if given.write is None:
        print(table())
        return
    text = given.write.read_text(encoding="utf-8")
    given.write.write_text(put(text, {MARK: table()}, "predicted_gpus.py"), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"predicted_gpus: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
