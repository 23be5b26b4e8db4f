"""How connected components are computed: the algorithm and its switches. Whatever they say, the answer is exact.

``afforest`` links a few neighbours of every vertex, finds the giant component by sampling and links only the vertices
outside it over all their edges (Sutton, Ben-Nun, Barak, IPDPS'18). ``sv`` (Shiloach and Vishkin, J. Algorithms 3, 1982)
passes over the edges, hooks the larger of two roots onto the smaller, tries each hook once and flattens the trees,
until a pass meets no edge between two trees. ``labelprop`` (as EMOGI, VLDB'20) lets every vertex whose label got
smaller hand it to its neighbours, until none does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bigbfs.algorithms.registry import Options
from bigbfs.errors import ArgumentError, UsageError
from bigbfs.sizes import integer

ALGORITHMS = ("afforest", "sv", "labelprop")

MOST_ROUNDS = 8
"""Neighbour rounds that can be asked for: as many as the largest head table holds."""


@dataclass(frozen=True, slots=True)
class ComponentsOptions(Options):
    """What is run.

    Attributes
    ----------
    algorithm
        One of ``ALGORITHMS``.
    rounds
        Of afforest: neighbours of each vertex that are linked before the giant is looked for, those of highest degree
        first; None: one, and more where the sample finds no giant yet.
    skip_giant
        Leave out the rows of vertices that are in the giant already; None: yes, but for labelprop, whose labels may
        still get smaller there.
    single_pass
        Pass over the edges once, each link tried once, as report 003 does; an exact pass finishes what that leaves.

    Raises
    ------
    UsageError
        A value is unknown, or a switch is not one of the algorithm's.
    """

    algorithm: str = "afforest"
    rounds: int | None = None
    skip_giant: bool | None = None
    single_pass: bool = False

    programs: ClassVar[dict[str, str]] = {
        "cpu": "bigbfs.algorithms.components.cpu.program:CpuComponents",
        "gpu": "bigbfs.algorithms.components.gpu.program:GpuComponents",
        "ranks": "bigbfs.algorithms.components.ranks.program:components_over_ranks",
        "peers": "bigbfs.algorithms.components.gpu.peers.program:PeerComponents",
        "hosts": "bigbfs.algorithms.components.gpu.hosts.program:HostComponents",
        "streamed": "bigbfs.algorithms.components.gpu.hosts.streamed_program:StreamedHostComponents",
    }

    def __post_init__(self) -> None:
        """Refuse what the algorithm cannot do, and what is of another type."""
        if self.rounds is not None:
            object.__setattr__(self, "rounds", integer("rounds", self.rounds))
        if not isinstance(self.algorithm, str):
            raise ArgumentError("must be the name of an algorithm", about=(("algorithm", self.algorithm),))
        if self.algorithm not in ALGORITHMS:
            raise UsageError(f"algorithm {self.algorithm!r} is unknown: choose one of {', '.join(ALGORITHMS)}")
        if self.rounds is not None:
            if self.algorithm != "afforest":
                raise UsageError(f"rounds goes with algorithm 'afforest'; leave it out for {self.algorithm!r}")
            if not 0 <= self.rounds <= MOST_ROUNDS:
                raise UsageError(f"rounds is {self.rounds}: it must be between 0 and {MOST_ROUNDS}")
        if self.skip_giant and self.algorithm == "labelprop":
            raise UsageError(
                "skip_giant does not go with algorithm 'labelprop', whose labels may still get smaller there"
            )

    def require_peers(self) -> None:
        """Refuse what has no form over several GPUs.

        Raises
        ------
        UsageError
            Names the algorithm, or the switch.
        """
        if self.algorithm != "afforest":
            raise UsageError(
                "several GPUs find components by Afforest",
                about=(("algorithm", self.algorithm),),
                remedies=(("algorithm", "afforest", "use {}"), "run the others on one GPU"),
            )
        if self.single_pass:
            raise UsageError(
                "links are tried once on one GPU, not on several; leave it out", about=(("single_pass", True),)
            )

    @property
    def takes_numbers(self) -> bool:
        """Yes: vertices with edges may have numbers of their own on a GPU."""
        return True

    @property
    def skips_giant(self) -> bool:
        """Whether the rows of the giant's vertices are left out."""
        return self.algorithm != "labelprop" if self.skip_giant is None else self.skip_giant


def parse_options(text: str) -> ComponentsOptions:
    """Return the options that words mean: ``"afforest rounds=2 all-rows single-pass"``, the algorithm first.

    Raises
    ------
    UsageError
        A word is unknown, or a switch is not one of the algorithm's.
    """
    algorithm, *words = text.split() or [""]
    switches: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name == "rounds" and value.isdigit():
            switches["rounds"] = int(value)
        elif word == "all-rows":
            switches["skip_giant"] = False
        elif word == "single-pass":
            switches["single_pass"] = True
        else:
            raise UsageError(f"{text!r}: {word!r} is unknown: it is rounds=N, all-rows or single-pass")
    return ComponentsOptions(algorithm, **switches)
