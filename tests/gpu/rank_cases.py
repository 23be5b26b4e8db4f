"""One rank of several GPUs under mpiexec: searches and components by groups of cases, held against the reference.

    mpiexec -n 2 python tests/gpu/rank_cases.py GROUP

A line for each case; the first that fails is told with its trace, and ends all ranks. GROUP is a name of ``GROUPS``;
``kill``: rank 1 ends itself by SIGKILL while the other waits for it in its kernel.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # mpiexec runs this file, so nothing else says where
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import zoo
from faults import kill_in_search
from one_communicator import OneCommunicator
from rank_graphs import graph_of
from shard_folders import folders

import bigbfs
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.ranked_gpus import ranked_on_gpus
from bigbfs.engines.cpu.sharded import open_shards
from bigbfs.engines.gpu.engine import cuda_runtime_at
from bigbfs.engines.gpu.ranks import engine as placement
from bigbfs.engines.gpu.ranks import nccl
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.ranks import partition
from bigbfs.graph.graph import Graph


class Case(NamedTuple):
    """A graph, how it is shared, and what is asked of it; ``joint``: components in this way, ``by_id``: heads, too;
    ``transport``, ``exchange``: how GPUs tell each other; ``shards``: of so many each rank has its own alone."""

    graph: str
    codec: str = "plain"
    residency: str = "vram"
    kind: str = "words"
    strategy: str = "auto"
    depth: int | None = None
    parents: bool = True
    joint: ComponentsOptions | None = None
    by_id: bool = False
    transport: str = "auto"
    exchange: str = "auto"
    shards: int = 0


def all_of_zoo(codec: str, residency: str) -> Iterator[Case]:
    """Yield every graph of the zoo, with words and ranges, and the strategies, in turn."""
    for number, name in enumerate(zoo.names()):
        if zoo.shared()[name].n:
            yield Case(name, codec, residency, ("words", "ranges")[number % 2], ("auto", "auto", "topdown")[number % 3])


def several_ways() -> Iterator[Case]:
    """Yield depths, parents left out, large frontiers, many levels."""
    for depth in (0, 1, 3):
        yield Case("kronecker", depth=depth)
    yield Case("kronecker", parents=False)
    yield Case("directed-in-rows", "varint", "mapped", parents=False, depth=2)
    for residency in ("vram", "mapped"):
        for codec in ("plain", "varint"):
            yield Case("large-1", codec, residency, "words")
            yield Case("large-2", codec, residency, "ranges", "topdown")
    yield Case("grid", kind="words")
    yield Case("grid", "varint", kind="ranges")


def components_of_zoo(residency: str) -> Iterator[Case]:
    """Yield every graph of the zoo, with words and ranges, codecs, ids and chance, rounds and none, in turn."""
    ways = (ComponentsOptions(), ComponentsOptions(rounds=1), ComponentsOptions(), ComponentsOptions(rounds=0))
    for number, name in enumerate(zoo.names()):
        codec, kind = ("plain", "varint")[number % 2], ("words", "ranges")[number // 2 % 2]
        yield Case(name, codec, residency, kind, joint=ways[number % 4], by_id=number % 3 == 0)


def components_of_large() -> Iterator[Case]:
    """Yield large random graphs and a grid, each in several ways."""
    ways = (ComponentsOptions(), ComponentsOptions(rounds=1), ComponentsOptions(rounds=3, skip_giant=False))
    for number, name in enumerate(("large-1", "large-2", "grid", "random-1", "random-2") * 4):
        codec, residency = ("plain", "varint")[number % 2], ("vram", "mapped")[number // 2 % 2]
        kind = ("words", "ranges")[number // 4 % 2]
        yield Case(name, codec, residency, kind, joint=ways[number % 3], by_id=number // 3 % 2 == 0)


def components_with_all_rows() -> Iterator[Case]:
    """Yield components where each rank has all rows, by id: in one pass, and of those that have no giant otherwise."""
    for codec in ("plain", "varint"):
        for name in ("star", "large-1", "large-2", "grid", "kronecker", "two-hubs", "path", "tiny-components"):
            yield Case(name, codec, "vram", "whole", joint=ComponentsOptions(), by_id=True)
    yield Case("large-1", kind="whole", joint=ComponentsOptions(rounds=1), by_id=True)
    yield Case("large-2", kind="whole", joint=ComponentsOptions())


def by_hosts(transport: str) -> Iterator[Case]:
    """Yield every graph of the zoo, and the other ways, with levels that hosts run; codecs and places in turn."""
    for number, name in enumerate(zoo.names()):
        if zoo.shared()[name].n:
            how = (
                ("plain", "varint")[number % 2],
                ("vram", "mapped")[number // 2 % 2],
                ("words", "ranges")[number % 3 % 2],
            )
            strategy, exchange = ("auto", "auto", "topdown")[number % 3], ("auto", "list", "bitmap")[number // 2 % 3]
            yield Case(name, *how, strategy, transport=transport, exchange=exchange)
    for number, case in enumerate(several_ways()):
        yield case._replace(transport=transport, exchange=("auto", "bitmap")[number % 2])


def components_by_hosts(transport: str) -> Iterator[Case]:
    """Yield the components of the zoo, and of large graphs, where hosts carry what is told."""
    for residency in ("vram", "mapped"):
        for case in components_of_zoo(residency):
            yield case._replace(transport=transport)
    for case in components_of_large():
        yield case._replace(transport=transport)


def from_the_file(transport: str) -> Iterator[Case]:
    """Yield every graph of the zoo, and the other ways, with rows that each rank streams."""
    for number, name in enumerate(zoo.names()):
        if zoo.shared()[name].n:
            codec, strategy = ("plain", "varint")[number % 2], ("auto", "auto", "topdown")[number % 3]
            yield Case(name, codec, "streamed", "ranges", strategy, transport=transport)
    for case in several_ways():
        if case.graph != "grid":  # 1,200 levels, each of which looks at all words
            yield case._replace(residency="streamed", kind="ranges", transport=transport)


def components_from_the_file(transport: str) -> Iterator[Case]:
    """Yield the components of the zoo, and of large graphs, of which each rank streams its own rows."""
    for case in (*components_of_zoo("streamed"), *components_of_large()):
        yield case._replace(residency="streamed", kind="ranges", transport=transport)


def in_shards(transport: str, *residencies: str) -> Iterator[Case]:
    """Yield trees and components of the zoo, and of large graphs, of which each rank has its shards alone."""
    for number, name in enumerate((*zoo.names(), "large-1", "large-2", "large-3", "random-1")):
        if name.startswith(("large", "random")) or zoo.shared()[name].n:
            codec, residency = ("plain", "varint")[number % 2], residencies[number // 2 % len(residencies)]
            case = Case(name, codec, residency, "auto", ("auto", "auto", "topdown")[number % 3], transport=transport)
            case = case._replace(shards=(2, 5, 16, 64)[number % 4])
            yield case
            yield case._replace(joint=ComponentsOptions(), by_id=number % 3 == 0, strategy="auto")


def with_all_rows() -> Iterator[Case]:
    """Yield searches of graphs of which each rank has all rows: levels are shared where lines are dealt alone."""
    for least in (partition.LEAST_LINES, 1):
        partition.LEAST_LINES = least
        for number, name in enumerate((*zoo.names(), "large-1", "large-2", "large-3", "random-1")):
            if name.startswith(("large", "random")) or zoo.shared()[name].n:
                codec, strategy = ("plain", "varint")[number % 2], ("auto", "auto", "topdown")[number % 3]
                yield Case(name, codec, "auto", "whole", strategy, depth=3 if number % 5 == 4 else None)


HOSTED = (
    "mpi", "nccl", "cc-mpi", "cc-nccl", "file-mpi", "file-nccl", "cc-file-mpi", "cc-file-nccl", "shards-mpi",
    "shards-nccl",
)  # fmt: skip
"""Groups that need no GPU which reaches another's memory."""

