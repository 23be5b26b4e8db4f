"""What can be generated: every kind with its parameters, and how what was given becomes what a generator needs.

Nothing here imports NumPy, so that the command line can show its help at once. :func:`resolve` turns the parameters
that a caller gave into a dictionary that always holds ``vertices`` (and ``edges``, where the kind does not decide
them itself), refusing every one that does not fit the kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
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
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    home: str
    finish: Finish
    directed: bool = False


SCALE = Parameter("scale", int, "Make 2^SCALE vertices.", low=0, high=40)
VERTICES = Parameter("vertices", int, "Vertices.", low=1, high=MAX_VERTICES)
EDGE_FACTOR = Parameter("edge_factor", float, "Edges per vertex. [default: 16]", low=0, high=2**20)
EDGES = Parameter("edges", int, "Edges, instead of edges per vertex.", low=0, high=MAX_EDGES)


def _permute(default: bool) -> Parameter:
    return Parameter("permute", bool, "Give the vertices random ids.", default)


def _count_vertices(p: dict[str, Any]) -> None:
    if (p["scale"] is None) == (p["vertices"] is None):
        raise UsageError("give either scale (2^scale vertices) or vertices, and not both")
    if p["vertices"] is None:
        p["vertices"] = 1 << p["scale"]


def _count_edges(p: dict[str, Any], default_factor: float = 16.0) -> None:
    if p["edges"] is not None and p["edge_factor"] is not None:
        raise UsageError("give either edge_factor (edges per vertex) or edges, and not both")
    if p["edges"] is None:
        factor = default_factor if p["edge_factor"] is None else p["edge_factor"]
        p["edges"] = int(factor * p["vertices"])


def _kronecker(p: dict[str, Any]) -> None:
    if p["scale"] is None:
        raise UsageError("kronecker: give scale (2^scale vertices)")
    p["vertices"] = 1 << p["scale"]
    _count_edges(p)


def _pairs(p: dict[str, Any]) -> None:
    _count_vertices(p)
    _count_edges(p)


def _rmat(p: dict[str, Any]) -> None:
    _pairs(p)
    if p["a"] + p["b"] + p["c"] > 1 + 1e-12:
        raise UsageError(
            f"rmat: a + b + c is {p['a'] + p['b'] + p['c']:g}; they are probabilities and sum up to 1 at most"
        )
    if p["vertices"] & (p["vertices"] - 1) and p["a"] < 0.01:
        raise UsageError(
            f"rmat: a is {p['a']:g}; a number of vertices that is no power of two needs 0.01 or more, because pairs "
            "outside are drawn again; use scale, or turn the quadrants round"
        )


def _grid(p: dict[str, Any], sides: tuple[str, ...]) -> None:
    given = [side for side in sides if p[side] is not None]
    if given:
        if len(given) < len(sides):
            raise UsageError(f"a grid needs {' and '.join(sides)}; only {' and '.join(given)} given")
        if p["scale"] is not None or p["vertices"] is not None:
            raise UsageError(f"a grid is given by {', '.join(sides)}, or by scale or vertices, and not both")
        count = math.prod(p[side] for side in sides)
        if count > MAX_VERTICES:
            raise UsageError(f"a grid of {count:,} vertices is too large: at most {MAX_VERTICES:,}")
        p["vertices"] = count
    elif p["scale"] is None and p["vertices"] is None:
        raise UsageError(f"a grid is given by {', '.join(sides)}, or by scale (2^scale vertices) or vertices")
    else:
        _count_vertices(p)


def _grid2d(p: dict[str, Any]) -> None:
    _grid(p, ("rows", "columns"))
    if p["columns"] is None:
        p["columns"] = math.isqrt(p["vertices"] - 1) + 1


def _grid3d(p: dict[str, Any]) -> None:
    _grid(p, ("layers", "rows", "columns"))
    if p["columns"] is None:
        side = round(p["vertices"] ** (1 / 3))
        while side**3 < p["vertices"]:
            side += 1
        while side > 1 and (side - 1) ** 3 >= p["vertices"]:
            side -= 1
        p["columns"] = p["rows"] = side
    p["rows_per_layer"] = p["rows"]


def _powerlaw(p: dict[str, Any]) -> None:
    _count_vertices(p)
    if p["max_degree"] is None:
        p["max_degree"] = max(1, min(5214, p["vertices"] - 1))
    if p["vertices"] > 1 and p["max_degree"] >= p["vertices"]:
        raise UsageError(
            f"powerlaw: max_degree is {p['max_degree']}; {p['vertices']} vertices allow {p['vertices'] - 1}"
        )
    if p["vertices"] * p["degree"] > MAX_EDGES:
        raise UsageError(
            f"powerlaw: {p['vertices']:,} vertices of degree {p['degree']:g} are more than {MAX_EDGES:,} edges"
        )


def _star(p: dict[str, Any]) -> None:
    _count_vertices(p)
    n = p["vertices"]
    if n < 2:
        raise UsageError("star: give at least 2 vertices")
    _count_edges(p, default_factor=1.06)
    if p["edges"] < n - 1:
        raise UsageError(f"star: {p['edges']:,} edges cannot join {n:,} vertices; give at least {n - 1:,}")
    p["hub_degree"] = max(1, int(p["hub_fraction"] * (n - 1)))


def _dag(p: dict[str, Any]) -> None:
    _pairs(p)
    if p["edges"] and p["vertices"] < 2:
        raise UsageError("dag: one vertex can have no edge without a cycle; give more vertices or edges=0")


_SIDES = {
    side: Parameter(side, int, f"{side.capitalize()} of the grid.", low=1, high=MAX_VERTICES)
    for side in ("layers", "rows", "columns")
}
_PAIRS = (SCALE, VERTICES, EDGE_FACTOR, EDGES)

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "kronecker",
            "The Graph500 graph: R-MAT with 0.57, 0.19, 0.19, 0.05 and random ids.",
            (SCALE, EDGE_FACTOR, EDGES, _permute(True)),
            "rmat:kronecker",
            _kronecker,
        ),
        Kind(
            "rmat",
            "R-MAT: edges fall down a tree of quadrants with probabilities a, b, c and the rest.",
            (
                *_PAIRS,
                Parameter("a", float, "Probability of the upper left quadrant.", 0.57, 0, 1),
                Parameter("b", float, "Probability of the upper right quadrant.", 0.19, 0, 1),
                Parameter("c", float, "Probability of the lower left quadrant.", 0.19, 0, 1),
                _permute(True),
            ),
            "rmat:rmat",
            _rmat,
        ),
        Kind("uniform", "Uniformly random pairs of vertices.", _PAIRS, "uniform:uniform", _pairs),
        Kind(
            "grid2d",
            "A grid of two dimensions: rows and columns, or a square of so many vertices.",
            (_SIDES["rows"], _SIDES["columns"], SCALE, VERTICES, _permute(False)),
            "grids:grid",
            _grid2d,
        ),
        Kind(
            "grid3d",
            "A grid of three dimensions: layers, rows and columns, or a cube of so many vertices.",
            (*_SIDES.values(), SCALE, VERTICES, _permute(False)),
            "grids:grid",
            _grid3d,
        ),
        Kind(
            "road",
            "Road-like: connected, planar, long chains, a huge diameter.",
            (
                SCALE,
                Parameter("vertices", int, "Vertices.", low=1, high=2**31),
                Parameter("degree", float, "Mean degree.", 2.5, 2.0, 3.0),
                _permute(False),
            ),
            "road:road",
            _count_vertices,
        ),
        Kind(
            "powerlaw",
            "Power-law degrees with a mean and a maximum (Friendster-like).",
            (
                SCALE,
                VERTICES,
                Parameter("degree", float, "Mean degree.", 16.0, 1.0, 2**24),
                Parameter("exponent", float, "Exponent of the power law.", 2.5, 1.01, 20),
                Parameter(
                    "max_degree",
                    int,
                    "Largest degree, which no vertex exceeds. [default: 5214, or what the vertices allow]",
                    low=1,
                    high=2**24,
                ),
                _permute(True),
            ),
            "powerlaw:powerlaw",
            _powerlaw,
        ),
        Kind(
            "star",
            "One supernode joined to most vertices, the others hanging on its leaves (Mawi-like).",
            (
                SCALE,
                VERTICES,
                Parameter("edge_factor", float, "Edges per vertex. [default: 1.06]", low=0, high=2**20),
                EDGES,
                Parameter("hub_fraction", float, "Share of the vertices that the supernode is joined to.", 0.93, 0, 1),
                _permute(True),
            ),
            "star:star",
            _star,
        ),
        Kind(
            "dag",
            "A directed acyclic graph: uniformly random pairs, pointing forward in a hidden order.",
            (
                *_PAIRS,
                Parameter("span", int, "Longest step forward in the hidden order; short steps make long paths.", low=1),
                _permute(True),
            ),
            "uniform:dag",
            _dag,
            directed=True,
        ),
    )
}


def find(kind: str) -> Kind:
    """Return the kind by name.

    Raises
    ------
    UsageError
        There is none; names the nearest.
    """
    if kind not in KINDS:
        raise UsageError(f"cannot generate {kind!r}:{_nearest(kind, list(KINDS))} the kinds are {', '.join(KINDS)}")
    return KINDS[kind]


def resolve(kind: Kind, given: dict[str, Any]) -> dict[str, Any]:
    """Return the complete parameters of ``kind``; a None stands for the default.

    Raises
    ------
    UsageError
        One is unknown to the kind, of a wrong type, out of range, missing, or does not go with another.
    """
    known = {parameter.name: parameter for parameter in kind.parameters}
    complete = {name: parameter.default for name, parameter in known.items()}
    for name, value in given.items():
        if name not in known:
            raise UsageError(f"{kind.name} takes no {name}:{_nearest(name, list(known))} it takes {', '.join(known)}")
        if value is not None:
            complete[name] = known[name].check(kind.name, value)
    kind.finish(complete)
    return complete


def _nearest(name: str, names: list[str]) -> str:
    match = get_close_matches(name, names, 1)
    return f" did you mean {match[0]}?" if match else ""
