"""The charts of the comparison of strategies, from a record of rows; the same ones for the report and for the docs.

Every function returns an Altair chart with its data inside, or None where there is nothing to draw.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bigbfs.report.pictures import INK, colours
from bigbfs.report.summary import Line, fastest

if TYPE_CHECKING:
    import altair as alt

PARTS = ("open", "start", "place", "compile", "kernels", "host loop", "traversal", "copy")
"""Of end-to-end, in the order in which they happen."""

HUES = ("#7a8794", "#b8860b", "#2a9d8f", "#8e5bd9", "#d1495b", "#e07a1f", "#c0479f", "#1f8fc4")
"""The colour of each part."""

BEST = "#e0551f"
"""The frame of the best cell, on light and on dark."""


def contenders(lines: Sequence[Line]) -> list[str]:
    """Return the names of all contenders in the order in which they first ran."""
    return list(dict.fromkeys(line.contender for line in lines))


def by_depth(lines: Sequence[Line]) -> list[str]:
    """Return the names of the graphs, the shallowest first."""
    depth: dict[str, int] = {}
    for line in lines:
        depth.setdefault(line.graph, line.depth)
    return sorted(depth, key=lambda graph: depth[graph])


def looks(names: list[str], shown: list[str], **symbol: Any) -> tuple[alt.Color, alt.StrokeDash, alt.Shape]:
    """Return the encodings of a contender's colour, dash and shape, and one legend for those ``shown``."""
    import altair as alt

    hues, dashes, shapes = colours(names)
    legend = alt.Legend(orient="bottom", columns=6, title=None, symbolSize=110, values=shown, **symbol)
    colour = alt.Color("contender:N", scale=alt.Scale(domain=names, range=hues), legend=legend)
    dash = alt.StrokeDash("contender:N", scale=alt.Scale(domain=names, range=dashes), legend=legend)
    shape = alt.Shape("contender:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)
    return colour, dash, shape


def heat(lines: Sequence[Line]) -> alt.TopLevelMixin:
    """Return strategy x graph: milliseconds of the traversal, coloured by how many times the best one's."""
    import altair as alt

    best = fastest(lines)
    values = [
        {
            "graph": line.graph,
            "contender": line.contender,
            "ms": _short(1e3 * line.traversal),
            "milliseconds": 1e3 * line.traversal,
            "times": line.traversal / best[line.graph].traversal,
            "best": line.contender == best[line.graph].contender,
            "gteps": line.gteps,
        }
        for line in lines
    ]
    apart = alt.Scale(padding=0.04)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "graph:N",
            sort=by_depth(lines),
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-40, labelLimit=190),
            scale=apart,
        ),
        y=alt.Y("contender:N", sort=contenders(lines), title=None, scale=apart),
        tooltip=[
            alt.Tooltip("graph:N"),
            alt.Tooltip("contender:N"),
            alt.Tooltip("milliseconds:Q", format=".4g", title="ms"),
            alt.Tooltip("times:Q", format=".3g", title="times the best"),
            alt.Tooltip("gteps:Q", format=".3g", title="GTEPS"),
        ],
    )
    scale = alt.Scale(type="log", domain=[1, 100], clamp=True, range=["#cdeee4", "#58b7b4", "#2b6f9e", "#2a2f63"])
    legend = alt.Legend(
        orient="bottom", title="times the best of the graph", gradientLength=220, values=[1, 3, 10, 30, 100]
    )
    cells = base.mark_rect(cornerRadius=3, stroke=INK, strokeOpacity=0).encode(
        color=alt.Color("times:Q", scale=scale, legend=legend)
    )
    dark = alt.condition("datum.times < 7", alt.value("#10242b"), alt.value("#ffffff"))
    words = base.mark_text(fontSize=11, baseline="middle").encode(text="ms:N", color=dark)
    frame = (
        base.transform_filter("datum.best")
        .mark_rect(filled=False, stroke=BEST, strokeWidth=2.5, cornerRadius=3)
        .encode()
    )
    size = {"width": 64 * len(best), "height": 25 * len(contenders(lines))}
    return alt.layer(cells, frame, words).properties(**size)


def _short(value: float) -> str:
    """Return a number of at most three digits, or more where it needs them."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.2g}"


def end_values(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Return one object for each contender's end-to-end time, its parts (those that took any) by name."""
    return [
        {"graph": line.graph, "contender": line.contender}
        | {part: seconds for part, seconds in line.parts.items() if seconds > 0}
        for line in lines
    ]


def end_to_end(lines: Sequence[Line], graph: str) -> alt.TopLevelMixin:
    """Return stacked bars: what the time from the file to the caller's arrays is made of."""
    import altair as alt

    values = end_values(lines)
    parts = [part for part in PARTS if any(part in value for value in values)]
    hues = dict(zip(PARTS, HUES, strict=True))
    chart: alt.Chart = (
        alt.Chart(alt.Data(values=values))
        .transform_filter("datum.graph == graph")
        .transform_fold(list[Any](parts), as_=["part", "seconds"])
        .transform_filter("isValid(datum.seconds)")
        .transform_calculate(order=f"indexof({json.dumps(parts)}, datum.part)")
        .mark_bar(height={"band": 0.72})
        .encode(
            y=alt.Y("contender:N", sort=contenders(lines), title=None),
            x=alt.X("sum(seconds):Q", title="seconds", stack="zero"),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=parts, range=[hues[part] for part in parts]),
                legend=alt.Legend(orient="bottom", title=None, columns=8),
            ),
            order=alt.Order("order:Q"),
            tooltip=["contender:N", "part:N", alt.Tooltip("seconds:Q", format=".4g", title="seconds")],
        )
        .add_params(alt.param(name="graph", value=graph))
        .properties(height=40 + 22 * len(contenders(lines)))
    )
    return chart


