"""Run the small graphs of the zoo under compute-sanitizer, memcheck and racecheck: single searches, components, batches
of many searches, and graphs whose vertices get numbers of their own.

In: a device and compute-sanitizer. Out: for each tool ``"clean"``, ``"errors"`` (its report is printed) or why it did
not run; which graph took how long goes to stderr. Each tool looks at a process for each graph, as many at once as there
are processors. In them device memory comes from no pool: a pool rounds sizes up and keeps what is freed, and inside its
blocks every access is legal.
Exit code 0: clean or not run; 1: errors.

    python tools/sanitize_gpu.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))  # the package need not be installed
TOOLS = ("memcheck", "racecheck")
ERRORS_FOUND = 86
SECONDS = 1500  # racecheck takes some 1.7 s a level of a deep graph: 400 levels; of the others, two minutes
GRAPHS = (
    "directed-back-edges", "path", "one-vertex", "isolated", "clique", "two-hubs", "degree-32", "degree-1024",
    "vertices-33", "full-last-row", "tiny-components", "random", "kronecker", "duplicates-kept", "self-loops-kept",
    "wide-ids", "wide-ids-hub", "directed-multi",
)  # fmt: skip
"""The deepest first: all others are through while these run."""


def sanitizer() -> str | None:
    """Return the path of compute-sanitizer, None where it is not installed."""
    found = shutil.which("compute-sanitizer")
    if found is None:
        candidates = sorted(Path("/usr/local").glob("cuda*/bin/compute-sanitizer"))
        found = str(candidates[-1]) if candidates else None
    return found


def run_all() -> dict[str, str]:
    """Run every tool; return what each said."""
    program = sanitizer()
    if program is None:
        return dict.fromkeys(TOOLS, "not installed")
    with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as together:
        said = {(tool, name): together.submit(_run, program, tool, name) for name in GRAPHS for tool in TOOLS}
        return {tool: worst([said[tool, name].result() for name in GRAPHS]) for tool in TOOLS}


def worst(said: list[str]) -> str:
    """Return what a tool said of all graphs: ``"errors"`` before why one did not run, that before ``"clean"``."""
    return min(said, key=lambda word: (word != "errors", word == "clean"))


def _run(program: str, tool: str, name: str) -> str:
    inside = [sys.executable, __file__, "--inside", name]
    command = [program, "--tool", tool, "--error-exitcode", str(ERRORS_FOUND), *inside]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"stopped after {SECONDS} s ({name})"
    finally:
        print(f"{tool}, {name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    if done.returncode == 0 and "traversals done" in done.stdout:
        return "clean"
    print(f"compute-sanitizer {tool}, {name}:\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}")
    return "errors" if done.returncode == ERRORS_FOUND else f"did not run ({name}: exit code {done.returncode})"


def without_pool(cupy: Any) -> None:
    """Let every pool that is made from now on ask the device for exactly what is asked of it."""

    class NoPool:
        def malloc(self, size: int) -> Any:
            return cupy.cuda.MemoryPointer(cupy.cuda.Memory(size), 0)

        def set_limit(self, size: int) -> None:
            pass

        def nothing(self) -> int:
            return 0

        used_bytes = total_bytes = free_bytes = free_all_blocks = nothing

    cupy.cuda.set_allocator(None)
    cupy.cuda.MemoryPool = NoPool


def traverse(names: tuple[str, ...] = GRAPHS) -> None:
    """Traverse small graphs in every encoding and residency; the results are the business of other tests."""
    import cupy

    from bigbfs.engines.gpu.placement import renumbered
    from bigbfs.generate.zoo import zoo

    without_pool(cupy)
    graphs = zoo(big=False)
    count = 0
    for name in names:
        for graph in (graphs[name], graphs[name].compress()):
            for residency in ("vram", "mapped"):
                count += _search(graph, residency) + _search_many(graph, residency)
    renumbered.SMALLEST = renumbered.EVEN_DEPTH = 1
    for graph in map(graphs.__getitem__, names):
        if renumbered.renumbers(graph):
            count += sum(_search(graph, residency) for residency in ("vram", "mapped"))
    print(f"{count} traversals done")


def _search(graph: Any, residency: str) -> int:
    """Search from two sources, find components; return how many searches."""
    from bigbfs.algorithms.gpu_engine import GpuEngine
    from bigbfs.generate.zoo import sources
    from bigbfs.graph.graph import Graph

    fresh = Graph(graph.adjacency, graph.flags, in_adjacency=graph.in_adjacency)  # rows are proved once
    chosen = sources(graph, 2)
    with GpuEngine(fresh, residency=residency) as engine:
        for source in chosen:
            engine.bfs(source)
        engine.connected_components()
    return len(chosen)


def _search_many(graph: Any, residency: str) -> int:
    """Search from some vertices at once, by both directions; return how many searches."""
    from bigbfs.algorithms.many.gpu.tuning import Tuning
    from bigbfs.algorithms.many.options import ManyOptions
    from bigbfs.engines.gpu.engine import GpuEngine

    sources = range(min(graph.n, 100))
    for width, tuning in (64, Tuning(push_edge=1e-9, file_edge=1e-9)), (128, Tuning(push_edge=1e9, apart_ids=16)):
        work = ManyOptions(np.array(sources[:width]), width=width, sums=True, fetch=True, tuning=tuning)
        with GpuEngine(graph, work=(work,), residency=residency) as engine:
            engine.run(work)
    return 2 * len(sources)


def main() -> int:
    """Run the tools, or (``--inside``) what they look at."""
    if "--inside" in sys.argv:
        traverse((sys.argv[-1],))
        return 0
    results = run_all()
    for tool, result in results.items():
        print(f"{tool}: {result}")
    return 1 if "errors" in results.values() else 0


if __name__ == "__main__":
    sys.exit(main())
