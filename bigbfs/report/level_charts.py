"""Lines over the levels of searches: frontier, edges and time of each contender, and what one direction alone reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bigbfs.report.charts import looks
from bigbfs.report.rows import Levels, Record
from bigbfs.report.summary import label

if TYPE_CHECKING:
    import altair as alt

METRICS = {"frontier": "vertices expanded", "checked": "edges checked", "ms": "ms per level"}

FEW = 24
"""Points of a line in a picture, up to which each is marked; a browser shows what is under the pointer."""

WAYS = ("every level top-down", "every level bottom-up")
"""Names of what the levels of a tree read in one direction alone."""

POINTS = 96
"""Points of a line at most: a deep graph has thousands of levels, and a screen has not."""


def level_values(record: Record, points: int = POINTS) -> list[dict[str, Any]]:
    """Return one object for each point of the lines over levels: of the first source of each graph.

    ``graph``, ``contender``, ``level``, ``direction`` and the ``METRICS``, each the mean of the levels that share a
    point; one that nobody counted is left out.
    """
    values = []
    for row in record.rows:
        if row.levels is not None and row.levels.direction:
            common = {"graph": row.graph, "contender": label(row)}
            values += [common | point for point in thinned(row.levels, points)]
    return values


def way_values(record: Record, points: int = POINTS) -> list[dict[str, Any]]:
    """Return points for what the levels of each graph read in one direction alone, as contenders called ``WAYS``."""
    values = []
    seen: set[str] = set()
    for row in record.rows:
        if row.graph not in seen and row.levels is not None and row.levels.up:
            seen.add(row.graph)
            for name, letter, edges in zip(WAYS, "tb", (row.levels.down, row.levels.up), strict=True):
                own = Levels(letter * len(edges), checked=edges)
                values += [{"graph": row.graph, "contender": name} | point for point in thinned(own, points)]
    return values


def thinned(levels: Levels, points: int) -> list[dict[str, Any]]:
    """Return the levels as at most ``points`` objects, each the means of as many levels."""
    count = len(levels.direction)
    width = max(1, -(-count // points))
    found = []
    for first in range(0, count, width):
        part = slice(first, first + width)
        down = levels.direction[part].count("t")
        point: dict[str, Any] = {"level": first, "direction": "down" if 2 * down >= width else "up"}
        for name, factor in (("frontier", 1), ("checked", 1), ("seconds", 1000)):
            known = [value for value in getattr(levels, name)[part] if value is not None]
            if known and sum(known) > 0:
                point["ms" if name == "seconds" else name] = float(f"{factor * sum(known) / len(known):.4g}")
        found.append(point)
    return found


def over_levels(
    values: Sequence[dict[str, Any]], metric: str, names: list[str], graph: str, *, data: Any = None
) -> alt.TopLevelMixin | None:
    """Return a line for each contender over the levels of ``graph``, a parameter of the chart.

    Parameters
    ----------
    values
        From :func:`level_values`.
    metric
        ``"frontier"``, ``"checked"`` or ``"ms"``.
    names
        All contenders: they keep their colours from chart to chart.
    data
        Where the values come from instead, by name.
    """
    import altair as alt

    if not any(metric in value for value in values):
        return None
    shown = [name for name in names if any(v["contender"] == name and metric in v for v in values)]
    colour, dash, _ = looks(names, shown, symbolType="stroke", symbolStrokeWidth=2.5)
    which = alt.param(name="graph", value=graph)
    picked = alt.selection_point(name="picked", fields=["contender"], bind="legend")
    form = "~g" if metric == "ms" else "~s"
    x = alt.X("level:Q", title="level", axis=alt.Axis(tickMinStep=1, format="~s"))
    drawn = alt.Chart(alt.Data(values=list(values)) if data is None else data)
    few = data is not None or len(values) <= FEW * len(shown)
    lines = (
        drawn.transform_filter("datum.graph == graph")
        .transform_filter(f"isValid(datum.{metric}) && datum.{metric} > 0")
        .mark_line(point=alt.OverlayMarkDef(size=18) if few else False, strokeWidth=1.6)
        .encode(
            x=x,
            y=alt.Y(f"{metric}:Q", scale=alt.Scale(type="log"), title=METRICS[metric], axis=alt.Axis(format=form)),
            color=colour,
            strokeDash=dash,
            opacity=alt.condition(picked, alt.value(0.95), alt.value(0.08)),
            tooltip=["contender:N", "level:Q", "direction:N", alt.Tooltip(f"{metric}:Q", format=".4g")],
        )
        .add_params(which, picked)
    )
    chart: alt.Chart = lines.properties(height=280)
    return chart
