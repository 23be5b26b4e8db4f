"""The rooms of the package, from the ground up: a room imports only what lies below it."""

from __future__ import annotations

from drawings.canvas import Canvas

WIDTH = 920
TALL, GAP, TOP = 58, 10, 60

FLOORS: tuple[tuple[tuple[str, str, str], ...], ...] = (
    (("cli", "one module a command", ""),),
    (
        ("bench", "strategies side by side", ""),
        ("verification", "every engine, the oracle", ""),
    ),
    (("report", "tables, JSON, plots, the HTML page", ""),),
    (("api", "what Python users call, in original ids", ""),),
    (
        ("algorithms.bfs", "strategies, CPU, GPU, oracle", "strategy door"),
        ("algorithms.components", "options, CPU, GPU, oracle", ""),
        ("algorithms.topological", "options, CPU, GPU, oracle", "algorithm door"),
    ),
    (
        ("engines.cpu", "rows and heads in host memory", ""),
        ("engines.gpu", "placement, streaming, CuPy", ""),
    ),
    (
        ("conversion", "edges to graph files", ""),
        ("generate", "graphs of known shape", ""),
    ),
    (("formats", "bytes on disk: container, streams, readers, writers", "format door"),),
    (("graph", "what a graph is: rows, flags, original ids, the codec", ""),),
    (
        ("jit", "what Numba lacks", ""),
        ("sizes", "bytes and words", ""),
        ("config", "device profiles", ""),
        ("errors", "causes and remedies", "error door"),
        ("record", "every number", ""),
    ),
)
"""From the top: room, what is in it, and the door that it has."""


def draw() -> Canvas:
    """Return the picture."""
    height = TOP + len(FLOORS) * (TALL + GAP) + 12
    said = "; ".join(", ".join(room for room, _, _ in floor) for floor in reversed(FLOORS))
    canvas = Canvas(WIDTH, height, "The rooms of the package", f"From the ground up: {said}.")
    canvas.text(20, 32, "The rooms of the package", 16, bold=True)
    canvas.text(900, 32, "a room imports what lies below it, and nothing beside or above it", 12.5, "dim", "end")
    for i, floor in enumerate(FLOORS):
        y = TOP + i * (TALL + GAP)
        wide = (WIDTH - 40 - GAP * (len(floor) - 1)) / len(floor)
        for j, (room, what, door) in enumerate(floor):
            x = 20 + j * (wide + GAP)
            canvas.rect(x, y, wide, TALL, "ours-pale" if door else "plain", "ours" if door else "edge")
            canvas.text(x + 12, y + 23, room, 13.5, bold=True, room=wide - 16)
            canvas.text(x + 12, y + 43, what, 12, "dim", room=wide - 16)
            if door:
                canvas.text(x + wide - 10, y + 23, door, 11.5, "ours", "end")
    return canvas