def roofline(lines: Sequence[Line], limits: dict[str, float], names: list[str]) -> alt.TopLevelMixin | None:
    """Return bytes moved at least against time, with the limits of the machine as lines (bytes over bytes a second)."""
    import altair as alt

    values = [
        {
            "graph": line.graph,
            "contender": line.contender,
            "bytes": float(line.moved_bytes),
            "ms": 1e3 * line.traversal,
            "rate": line.moved_bytes / line.traversal / 1e9,
        }
        for line in lines
        if line.moved_bytes and line.traversal > 0
    ]
    if not values:
        return None
    moved = [line.moved_bytes for line in lines if line.moved_bytes]
    low, high = min(moved) / 2, max(moved) * 2
    shown = [name for name in names if any(v["contender"] == name for v in values)]
    colour, _, shape = looks(names, shown)
    picked = alt.selection_point(name="picked", fields=["contender"], bind="legend")
    x = alt.X(
        "bytes:Q",
        scale=alt.Scale(type="log", nice=False),
        title="bytes moved at least",
        axis=alt.Axis(format="~s", tickCount=6),
    )
    y = alt.Y("ms:Q", scale=alt.Scale(type="log"), title="ms of the traversal", axis=alt.Axis(format="~g", tickCount=8))
    points = (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=64, stroke=INK, strokeWidth=0.4)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=shape,
            opacity=alt.condition(picked, alt.value(0.9), alt.value(0.06)),
            tooltip=[
                "graph:N",
                "contender:N",
                alt.Tooltip("bytes:Q", format=".3s"),
                alt.Tooltip("ms:Q", format=".4g"),
                alt.Tooltip("rate:Q", format=".4g", title="GB/s"),
            ],
        )
        .add_params(picked)
    )
    return alt.layer(_walls(limits, low, high, x, y), points).properties(height=360)


WALLS = ([7, 4], [2, 3], [12, 3, 2, 3], [1, 5])
"""Dashes of the limits of a machine, of which no two lines are far enough apart for words between them."""


def _walls(limits: dict[str, float], low: float, high: float, x: alt.X, y: alt.Y) -> alt.Chart:
    """Return a line for each limit, from ``low`` to ``high`` bytes; a legend above the chart has their names."""
    import altair as alt

    names = {name: f"{name}: {rate / 1e9:,.4g} GB/s" for name, rate in limits.items()}
    ends = [
        {"limit": names[name], "bytes": size, "ms": 1e3 * size / rate}
        for name, rate in limits.items()
        for size in (low, high)
    ]
    legend = alt.Legend(
        orient="top",
        title=None,
        columns=3,
        labelLimit=220,
        symbolSize=900,
        symbolStrokeColor=INK,
        symbolStrokeWidth=1.4,
    )
    scale = alt.Scale(domain=list(names.values()), range=[WALLS[i % len(WALLS)] for i in range(len(names))])
    lines = alt.Chart(alt.Data(values=ends)).mark_line(color=INK, strokeWidth=1.4)
    walls: alt.Chart = lines.encode(x=x, y=y, strokeDash=alt.StrokeDash("limit:N", scale=scale, legend=legend))
    return walls


def rates(lines: Sequence[Line], base: str, names: list[str]) -> alt.TopLevelMixin | None:
    """Return how many times faster than ``base`` each contender is, graphs ordered by depth."""
    import altair as alt

    per = {line.graph: line.traversal for line in lines if line.contender == base}
    values = [
        {
            "graph": line.graph,
            "contender": line.contender,
            "times": per[line.graph] / line.traversal,
            "depth": line.depth,
        }
        for line in lines
        if line.graph in per and line.traversal > 0
    ]
    if not values or len(names) < 2:
        return None
    colour, _, shape = looks(names, [name for name in names if any(v["contender"] == name for v in values)])
    picked = alt.selection_point(name="picked", fields=["contender"], bind="legend")
    points = (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X(
                "times:Q", scale=alt.Scale(type="log"), title=f"times as fast as {base}", axis=alt.Axis(format="~g")
            ),
            y=alt.Y("graph:N", sort=by_depth(lines), title=None),
            color=colour,
            shape=shape,
            opacity=alt.condition(picked, alt.value(0.9), alt.value(0.06)),
            tooltip=["graph:N", "contender:N", "depth:Q", alt.Tooltip("times:Q", format=".3g")],
        )
        .add_params(picked)
    )
    one = (
        alt.Chart(alt.Data(values=[{"times": 1}]))
        .mark_rule(color=INK, strokeDash=[4, 4], opacity=0.6)
        .encode(x="times:Q")
    )
    return alt.layer(one, points).properties(height=40 + 30 * len(per))
