# ruff: noqa: C408  (calls of dict() name fields, as the classes they are for do)
"""A record as a GPU would leave it, made up: many strategies, graphs shallow and deep, every field filled."""

import math

from bigbfs.report.rows import GraphFacts, Levels, Record, Row, Session, least_bytes

STRATEGIES = (
    "auto", "topdown", "quadratic", "quadratic-warp", "queue", "scan", "scan-fused", "warp-mapped", "block-mapped",
    "bitmap", "bitmap-warp", "dynamic", "chunked", "warp-cooperative", "hybrid-td-bu", "adaptive", "expand-contract",
    "contract-expand", "two-phase", "two-phase-raw", "hybrid-merrill",
)  # fmt: skip

GRAPHS = {
    "kron_g500-logn21": (2_097_152, 182_081_864, 6),
    "R-MAT 2 M / 128 M": (2_000_000, 127_000_000, 6),
    "as-caida2007": (26_475, 106_762, 14),
    "p2p-Gnutella08": (6_301, 20_777, 9),
    "cnr-2000": (325_557, 5_477_938, 20),
    "grid3d 300^3": (27_000_000, 161_460_000, 679),
    "luxembourg_osm": (114_599, 239_332, 1033),
    "grid2d 5000 x 5000": (25_000_000, 99_980_000, 7500),
}


def session(**more):
    machine = {
        "processor": "A Processor", "cores": 16, "threads": 16, "memory_bytes": 1 << 37,
        "system": "Linux 6", "gpu": "A GPU",
    }  # fmt: skip
    limits = {"host memory": 2e11, "device memory": 4.3e12, "link": 5.1e10}
    known = dict(version="0.1.0", commit="abc", started="2026-11-22T03:00:00+00:00", machine=machine, limits=limits)
    known |= dict(command="bigbfs bench bfs", versions={"Python": "3.11"}, seed=1, trials=3)
    return Session(**(known | more))


def bell(depth, total):
    """Frontiers of depth + 1 levels that add up to about total."""
    shares = [math.exp(-(((2 * level - depth) / (0.4 * depth + 1)) ** 2)) for level in range(depth + 1)]
    whole = sum(shares)
    return [max(1, round(total * share / whole)) for share in shares]


def row(graph, strategy, number=0, source=1, backend="gpu", **more):
    n, m, depth = GRAPHS[graph]
    work = 1 + 0.37 * ((number * 7) % 5) + (3 if strategy == "quadratic" else 0) * math.log10(depth + 1)
    kernel = work * (m / 4e10 + 6e-6 * depth)
    frontier = bell(depth, n)
    checked = [max(1, f * m // n) for f in frontier]
    vertices = sum(frontier)
    times = [kernel * f / vertices + 4e-6 for f in frontier]
    seconds = kernel + 2e-5 * (depth + 1)
    values = dict(
        graph=graph, strategy=strategy, backend=backend, codec="plain", residency="vram", order="original",
        parents=True, device="A GPU", source=source, reached=n, depth=depth, edges=m, verified=True,
        seconds=(seconds, 1.1 * seconds, 0.9 * seconds), kernel_seconds=(kernel, kernel, kernel), open=0.01 + m / 4e9,
        start=0.3, place=m / 1e10, compile=0.2, copy=n / 1e9, launches=depth + 1, reads=depth + 1, checked=m,
        enqueued=n + number, moved_bytes=least_bytes(m, n, 4, 4, parents=True), switches=(0, 0, 0),
        kernels=({"name": "expand", "registers": 32, "shared_bytes": 0, "occupancy": 0.75},),
        levels=Levels("t" * (depth + 1), tuple(frontier), tuple(checked), tuple(frontier), tuple(times)),
    )  # fmt: skip
    return Row(**(values | more))


def record(graphs=tuple(GRAPHS), strategies=STRATEGIES):
    made = Record()
    made.add(session())
    for graph in graphs:
        n, m, _ = GRAPHS[graph]
        made.add(GraphFacts(graph, "made up", n, m, False, (1,)))
        for number, strategy in enumerate(strategies):
            made.add(row(graph, strategy, number))
        nothing = dict(kernel_seconds=(), launches=None, reads=None, levels=None, kernels=(), enqueued=None)
        made.add(row(graph, "auto", 11, backend="cpu", residency="host", **nothing))
        made.add(row(graph, "reference", 14, backend="serial", residency="host", **nothing))
    return made
