"""Draw bench rows as a bar chart; needs the extra ``plot`` (matplotlib)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bigbfs.errors import UsageError


def plot_rates(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the median GTEPS of the BFS rows to ``path`` (.png, .svg or .pdf), one group of bars per graph.

    Parameters
    ----------
    rows
        Rows of ``tools/bench_matrix.py``: ``graph``, ``codec``, ``backend``, ``residency``, ``median_gteps``.
    path
        Picture to write.

    Raises
    ------
    UsageError
        matplotlib is not installed, or there is no BFS row.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("plots need matplotlib: pip install 'bigbfs[plot]'") from error
    timed = [row for row in rows if row.get("median_gteps")]
    if not timed:
        raise UsageError(f"{path}: nothing to draw: no BFS row among {len(rows)} rows")
    graphs = list(dict.fromkeys(row["graph"] for row in timed))
    series = list(dict.fromkeys((row["backend"], row["residency"], row["codec"]) for row in timed))
    figure = Figure(figsize=(1.5 + 1.6 * len(graphs), 4.5), layout="constrained")
    axes = FigureCanvasAgg(figure).figure.subplots()
    width = 0.8 / len(series)
    for offset, key in enumerate(series):
        rates = {row["graph"]: row["median_gteps"] for row in timed if _key(row) == key}
        places = [place + offset * width for place, graph in enumerate(graphs) if graph in rates]
        axes.bar(places, [rates[graph] for graph in graphs if graph in rates], width, label=", ".join(key))
    axes.set_xticks([place + 0.4 - width / 2 for place in range(len(graphs))], graphs, rotation=20, ha="right")
    axes.set_yscale("log")
    axes.set_ylabel("GTEPS (median over sources)")
    axes.legend(fontsize="small")
    figure.savefig(path)


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["backend"], row["residency"], row["codec"]
