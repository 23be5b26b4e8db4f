"""What can be generated: every kind with its parameters, and how what was given becomes what a generator needs.

Nothing here imports NumPy, so that the command line can show its help at once. :func:`resolve` turns the parameters
that a caller gave into a dictionary that always holds ``vertices`` (and ``edges``, where the kind does not decide
them itself), refusing every one that does not fit the kind.
"""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import Any

from bigbfs.errors import UsageError
from bigbfs.generate.kinds import (
    BY_SCALE,
    EDGE_FACTOR,
    EDGES,
    MAX_EDGES,
    MAX_VERTICES,
    SCALE,
    VERTICES,
    Kind,
    Parameter,
    count_edges,
    count_vertices,
    permute,
)
from bigbfs.generate.shapes import SHAPES


def _kronecker(p: dict[str, Any]) -> None:
    if p["scale"] is None:
        raise UsageError("the size is missing", remedies=(BY_SCALE,), lead=": ")
    p["vertices"] = 1 << p["scale"]
    count_edges(p)


def _pairs(p: dict[str, Any]) -> None:
    count_vertices(p)
    count_edges(p)


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
            also = [(name, p[name]) for name in (*sides, "scale", "vertices") if p[name] is not None]
            raise UsageError("give the sides of a grid or the number of its vertices, and not both", about=tuple(also))
        count = math.prod(p[side] for side in sides)
        if count > MAX_VERTICES:
            raise UsageError(f"a grid of {count:,} vertices is too large: at most {MAX_VERTICES:,}")
        p["vertices"] = count
    elif p["scale"] is None and p["vertices"] is None:
        side = (sides[0], None, f"{{}} and the other {'side' if len(sides) == 2 else 'sides'}")
        raise UsageError("the size is missing", remedies=(BY_SCALE, ("vertices", None, "{}"), side), lead=": ")
    else:
        count_vertices(p)


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
    count_vertices(p)
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
    count_vertices(p)
    n = p["vertices"]
    if n < 2:
        raise UsageError("star: give at least 2 vertices")
    count_edges(p, default_factor=1.06)
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
            (SCALE, EDGE_FACTOR, EDGES, permute(True)),
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
                permute(True),
            ),
            "rmat:rmat",
            _rmat,
        ),
        Kind("uniform", "Uniformly random pairs of vertices.", _PAIRS, "uniform:uniform", _pairs),
        Kind(
            "grid2d",
            "A grid of two dimensions: rows and columns, or a square of so many vertices.",
            (_SIDES["rows"], _SIDES["columns"], SCALE, VERTICES, permute(False)),
            "grids:grid",
            _grid2d,
            drawn=False,
        ),
        Kind(
            "grid3d",
            "A grid of three dimensions: layers, rows and columns, or a cube of so many vertices.",
            (*_SIDES.values(), SCALE, VERTICES, permute(False)),
            "grids:grid",
            _grid3d,
            drawn=False,
        ),
        Kind(
            "road",
            "Road-like: connected, planar, long chains, a huge diameter.",
            (
                SCALE,
                Parameter("vertices", int, "Vertices.", low=1, high=2**31),
                Parameter("degree", float, "Mean degree.", 2.5, 2.0, 3.0),
                permute(False),
            ),
            "road:road",
            count_vertices,
            drawn=False,
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
                permute(True),
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
                permute(True),
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
                permute(True),
            ),
            "uniform:dag",
            _dag,
            directed=True,
        ),
        *SHAPES,
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
