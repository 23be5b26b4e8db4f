"""Pictures of one run or one graph: the levels of a BFS, the sizes of components, the degrees, rates of a bench.

Each function returns an Altair chart; ``bigbfs.report.pictures.save`` makes a file of it. Needs the extra ``plot``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bigbfs.algorithms.bfs.level_records import DIRECTIONS, UNCOUNTED, LevelRecords
from bigbfs.algorithms.bfs.result import RunRecord
from bigbfs.errors import UsageError
from bigbfs.report.pictures import INK, PALETTE

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 640, 170

BINS_PER_DECADE = 12
"""Of degrees too many for a point each."""

POINTS = 2 * WIDTH
"""Of the levels of a run at most: a deep search has a million levels, and a picture has not."""


def levels(run: RunRecord, title: str) -> alt.TopLevelMixin:
    """Return frontier, edges checked and time of every level of ``run``, coloured by direction.

    Raises
    ------
    UsageError
        The run has no levels (an engine that counts none).
    """
    import altair as alt

    if not run.levels:
        raise UsageError("this run has no levels to draw: its engine counts none")
    names = {
        "frontier": "vertices expanded",
        "edges": "edges of the frontier",
        "checked": "edges checked",
        "ms": "ms per level",
    }
    values, together = level_points(LevelRecords.of(run.levels).table)
    if together > 1:
        title += f" (a point: the mean of {together:,} levels)"
    colour = alt.Color(
        "direction:N",
        scale=alt.Scale(domain=list(DIRECTIONS), range=[PALETTE[1], PALETTE[2]]),
        legend=alt.Legend(orient="top", title=None),
    )
    # the same for all panels: levels that ran as one have no time of their own
    span = alt.Scale(domain=[0, max(1, len(run.levels) - 1)])
    panels = []
    for name, what in names.items():
        if not any(value[name] for value in values):
            continue
        base = (
            alt.Chart(alt.Data(values=values))
            .transform_filter(f"isValid(datum.{name}) && datum.{name} > 0")
            .encode(
                x=alt.X("level:Q", scale=span, title="level", axis=alt.Axis(tickMinStep=1, format="~s")),
                y=alt.Y(f"{name}:Q", scale=alt.Scale(type="log"), title=what, axis=alt.Axis(format="~s", tickCount=5)),
            )
        )
        line = base.mark_line(color=INK, strokeOpacity=0.35, strokeWidth=1.2)
        points = base.mark_point(filled=True, size=34 if len(values) < 200 else 8).encode(color=colour)
        panels.append(alt.layer(line, points).properties(width=WIDTH, height=HEIGHT))
    return alt.vconcat(*panels).properties(title=title)


def level_points(table: np.ndarray) -> tuple[list[dict[str, Any]], int]:
    """Return at most ``POINTS`` points for the levels of ``table`` (``TABLE``), and how many levels make one of them.

    Each has the first of its levels, the direction of most of them, and the means of what is known: None of nothing.
    """
    together = -(-len(table) // POINTS)
    firsts = np.arange(0, len(table), together)
    counts = np.diff(np.append(firsts, len(table)))
    upward = 2 * np.add.reduceat(table["direction"].astype(np.int64), firsts) > counts
    columns: dict[str, list[Any]] = {
        "level": firsts.tolist(),
        "direction": [DIRECTIONS[up] for up in upward.astype(int).tolist()],
    }
    known = {name: table[name] != UNCOUNTED for name in ("frontier", "edges", "checked")}
    known |= {"ms": ~np.isnan(table["seconds"])}
    for name, have in known.items():
        values = 1e3 * table["seconds"] if name == "ms" else table[name]
        sums, of = np.add.reduceat(np.where(have, values, 0), firsts), np.add.reduceat(have.astype(np.int64), firsts)
        whole = together == 1 and name != "ms"
        means = sums if whole else sums / np.maximum(of, 1)
        columns[name] = [mean if some else None for mean, some in zip(means.tolist(), of.tolist(), strict=True)]
    return [dict(zip(columns, point, strict=True)) for point in zip(*columns.values(), strict=True)], together


def _log_log(values: list[dict[str, Any]], x: str, y: str, title: str) -> alt.TopLevelMixin:
    """Return points on two logarithmic axes; ``x`` and ``y`` are their titles."""
    import altair as alt

    def axis(name: str, text: str, kind: Any) -> Any:
        return kind(f"{name}:Q", scale=alt.Scale(type="log"), title=text, axis=alt.Axis(format="~s", tickCount=7))

    return (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=36, color=PALETTE[1], opacity=0.9)
        .encode(x=axis("x", x, alt.X), y=axis("y", y, alt.Y))
        .properties(width=WIDTH, height=2 * HEIGHT, title=title)
    )


def component_sizes(vertices: np.ndarray, title: str) -> alt.TopLevelMixin:
    """Return how many components have how many vertices, log-log.

    Parameters
    ----------
    vertices
        int64, one per component: how many it has.

    Raises
    ------
    UsageError
        There is no component.
    """
    found, counts = np.unique(vertices, return_counts=True)
    if len(found) == 0:
        raise UsageError(f"{title}: no component to draw")
    values = [{"x": int(size), "y": int(count)} for size, count in zip(found, counts, strict=True)]
    return _log_log(values, "vertices of a component", "components of that size", title)


def degree_distribution(blocks: Iterable[np.ndarray], title: str) -> alt.TopLevelMixin:
    """Return how many vertices have which degree, log-log; high degrees are binned, a bin's mean at its middle.

    Parameters
    ----------
    blocks
        Degrees (int64), any number at a time. Degree 0 has no place on a logarithmic axis.

    Raises
    ------
    UsageError
        No vertex has an edge.
    """
    edges = np.unique(np.round(10 ** (np.arange(0, 64 * BINS_PER_DECADE // 3) / BINS_PER_DECADE)).astype(np.float64))
    counts = np.zeros(len(edges), np.int64)
    for block in blocks:
        bins = np.searchsorted(edges, block[block > 0], side="right") - 1
        counts += np.bincount(bins, minlength=len(edges))
    values = []
    for i in np.flatnonzero(counts[:-1]):
        width = edges[i + 1] - edges[i]
        middle = math.sqrt(edges[i] * (edges[i + 1] - 1))
        values.append({"x": middle, "y": counts[i] / width})
    if not values:
        raise UsageError(f"{title}: no vertex has an edge: there is no degree to draw")
    return _log_log(values, "degree", "vertices of that degree", title)


def rates(rows: Sequence[dict[str, Any]]) -> alt.TopLevelMixin:
    """Return the median GTEPS of BFS rows of ``tools/bench_matrix.py`` as bars, one group for each graph.

    Raises
    ------
    UsageError
        There is no BFS row.
    """
    import altair as alt

    values = [
        {"graph": row["graph"], "place": _place(row), "gteps": row["median_gteps"]}
        for row in rows
        if row.get("median_gteps")
    ]
    if not values:
        raise UsageError(f"nothing to draw: no BFS row among {len(rows)} rows")
    return (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            x=alt.X("gteps:Q", title="GTEPS (median over sources)"),
            y=alt.Y("place:N", title=None),
            row=alt.Row("graph:N", title=None, sort=None, header=alt.Header(labelAngle=0, labelAlign="left")),
            color=alt.Color("place:N", scale=alt.Scale(range=list(PALETTE)), legend=None),
        )
    )


def _place(row: dict[str, Any]) -> str:
    return ", ".join((row["backend"], row["residency"], row["codec"]))
