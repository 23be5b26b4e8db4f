"""The phases of the persistent kernel, and who follows whom."""

from __future__ import annotations

from drawings.canvas import Canvas

WIDTH, HEIGHT = 920, 640

FEW = (
    ("THIN", ["at most 1,024 vertices: the", "first block alone, level", "after level, no grid barrier"]),
    (
        "LOCAL",
        [
            "short rows: a block keeps",
            "what it found in shared",
            "memory; one barrier a level;",
            "a long row goes to EXPAND",
        ],
    ),
)
DOWN = (
    ("CLEAR, SCATTER", ["65,536 vertices and more with", "mapped rows: through a bitmap,", "so that reads ascend"]),
    ("GATHER", ["a bitmap becomes a queue"]),
    ("EXPAND", ["every row of the frontier: up", "to 8 ids a thread, up to", "1,024 a warp"]),
    ("EXPAND_CHUNKS", ["hubs: a warp for each", "chunk of 1,024 ids"]),
)
UP = (
    ("CLEAR, SCATTER", ["a queue becomes a bitmap"]),
    ("SEARCH", ["every unvisited vertex: heads,", "then its row, until a neighbour", "is in the frontier"]),
    ("SEARCH_OPEN", ["rows that were put off, so that", "reads ascend in a window"]),
    ("SEARCH_CHUNKS", ["hubs that their heads did not", "decide, chunk by chunk"]),
)
ALWAYS = ("EXPAND", "SEARCH", "THIN", "LOCAL", "PROBE")
COLUMNS = ((("few vertices", 40), FEW), (("top-down", 335), DOWN), (("bottom-up", 630), UP))
BOX, GAP, TOP, LAST = 250, 20, 198, 568


def draw() -> Canvas:
    """Return the picture."""
    canvas = Canvas(
        WIDTH,
        HEIGHT,
        "The phases of the persistent kernel",
        "One launch runs all levels. At the beginning of a level one thread of every block works out the next phase"
        " from the same counters: THIN or LOCAL for few vertices, else top-down or bottom-up, whichever is predicted to"
        " cost less; PROBE samples heads where that is open. After every phase all blocks meet at a barrier.",
    )
    body = ["what would top-down cost, and bottom-up? the counters are the same in every block"]
    canvas.box(160, 16, 600, 54, "a level begins", body, "ours-pale", "ours")
    canvas.lines(770, 32, ["a barrier of the", "grid after every", "phase (plan.cuh)"], 12, 16, colour="dim")
    for (head, x), steps in COLUMNS:
        canvas.text(x, 186, head, 15, bold=True)
        bottom = _column(canvas, x, steps)
        way = [(x + BOX / 2, bottom + 2), (x + BOX / 2, LAST - 3)]
        if steps is UP:
            way[1:] = [(x + BOX / 2, LAST - 14), (570, LAST - 14), (570, LAST - 3)]
        canvas.line(way, arrow=True)
    canvas.line([(292, 380), (312, 380), (312, 400), (332, 400)], arrow=True)
    _beginnings(canvas)
    body = ["its counters are read; the next one begins, with a queue or a bitmap"]
    canvas.box(40, LAST, 560, 54, "the level is over", body, "ours-pale", "ours")
    canvas.line([(40, LAST + 27), (18, LAST + 27), (18, 43), (157, 43)], "ours", arrow=True)
    canvas.box(660, LAST, 220, 54, "STOP", ["nothing was found, or full"], "plain", "edge")
    canvas.line([(602, LAST + 27), (657, LAST + 27)], arrow=True)
    return canvas


def _column(canvas: Canvas, x: float, steps: tuple[tuple[str, list[str]], ...]) -> float:
    """Draw phases one below the other, pale those that are often left out; return where the last one ends."""
    y = float(TOP)
    for i, (head, body) in enumerate(steps):
        tall = 30 + 16 * len(body)
        always = head in ALWAYS
        canvas.box(x, y, BOX, tall, head, body, "gpu" if always else "plain", "gpu-edge" if always else "edge")
        if i and steps is not FEW:
            canvas.line([(x + BOX / 2, y - GAP + 2), (x + BOX / 2, y - 3)], arrow=True)
        y += tall + GAP
    return y - GAP


def _beginnings(canvas: Canvas) -> None:
    """Draw the ways from the beginning of a level to the three columns."""
    canvas.line([(220, 72), (220, 104), (165, 104), (165, 166)], arrow=True)
    canvas.text(40, 124, "small frontier", 12, "dim")
    canvas.line([(440, 72), (440, 166)], arrow=True)
    canvas.text(430, 124, "few edges, or no choice", 12, "dim", "end")
    canvas.box(500, 96, 200, 50, "PROBE", ["what a sample of heads says"], "gpu", "gpu-edge")
    canvas.line([(600, 72), (600, 93)], arrow=True)
    canvas.line([(702, 128), (740, 128), (740, 166)], arrow=True)
    canvas.line([(498, 128), (470, 128), (470, 166)], arrow=True)
    canvas.line([(745, 72), (745, 104), (770, 104), (770, 166)], arrow=True)
    canvas.lines(780, 118, ["the frontier is", "a bitmap already"], 12, 16, colour="dim")