GROUPS = {
    "smoke": lambda: iter([Case("path"), Case("kronecker"), Case("two-hubs", "varint", "mapped", "ranges")]),
    "cc": lambda: iter([
        Case("kronecker", joint=ComponentsOptions()),
        Case("grid", joint=ComponentsOptions()),
        Case("two-hubs", "varint", "mapped", "ranges", joint=ComponentsOptions(), by_id=True),
    ]),
    "mpi": lambda: by_hosts("mpi"),
    "nccl": lambda: by_hosts("nccl"),
    "cc-mpi": lambda: components_by_hosts("mpi"),
    "cc-nccl": lambda: components_by_hosts("nccl"),
    "file-mpi": lambda: from_the_file("mpi"),
    "file-nccl": lambda: from_the_file("nccl"),
    "cc-file-mpi": lambda: components_from_the_file("mpi"),
    "cc-file-nccl": lambda: components_from_the_file("nccl"),
    "cc-vram": lambda: components_of_zoo("vram"),
    "cc-mapped": lambda: components_of_zoo("mapped"),
    "cc-large": components_of_large,
    "cc-whole": components_with_all_rows,
    "plain-vram": lambda: all_of_zoo("plain", "vram"),
    "plain-mapped": lambda: all_of_zoo("plain", "mapped"),
    "varint-vram": lambda: all_of_zoo("varint", "vram"),
    "varint-mapped": lambda: all_of_zoo("varint", "mapped"),
    "shards-vram": lambda: in_shards("auto", "vram"),
    "shards-mapped": lambda: in_shards("auto", "mapped"),
    "shards-mpi": lambda: in_shards("mpi", "vram", "mapped", "streamed"),
    "shards-nccl": lambda: in_shards("nccl", "vram", "mapped", "streamed"),
    "ways": several_ways,
    "whole": with_all_rows,
    "random": lambda: (
        Case(f"random-{seed}", ("plain", "varint")[seed % 2], ("vram", "mapped")[seed // 2 % 2],
             ("words", "ranges")[seed // 4 % 2], ("auto", "topdown")[seed // 8 % 2])
        for seed in range(24)
    ),
}  # fmt: skip


def say(group: Any, text: str) -> None:
    """Print a line of this rank in one piece."""
    os.write(2, f"[rank {group.rank} {time.strftime('%H:%M:%S')}] {text}\n".encode())


def placing(group: Any, case: Case) -> dict[str, Any]:
    """Return where a rank's rows lie, and what carries words; ranks that reach nobody's memory may share a GPU."""
    how: dict[str, Any] = {"residency": case.residency, "transport": case.transport, "runtime": None}
    if case.transport == "mpi" and device.count() < group.host_size:
        how["runtime"] = cuda_runtime_at(group.host_rank % device.count(), None)
    return how


@contextmanager
def opened(group: Any, case: Case) -> Iterator[Graph]:
    """Yield the graph of a case; of shards those in a folder of this rank, where no others are."""
    plain = graph_of(case.graph)
    if not case.shards:
        yield plain.compress() if case.codec == "varint" else plain
        return
    with TemporaryDirectory() as made:
        at, shards = Path(made), max(case.shards, group.size)
        places = folders(plain, case.codec, at, shards=shards, ranks=group.size) if group.rank == 0 else []
        with open_shards(group.objects(places)[0][group.rank], group) as graph:
            yield graph
        group.barrier()


def check_components(group: Any, case: Case, how: ComponentsOptions, tell: Any) -> str:
    """Run a case of components twice; return what to say of it."""
    plain, text = graph_of(case.graph), []
    # any graph may be taken for one stored by degree: its heads are its smallest neighbours then
    placement.by_degree = lambda graph: case.by_id
    with (
        opened(group, case) as graph,
        ranked_on_gpus(graph, group, (how,), kind=case.kind, tell=tell, **placing(group, case)) as engine,
    ):
        for _ in range(2):
            result = engine.run_internal(how)
            engine.verify_internal(how, result)
            if group.rank == 0:
                np.testing.assert_array_equal(result.labels, reference_components(plain))
            ranks = result.record.ranks
            waited, sent = max(rank.waited for rank in ranks), sum(rank.sent for rank in ranks)
            text.append(f"{1e3 * result.record.seconds:.3f} ms ({sent:,} bytes, waited {1e3 * waited:.3f})")
    return ", ".join(text)


def check(group: Any, case: Case, tell: Any) -> str:
    """Run a case; return what to say of it."""
    if case.joint is not None:
        return check_components(group, case, case.joint, tell)
    plain = graph_of(case.graph)
    options = BfsOptions(0, case.depth, want_parents=case.parents, strategy=case.strategy)
    text = []
    how = {"kind": case.kind, "strategy": case.strategy, "exchange": case.exchange, **placing(group, case)}
    with opened(group, case) as graph, ranked_on_gpus(graph, group, (options,), tell=tell, **how) as engine:
        for source in zoo.sources(plain, 3):
            work = BfsOptions(source, case.depth, want_parents=case.parents, strategy=case.strategy)
            result = engine.run_internal(work)
            if case.parents:
                engine.verify_internal(work, result)
            if group.rank == 0:
                levels = reference_bfs(plain, source)[0]
                levels = levels if case.depth is None else np.where(levels <= case.depth, levels, -1)
                np.testing.assert_array_equal(result.levels, levels)
                if case.parents:
                    validate_tree(plain, source, result.levels, result.parents, max_depth=case.depth)
            record = result.record
            waited = max(rank.waited for rank in record.ranks)
            text.append(f"{1e3 * record.seconds:.3f} ms ({len(record.levels)} levels, waited {1e3 * waited:.3f})")
        text.append(f"edges in {engine.residency} ({engine.edges_kind})")
    return ", ".join(text)


def kill_other(group: Any) -> None:
    """Let rank 1 end itself before it launches its second search."""
    kill_in_search(rank=1, pause=1)
    with ranked_on_gpus(graph_of("kronecker"), group, (BfsOptions(),), kind="words") as engine:
        engine.run_internal(BfsOptions(0))
        say(group, f"first search done at {time.time():.3f}")
        engine.run_internal(BfsOptions(1))
    say(group, "still here")


def main(name: str) -> None:
    """Run a group of cases."""
    if "nccl" in name:  # command lines connect anew each time
        nccl.NcclTransport = partial(nccl.NcclTransport, nccl=OneCommunicator(nccl.library()))
    with bigbfs.ranks() as group:
        if name == "kill":
            kill_other(group)
            return
        for number, case in enumerate(GROUPS[name]()):
            if group.rank == 0:
                say(group, f"case {number}: {case}")
            tell = (lambda text: say(group, text)) if name in ("smoke", "cc") else None
            found = check(group, case, tell)
            group.barrier()
            if group.rank == 0:
                say(group, f"ok {number}: {found}")
        if group.rank == 0:
            print(f"all {number + 1} cases of {name} are right", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
