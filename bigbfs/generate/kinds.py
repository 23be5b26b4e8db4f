"""What a kind of graph declares, and the parameters that several kinds share.

Nothing here imports NumPy, so that the command line can show its help at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bigbfs.errors import UsageError

MAX_VERTICES = 2**40
MAX_EDGES = 2**44


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: a number of ``type`` from ``low`` to ``high``, or a switch (bool)."""

    name: str
    type: type
    help: str
    default: Any = None
    low: float | None = None
    high: float | None = None

    @property
    def option(self) -> str:
        """Name on the command line."""
        return "--" + self.name.replace("_", "-")

    def check(self, kind: str, value: Any) -> Any:
        """Return ``value`` as the type that the parameter has.

        Raises
        ------
        UsageError
            It is of another type or out of range.
        """
        number = isinstance(value, int | float) and not isinstance(value, bool)
        # not isfinite, which makes a float of an int of any length
        fits = isinstance(value, bool) if self.type is bool else number and abs(value) < math.inf
        if not fits or (self.type is int and value != int(value)):
            wanted = {int: "a whole number", float: "a number", bool: "True or False"}[self.type]
            raise UsageError(f"must be {wanted} for {kind}", about=((self.name, value),))
        low, high = self.low, self.high
        if (low is not None and value < low) or (high is not None and value > high):
            limits = f"{low:,} or more" if high is None else f"between {low or 0:,} and {high:,}"
            raise UsageError(f"must be {limits} for {kind}", about=((self.name, value),))
        return self.type(value)


Finish = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of graph.

    Attributes
    ----------
    name, summary
        For people.
    parameters
        All that it takes.
    home
        ``"module:function"`` below ``bigbfs.generate``.
    finish
        Completes the parameters in place, and refuses combinations that cannot work.
    directed
        Its edges point one way.
    drawn
        Each edge is drawn from its number alone (:class:`bigbfs.generate.arrays.Drawn`).
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    home: str
    finish: Finish
    directed: bool = False
    drawn: bool = True


SCALE = Parameter("scale", int, "Make 2^SCALE vertices.", low=0, high=40)
VERTICES = Parameter("vertices", int, "Vertices.", low=1, high=MAX_VERTICES)
EDGE_FACTOR = Parameter("edge_factor", float, "Edges per vertex. [default: 16]", low=0, high=2**20)
EDGES = Parameter("edges", int, "Edges, instead of edges per vertex.", low=0, high=MAX_EDGES)


def permute(default: bool) -> Parameter:
    """Return the switch for random ids."""
    return Parameter("permute", bool, "Give the vertices random ids.", default)


BY_SCALE = ("scale", None, "give {} (2^scale vertices)")
"""What helps where the size of a graph is missing."""


def count_vertices(p: dict[str, Any]) -> None:
    """Complete ``vertices`` from scale or vertices, of which one must be given."""
    if p["scale"] is None and p["vertices"] is None:
        raise UsageError("the size is missing", remedies=(BY_SCALE, ("vertices", None, "{}")), lead=": ")
    _require_one(p, "scale", "vertices")
    if p["vertices"] is None:
        p["vertices"] = 1 << p["scale"]


def count_edges(p: dict[str, Any], default_factor: float = 16.0) -> None:
    """Complete ``edges``; ``vertices`` are complete."""
    _require_one(p, "edge_factor", "edges")
    if p["edges"] is None:
        factor = default_factor if p["edge_factor"] is None else p["edge_factor"]
        p["edges"] = int(factor * p["vertices"])


def _require_one(p: dict[str, Any], one: str, other: str) -> None:
    """Refuse two parameters that say the same."""
    if p[one] is not None and p[other] is not None:
        raise UsageError("give one of them, and not both", about=((one, p[one]), (other, p[other])))
