"""What reading a BVGraph costs: CPU seconds of all threads, the least of several, for each part and for all.

Wall times say little on a machine that others use; CPU seconds do. A small graph is read as so many copies of it behind
one another (``--copies``), which is a BVGraph too: what a row says is relative to its vertex.

    python tools/bench_bvgraph.py cnr-2000.graph
    python tools/bench_bvgraph.py cnr-2000.graph --copies 20 --repeat 5
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bigbfs.formats.bvgraph import scan as places
from bigbfs.formats.bvgraph.file import ARCS_OF_PIECE, BvGraph
from bigbfs.report.table import table


def least(run: Callable[[], object], repeat: int) -> float:
    """Return the least CPU seconds of some runs, after one that is not counted."""
    run()
    found = []
    for _ in range(repeat):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found)


def copied(graph: Path, copies: int, folder: Path) -> Path:
    """Write so many copies of a BVGraph behind one another; return the .graph."""
    text = graph.with_suffix(".properties").read_text()
    with BvGraph(graph, graph.with_suffix(".properties")) as opened:
        state = np.zeros(places.ITEMS, np.int64)
        for _ in opened._pieces(ARCS_OF_PIECE, state=state):
            pass
        n, m = opened.shape.n, opened.shape.m
    bits = np.unpackbits(np.fromfile(graph, np.uint8))[: state[places.POSITION]]
    target = folder / f"{graph.stem}-{copies}.graph"
    np.packbits(np.tile(bits, copies)).tofile(target)
    for key, count in (("nodes", n), ("arcs", m)):
        text = re.sub(rf"(?m)^{key}=.*$", f"{key}={copies * count}", text)
    target.with_suffix(".properties").write_text(text)
    return target


def measure(graph: Path, repeat: int) -> list[tuple[str, ...]]:
    """Return the rows of the table."""
    with BvGraph(graph, graph.with_suffix(".properties")) as opened:
        pieces = list(opened._pieces(ARCS_OF_PIECE))

        def read() -> None:
            for piece in opened._pieces(ARCS_OF_PIECE):
                opened._give_back(piece)

        def make() -> None:
            for piece in pieces:
                opened._decode(piece, False)
                opened._numbers.clear()  # those of the piece, which is wanted again

        def both() -> None:
            for _ in opened.rows(2, keep_loops=False):
                pass

        m = opened.shape.m
        parts = {"read codes": read, "make rows": make, "both, 2 threads": both}
        seconds = {name: least(run, repeat) for name, run in parts.items()}
    return [(name, f"{1000 * cpu:.1f}", f"{1e9 * cpu / m:.1f}") for name, cpu in seconds.items()]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path, help="a .graph, its .properties beside it")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = copied(options.graph, options.copies, Path(folder)) if options.copies > 1 else options.graph
        print(table(("part", "CPU ms", "ns an arc"), measure(graph, options.repeat)))


if __name__ == "__main__":
    main()
