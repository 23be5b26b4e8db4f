"""The README's picture: the time of one BFS, beside other programs, from one run of tools/compare_peers.py; below it,
another run on another graph, the one that BLEST took part in."""

from __future__ import annotations

import json
from math import log10
from pathlib import Path
from typing import Any

from drawings.canvas import Canvas

RESULTS = Path(__file__).resolve().parent.parent.parent / "docs" / "results"
ROWS, BLEST = RESULTS / "gpu-peers.jsonl", RESULTS / "gpu-blest.jsonl"

RUN = {"commit": "690a4e5", "graph": "k26.csrbin"}
"""The run that is drawn: all bars but those of the last group come from it. A later run with more programs takes its
place here."""

OTHER_GRAPH = "kronecker 24"
OTHER = "another run: Kronecker 24, 520 M edges, in GPU memory"
"""The last group, of BLEST's rows."""

NAMES = {
    "bigbfs degree": "bigbfs, by degree",
    "bigbfs as given": "bigbfs, as given",
    "gswitch": "GSWITCH",
    "blest": "BLEST",
    "efg": "EFG",
    "emogi-bfs/chunk": "EMOGI",
}
"""Systems that are drawn, and what they are called; others, and second runs of bigbfs, are left out."""

PLACES = {"host": "edges in host memory, read over PCIe", "device": "edges in GPU memory"}

LEFT, RIGHT, BAR, GAP = 190, 76, 20, 9
LEAST, MOST = 0.3, 1000.0


def rows_of_run() -> list[dict[str, Any]]:
    """Return the rows of BFS of the run that is drawn, of the systems that are drawn."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    chosen = [row for row in rows if all(row[key] == value for key, value in RUN.items())]
    return [row for row in chosen if row["work"] == "bfs" and row["system"] in NAMES and row["verified"]]


def rows_of_blest() -> list[dict[str, Any]]:
    """Return the rows of the run with BLEST, on the graph that is drawn."""
    rows = [json.loads(line) for line in BLEST.read_text(encoding="utf-8").splitlines()]
    return [row | {"seconds": row["milliseconds"] / 1e3} for row in rows if row["graph"] == OTHER_GRAPH]


def draw() -> Canvas:
    """Return the picture."""
    groups = {said: _of(place) for place, said in PLACES.items()} | {OTHER: rows_of_blest()}
    groups = {name: sorted(rows, key=lambda row: row["seconds"]) for name, rows in groups.items()}
    bars = sum(len(rows) for rows in groups.values())
    height = 62 + 34 * len(groups) + bars * (BAR + GAP) + 34
    said = [
        f"{NAMES[row['system']]} ({short}): {1e3 * row['seconds']:.3g} ms"
        for short, rows in zip((*PLACES, "another run"), groups.values(), strict=True)
        for row in rows
    ]
    canvas = Canvas(860, height, "Time of one breadth-first search", "Median milliseconds: " + "; ".join(said) + ".")
    canvas.text(20, 28, "Time of one breadth-first search, R-MAT 26: 2.1 billion edges", 16, bold=True)
    canvas.text(20, 48, "milliseconds, median of 64 sources, log scale; shorter is better", 12, "dim")
    y = 62.0
    for name, rows in groups.items():
        canvas.text(20, y + 22, name, 13, bold=True)
        y += 34
        for power in range(4):
            x = _place(10**power, canvas.width)
            canvas.line([(x, y - 2), (x, y + len(rows) * (BAR + GAP))], "edge", dash="2 4")
        for row in rows:
            _bar(canvas, y, row)
            y += BAR + GAP
    for power in range(4):
        canvas.text(_place(10**power, canvas.width), y + 18, f"{10**power:,} ms", 11.5, "dim", "middle")
    return canvas


def _of(place: str) -> list[dict[str, Any]]:
    return [row for row in rows_of_run() if row["place"] == place]


def _place(milliseconds: float, width: int) -> float:
    """Return where on the axis ``milliseconds`` lie."""
    share = (log10(milliseconds) - log10(LEAST)) / (log10(MOST) - log10(LEAST))
    return LEFT + share * (width - LEFT - RIGHT)


def _bar(canvas: Canvas, y: float, row: dict[str, Any]) -> None:
    """Draw one bar with its name and its time."""
    milliseconds = 1e3 * row["seconds"]
    ours = row["system"].startswith("bigbfs")
    end = _place(milliseconds, canvas.width)
    canvas.text(LEFT - 10, y + 15, NAMES[row["system"]], 13, anchor="end", bold=ours, room=LEFT - 20)
    canvas.rect(LEFT, y + BAR / 2 - 3, end - LEFT, 6, "ours" if ours else "edge", round_=3)
    canvas.dot(end, y + BAR / 2, 7, "ours" if ours else "edge")
    canvas.text(end + 14, y + 15, f"{milliseconds:.3g}", 13, bold=ours)
