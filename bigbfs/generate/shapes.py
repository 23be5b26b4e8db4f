"""Kinds of graphs for the shapes that R-MAT, grids and roads leave out: with locality, in the plane, and very deep."""

from __future__ import annotations

from typing import Any

from bigbfs.errors import UsageError
from bigbfs.generate.kinds import MAX_EDGES, SCALE, VERTICES, Kind, Parameter, count_vertices, permute


def _links(default: int, help_: str) -> Parameter:
    return Parameter("links", int, help_, default, low=1, high=2**24)


def _require_edges(kind: str, p: dict[str, Any]) -> None:
    if p["edges"] > MAX_EDGES:
        raise UsageError(f"{kind}: {p['edges']:,} edges are more than {MAX_EDGES:,}")


def _small_world(p: dict[str, Any]) -> None:
    count_vertices(p)
    if 2 * p["links"] >= p["vertices"]:
        raise UsageError(
            f"smallworld: a ring of {p['vertices']:,} vertices has no {p['links']:,} neighbours on either side of each"
        )
    p["edges"] = p["vertices"] * p["links"]
    _require_edges("smallworld", p)


def _grown(p: dict[str, Any]) -> None:
    count_vertices(p)
    p["edges"] = (p["vertices"] - 1) * p["links"]
    _require_edges("a graph that grows", p)


def _geometric(p: dict[str, Any]) -> None:
    count_vertices(p)
    if p["vertices"] > 2**32:
        raise UsageError(f"geometric: {p['vertices']:,} points are more than {2**32:,}")
    if p["degree"] >= p["vertices"] / 4:
        raise UsageError(
            f"geometric: a mean degree of {p['degree']:g} needs more than {int(4 * p['degree']):,} vertices"
        )


def _comb(p: dict[str, Any]) -> None:
    count_vertices(p)
    p["edges"] = p["vertices"] - 1


_SPAN = Parameter("span", int, "How far back a vertex looks for its neighbour.", 64, low=1, high=2**40)

SHAPES = (
    Kind(
        "smallworld",
        "A ring with shortcuts (Watts and Strogatz).",
        (
            SCALE,
            VERTICES,
            _links(8, "Neighbours on either side of a vertex."),
            Parameter("rewire", float, "Probability that an edge leads anywhere instead.", 0.01, 0, 1),
            permute(False),
        ),
        "smallworld:small_world",
        _small_world,
    ),
    Kind(
        "preferential",
        "Preferential attachment: newcomers join the popular (Barabasi and Albert).",
        (SCALE, VERTICES, _links(12, "Edges that a new vertex brings."), permute(True)),
        "preferential:preferential",
        _grown,
    ),
    Kind(
        "geometric",
        "Points in a square, joined where they are near each other (random geometric).",
        (SCALE, VERTICES, Parameter("degree", float, "Mean degree.", 16.0, 0, 2**20), permute(True)),
        "geometric:geometric",
        _geometric,
        drawn=False,
    ),
    Kind(
        "web",
        "Web-like: links copied from a page nearby, to pages nearby, and to popular ones (copying model).",
        (
            SCALE,
            VERTICES,
            _links(12, "Links of a page."),
            Parameter("copy", float, "Probability that a link is copied from a page shortly before.", 0.5, 0, 0.99),
            Parameter("near", float, "Probability that one that is not leads to a page nearby.", 0.8, 0, 1),
            _SPAN,
            permute(False),
        ),
        "web:web",
        _grown,
    ),
    Kind(
        "comb",
        "A path with teeth: tooth 0 is a path, 1 a path with leaves. As deep as it is long.",
        (SCALE, VERTICES, Parameter("tooth", int, "Vertices of a tooth.", 1, low=0, high=2**40), permute(False)),
        "trees:comb",
        _comb,
    ),
    Kind(
        "tree",
        "A random tree whose vertices hang on one shortly before: about 2 / span of the vertices deep.",
        (SCALE, VERTICES, _SPAN, permute(False)),
        "trees:tree",
        _comb,
    ),
)
