"""Is the build in memory worth a way of its own, beside the one on disk with a single partition that is never spilled?

    bigbfs generate kronecker --scale 20 --seed 1 -o k20.txt
    python tools/one_partition.py k20.txt --trials 5

Both ways begin with the lines in memory, in numbers of vertices, and end with the same CSR. *halves*: what
bigbfs/conversion/in_memory does: each edge is sorted once, at its larger end, and the other half is its transpose.
*one partition*: what bigbfs/conversion/on_disk does with a partition: the edge is sorted at both its ends; no pairs are
written for it. Each run is a process of its own, the ways in turn; medians of seconds, of the CPU time of all threads
(which other programs disturb less), and the largest resident memory less what the lines and the program took.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np

from bigbfs.conversion.in_memory.relabel import find_vertices, number_lines
from bigbfs.conversion.numbering.rules import NUMBERED
from bigbfs.conversion.report import peak_rss_bytes
from bigbfs.conversion.sorting import keys as kernels
from bigbfs.conversion.sorting.buckets import buckets_of, layout_of, sorted_values
from bigbfs.conversion.sorting.lines import Lines, rows_from_lines
from bigbfs.conversion.sorting.rule import ONCE, Rule
from bigbfs.formats.readers.read import read_edges
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.transposing import Csr, bits_of, bucket_count, bucket_shift, transpose
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers, cursors, ranges, thread_count


def halves(lines: Lines, threads: int) -> Csr:
    """Sort every edge at its larger end, and join the transpose."""
    rows, _, spare = rows_from_lines(lines, threads, undirected=True, copies=ONCE, keep_loops=False)
    return transpose(rows, threads, head=True, spare=spare)


def one_partition(lines: Lines, threads: int) -> Csr:
    """Sort every edge at both its ends."""
    n, ids = lines.n, id_dtype(lines.n)
    shift = bucket_shift(n, 2 * len(lines))
    layout = layout_of(0, 0, bits_of(n), bits_of(n) + shift)
    ends = [(frozen(lines.src), frozen(lines.dst)), (frozen(lines.dst), frozen(lines.src))]
    work = [(*pair, *piece) for pair in ends for piece in ranges(len(lines), 2 * threads)]
    counts = np.zeros((len(work), bucket_count(n, shift)), np.int64)
    indptr = np.zeros(n + 1, np.int64)
    with Workers(threads) as workers:
        workers.each(len(work), lambda i: kernels.count_lines(*work[i], False, False, layout, counts[i]))
        cursor, starts = cursors(counts)
        keys = np.empty(int(starts[-1]), np.uint64)
        workers.each(len(work), lambda i: kernels.scatter_lines(*work[i], False, False, layout, cursor[i], keys))
        ends.clear()
        work.clear()
        lines.src = lines.dst = np.empty(0, lines.src.dtype)
        room = (buckets_of(starts, keys, ids), layout, NUMBERED, Rule(ONCE, apart=False), indptr[1:])
        indices, _ = sorted_values(*room, lambda size: np.empty(size, ids), workers, threads)
    np.cumsum(indptr, out=indptr)
    return indptr, indices


WAYS = {"halves": halves, "one partition": one_partition}


def child(path: Path, way: str, threads: int) -> None:
    """Read, build once small and once in earnest, print what it took."""
    tiny = np.arange(6, dtype=np.uint32)
    WAYS[way](Lines(tiny, tiny[::-1].copy(), 6), threads)
    lists: list[EdgeList] = [read_edges(path)]
    vertices, numbering = find_vertices(lists, keep_ids=False, threads=threads)
    lines = number_lines(lists, vertices, numbering, threads, reuse=True)
    del numbering
    before = peak_rss_bytes()
    start, cpu = time.perf_counter(), time.process_time()
    indptr, indices = WAYS[way](lines, threads)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    digest = zlib.crc32(indices.data, zlib.crc32(indptr.data))
    print(json.dumps({"s": wall, "cpu s": cpu, "peak MB": (peak_rss_bytes() - before) / 1e6, "digest": digest}))


def main() -> int:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int, default=thread_count())
    parser.add_argument("--child", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.path, options.child, options.threads)
        return 0
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for trial in range(options.trials + 1):
        for way in WAYS:
            command = [sys.executable, __file__, str(options.path), "--threads", str(options.threads), "--child", way]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            if trial:
                runs[way].append(json.loads(done.stdout))
    assert len({run["digest"] for found in runs.values() for run in found}) == 1, "different graphs"
    for way, found in runs.items():
        medians = {name: statistics.median(run[name] for run in found) for name in ("s", "cpu s", "peak MB")}
        print(f"{way:14}", "  ".join(f"{value:10.3f} {name}" for name, value in medians.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
