"""Which tests can see a mutant, and in which order they run.

In: what each test launched on the kernels as they are, in the plain build (JSON lines of ``tools/mutants.py --unchanged
FILE``: ``test``, ``kernels``, ``seconds``); the same test launches the same in the other builds. A test that launched
no kernel with the mutant's file in it cannot see the mutant. Tests that the record does not know are run. Out: an
``Order``.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from mutant import KERNELS, REPOSITORY, TESTS, Mutant
from mutant_run import Order

sys.path.insert(0, str(TESTS))

from emulated.builds import identity, sources_of

SUITES = tuple(
    sorted(path.name for path in (TESTS / "emulated").glob("test_kernels_*.py") if "sanitized" not in path.name)
)
_WORD = re.compile(r"[a-z0-9]{3,}")


class Unchanged:
    """The tests of the kernels as they are, by suite; ``path``: the file that holds them, if any."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.there = path is not None and path.exists()
        self.rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._sound: set[str] = set()
        if path is not None and self.there:
            self._take(json.loads(line) for line in path.read_text().splitlines())

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Take rows, and write them to the file."""
        self._take(rows)
        if self.path is not None:
            with self.path.open("a") as stream:
                stream.writelines(json.dumps(row) + "\n" for row in rows)

    def _take(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            self.rows[Path(row["test"].split("::")[0]).name].append(row)
            if row["outcome"] == "passed" and row["state"] == state():
                self._sound.add(row["test"])

    def passes(self, test: str) -> bool:
        """Return whether a test is known to pass on the kernels as they are here and now."""
        return test in self._sound

    def order(self, mutant: Mutant) -> Order:
        """Return the tests that can see a mutant: those whose names share words with it, then kernel by kernel, the
        shortest ones first."""
        suites = mutant.suites or SUITES
        known = self.rows
        sees: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
        never = []
        for row in (row for suite in suites for row in known[suite]):
            if any(KERNELS / mutant.file in _files(kernel) for kernel in row["kernels"]):
                sees[tuple(row["kernels"])].append(row)
            else:
                never.append(row["test"])
        groups = sorted(sees.values(), key=lambda group: sum(row["seconds"] for row in group))
        tests = [row["test"] for group in groups for row in sorted(group, key=lambda row: row["seconds"])]
        words = Counter(w for text in (mutant.name.partition(":")[0], mutant.name) for w in _WORD.findall(text.lower()))
        tests.sort(key=lambda test: -sum(words[word] for word in set(_WORD.findall(test.lower()))))
        there = {Path(test.split("::")[0]).name for test in tests}
        return Order(tuple(s for s in suites if s in there or not known[s]), tuple(tests), tuple(never))


@cache
def state() -> str:
    """Return a hash of what decides whether a test passes: the kernels, their tests, the compiler."""
    digest = hashlib.sha256(identity().encode())
    kernels = (path for path in KERNELS.rglob("*.cu*") if path.suffix in (".cu", ".cuh"))
    tests = (path for path in (TESTS / "emulated").rglob("*.*") if path.suffix in (".py", ".cu", ".hpp", ".cpp"))
    for path in sorted([*kernels, *tests, TESTS / "zoo.py"]):
        digest.update(f"\0{path.relative_to(REPOSITORY)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _files(kernel: str) -> frozenset[Path]:
    """Return the files that are compiled with a kernel, which is named as emulated/seen.py does."""
    source = KERNELS / kernel if (KERNELS / kernel).exists() else REPOSITORY / kernel
    return frozenset(sources_of(source, KERNELS)) if source.exists() else frozenset()
