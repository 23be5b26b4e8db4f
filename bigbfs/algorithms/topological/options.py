"""How a topological order is computed: rounds, by Kahn's algorithm, wherever the rows are.

Round 0 is the vertices that no edge leads to; a round takes off the edges of its vertices, and who has lost the last
is in the next. The queue in which they come is the order (Kahn, Comm. ACM 5, 1962; in rounds: report 002, 3.2).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bigbfs.algorithms.registry import Options
from bigbfs.errors import UsageError

if TYPE_CHECKING:
    from bigbfs.algorithms.topological.gpu.tuning import Tuning

RESIDENCIES = ("vram", "mapped")


@dataclass(frozen=True, slots=True)
class TopologicalOptions(Options):
    """What is run.

    Attributes
    ----------
    hand_over
        Let a GPU run go on on the CPU where rounds are thin for long and that is expected to be quicker.
    tuning
        Of the GPU's rounds; None: as measured.
    """

    hand_over: bool = True
    tuning: Tuning | None = None

    programs: ClassVar[dict[str, str]] = {
        "cpu": "bigbfs.algorithms.topological.cpu.program:CpuTopological",
        "gpu": "bigbfs.algorithms.topological.gpu.program:GpuTopological",
    }

    @property
    def key(self) -> Hashable:
        """Runs of one tuning share their state."""
        return ("toposort", self.hand_over, self.tuning)

    @property
    def called(self) -> str:
        """The name of its command."""
        return "toposort"

    @property
    def uses_heads(self) -> bool:
        """No: every row is read once, to its end."""
        return False

    def residencies(self) -> Sequence[str]:
        """Return where the edges of a GPU run may live, best first."""
        return RESIDENCIES

    def require_backend(self, backend: str, residency: str) -> None:
        """Refuse edges that are streamed from the file.

        Raises
        ------
        UsageError
            Names what helps.
        """
        if backend == "gpu" and residency not in ("auto", *RESIDENCIES):
            raise UsageError(
                f"topological order runs with edges in {' or '.join(RESIDENCIES)}, not {residency}",
                remedies=(("residency", "mapped"), ("backend", "cpu")),
            )
