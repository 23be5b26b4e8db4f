"""Check that more than 2**32 vertices work: conversion, info, check, export, BFS and components.

    python tools/check_wide.py --folder DIR                 # 220 GB of memory; 90 GB for BFS alone; 36 GB of disk
    python tools/check_wide.py --folder DIR --only-files    # 5 GB of memory

Random edges among a few of very many ids are converted twice: with ``--keep-ids``, where every id up to the largest is
a vertex, and without, where only those that occur are. The second graph is small, and says what must come out of the
first: its text, the vertices that a BFS reaches, its depth, the components. Files: about 8 bytes for each vertex
(``--compressed``: 16 more); they are removed at the end.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from bigbfs.algorithms.internal import internal_engine
from bigbfs.conversion import ConvertOptions, convert
from bigbfs.errors import DoesNotFitError
from bigbfs.formats.container.check import check
from bigbfs.formats.container.describe import degree_summary
from bigbfs.formats.writers.export import export
from bigbfs.graph.graph import Graph
from bigbfs.sizes import format_size, parse_size


class Digest(io.RawIOBase):
    """A stream that keeps no more than a hash of what it was given."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Take bytes."""
        self._hash.update(data)
        return len(data)

    def hexdigest(self) -> str:
        """Return the hash."""
        return self._hash.hexdigest()


class Steps:
    """Prints every comparison as it is made, and counts those that fail."""

    def __init__(self) -> None:
        self.failed = 0
        self._begin = time.monotonic()

    def compare(self, name: str, found: object, wanted: object) -> None:
        """Print whether what was found is what was wanted, and the seconds since the last step."""
        right = found == wanted
        self.failed += not right
        seconds = time.monotonic() - self._begin
        instead = "" if right else f", not {wanted}"
        print(f"{'ok ' if right else 'BAD'} {name}: {found}{instead} ({seconds:.1f} s)", flush=True)
        self._begin = time.monotonic()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all steps; 1 where one does not give what it must."""
    options = _options(arguments)
    steps = Steps()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="wide-") as temporary:
        folder = Path(temporary)
        text = folder / "edges.txt"
        _write(text, options)
        small, wide = folder / "small.csrbin", folder / "wide.csrbin"
        convert([text], small, ConvertOptions(force=True))
        limits = ConvertOptions(force=True, keep_ids=True, memory=options.memory, compressed=options.compressed)
        report = convert([text], wide, limits)
        print(f"converted {report.method}: {format_size(report.peak_rss_bytes)} of memory at most", flush=True)
        for path in (wide, wide.with_suffix(".ccsr"))[: 1 + options.compressed]:
            _compare_files(steps, path, small, options.vertices)
        if not options.only_files:
            with Graph.open(wide) as graph, Graph.open(small) as same:
                _compare_runs(steps, graph, same, options.backend)
    return 1 if steps.failed else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the files go")
    parser.add_argument("--vertices", type=int, default=2**32 + 10_000_000)
    parser.add_argument("--edges", type=int, default=20_000_000)
    parser.add_argument("--used", type=int, default=5_000_000, help="ids that have edges, at most")
    parser.add_argument("--memory", type=parse_size, default=4 << 30, help="of the conversion")
    parser.add_argument("--compressed", action="store_true", help="check the .ccsr too")
    parser.add_argument("--backend", choices=("cpu", "gpu"), default="cpu", help="of BFS and components")
    parser.add_argument("--only-files", action="store_true", help="no BFS, no components")
    return parser.parse_args(arguments)


def _write(path: Path, options: argparse.Namespace) -> None:
    """Write the edges; one of them is of the largest id, so that there are as many vertices as asked for."""
    chance = np.random.default_rng(32)
    used = chance.integers(0, options.vertices, options.used)
    used[0] = options.vertices - 1
    with path.open("wb") as file:
        file.write(b"%d %d\n" % (used[0], used[1]))
        for first in range(0, options.edges, 1 << 20):
            count = min(1 << 20, options.edges - first)
            np.savetxt(file, used[chance.integers(0, options.used, (count, 2))], "%d")


def _compare_files(steps: Steps, path: Path, small: Path, vertices: int) -> None:
    with Graph.open(path) as graph, Graph.open(small) as same:
        degrees, wanted = degree_summary(graph), degree_summary(same)
        isolated = vertices - same.n + wanted.isolated
        found = (graph.n, graph.ids.itemsize, graph.m, degrees.maximum, degrees.isolated)
        steps.compare(f"{path.suffix} info", found, (vertices, 8, same.m, wanted.maximum, isolated))
        checks = [passed.name for passed in check(path)]
        steps.compare(f"{path.suffix} check", "symmetry" in checks and "order" in checks, True)
        texts = [Digest(), Digest()]
        for each, stream in zip((graph, same), texts, strict=True):
            export(each, "el", cast(BinaryIO, stream))
        steps.compare(f"{path.suffix} export", *(stream.hexdigest() for stream in texts))


def _compare_runs(steps: Steps, graph: Graph, same: Graph, backend: str) -> None:
    """Compare what BFS and components count; what does not fit the memory is said, and left out."""
    source = int(same.original(int(same.degrees().argmax())))
    for strategy in ("auto", "topdown") if backend == "cpu" else ("auto",):
        try:
            found = _traversed(graph, source, backend, strategy)
        except DoesNotFitError as error:
            print(f"left out: BFS, strategy {strategy}: {error}", flush=True)
            continue
        steps.compare("BFS: reached, depth, edges", found, _traversed(same, source, backend, strategy))
        break
    try:
        number, largest = _counted(graph, backend)
    except DoesNotFitError as error:
        print(f"left out: components: {error}", flush=True)
        return
    number_of_same, largest_of_same = _counted(same, backend)
    wanted = (number_of_same + graph.n - same.n, largest_of_same)
    steps.compare("components: number, largest", (number, largest), wanted)


def _traversed(graph: Graph, source: int, backend: str, strategy: str) -> tuple[int, int, int]:
    with internal_engine(graph, backend=backend, strategy=strategy) as engine:
        record = engine.traverse(graph.vertex(source))
        return record.reached, record.depth, record.edges


def _counted(graph: Graph, backend: str) -> tuple[int, int]:
    with internal_engine(graph, backend=backend) as engine:
        record = engine.connected_components().record
        return record.components, record.largest


if __name__ == "__main__":
    sys.exit(main())
