"""What one planted bug is, and the copy of the kernels that has it."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
KERNELS = REPOSITORY / "bigbfs"
TESTS = REPOSITORY / "tests"
BUILDS = ("plain", "preempt", "asan", "tsan")
SYNCHRONIZES = re.compile(r"__sync|atomic|__threadfence|meet_other_blocks|sync\(\)")


@dataclass(frozen=True)
class Mutant:
    """One bug.

    Attributes
    ----------
    name
        As tables have it; the word before a colon is looked for in the names of tests, which then come first.
    file, old, new
        In ``file`` (below bigbfs) ``old`` becomes ``new``.
    suites
        Those that see it; none: all that launch a kernel with ``file`` in it.
    build
        The build that is expected to catch it, and is tried first; none: see ``builds_in_turn``.
    """

    name: str
    file: str
    old: str
    new: str
    suites: tuple[str, ...] = ()
    build: str = ""

    def text(self) -> str:
        """Return the file with the bug.

        Raises
        ------
        ValueError
            The text to replace does not occur exactly once.
        """
        text = (KERNELS / self.file).read_text()
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: the text occurs {text.count(self.old)} times in {self.file}, must once:\n{self.old}"
            )
        return text.replace(self.old, self.new)

    def digest(self) -> str:
        """Return a hash of the file with the bug: a row about another one is out of date."""
        return hashlib.sha256(f"{self.file}\0{self.text()}".encode()).hexdigest()[:16]

    def builds_in_turn(self, builds: tuple[str, ...]) -> tuple[str, ...]:
        """Return ``builds``, the likeliest to catch it first: where an atomic or a barrier is gone, those of races.

        Relaxed loads and stores in place of an atomic are no race, and lose what is stored between them.
        """
        races = len(SYNCHRONIZES.findall(self.old)) > len(SYNCHRONIZES.findall(self.new))
        relaxed = self.new.count("relaxed_") > self.old.count("relaxed_")
        usual = (*(("preempt",) if relaxed else ()), "tsan", "preempt", "plain") if races else ()
        order = dict.fromkeys((*((self.build,) if self.build else ()), *usual, *BUILDS))
        return tuple(build for build in order if build in builds)


def plant(mutant: Mutant | None, folder: Path) -> None:
    """Copy the kernels to ``folder``, with the mutant's bug (None: as they are), or raise ValueError."""
    for path in (path for path in KERNELS.rglob("*.cu*") if path.suffix in (".cu", ".cuh")):
        copy = folder / path.relative_to(KERNELS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    if mutant is not None:
        (folder / mutant.file).write_text(mutant.text())
