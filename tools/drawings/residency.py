"""Residency, heads and hot rows: what lives where, and what a search reads first."""

from __future__ import annotations

from drawings.canvas import Canvas

WIDTH, HEIGHT = 920, 616
COLUMN, STEP = 280, 300

ALWAYS = ["offsets and degrees of all rows", "bitmaps, queue, levels, parents"]
HEADS = ["8 neighbours of each vertex,", "those of highest degree first"]
HOT = ["rows of the largest hubs, then a", "range of others: what room is left"]


def draw() -> Canvas:
    """Return the picture."""
    canvas = Canvas(
        WIDTH,
        HEIGHT,
        "Residency, heads and hot rows",
        "Three columns. vram: everything is in GPU memory. mapped: the edges stay in host memory and are read in place"
        " over the link; heads and hot rows are in GPU memory. streamed: the edges stay in the file and come in batches"
        " through four pinned buffers. Below: a search reads heads first, then hot rows, and only then the others.",
    )
    for i, draw_column in enumerate((_vram, _mapped, _streamed)):
        draw_column(canvas, 20 + i * STEP)
    _search(canvas)
    return canvas


def _column(canvas: Canvas, x: float, head: str, tail: str, hot: bool) -> None:
    """Draw what every column has: its name, and GPU memory with state and heads."""
    canvas.text(x, 26, head, 16, bold=True)
    canvas.text(x + COLUMN, 26, tail, 12, "dim", "end")
    canvas.rect(x, 38, COLUMN, 252, "gpu", "gpu-edge")
    canvas.text(x + 12, 58, "GPU memory", 12.5, "gpu-edge", bold=True)
    canvas.box(x + 12, 68, COLUMN - 24, 62, "state", ALWAYS, "page", "gpu-edge")
    canvas.box(x + 12, 138, COLUMN - 24, 62, "heads", HEADS, "page", "gpu-edge")
    if hot:
        canvas.box(x + 12, 208, COLUMN - 24, 62, "hot rows", HOT, "page", "gpu-edge")


def _vram(canvas: Canvas, x: float) -> None:
    _column(canvas, x, "vram", "all of it fits", hot=False)
    canvas.box(
        x + 12, 208, COLUMN - 24, 62, "edges", ["all rows, copied once", "while they are proved"], "page", "gpu-edge"
    )
    canvas.box(x, 372, COLUMN, 62, "file", ["opened, checked, copied;", "then no longer needed"], "file", "file-edge")
    canvas.line([(x + 140, 370), (x + 140, 294)], arrow=True)
    canvas.text(x + 150, 336, "once, at placement", 11.5, "dim")


def _mapped(canvas: Canvas, x: float) -> None:
    _column(canvas, x, "mapped", "edges stay in host memory", hot=True)
    canvas.box(x, 340, COLUMN, 94, "host memory", [], "host", "host-edge")
    body = ["all rows: the file's own pages,", "locked where they lie"]
    canvas.box(x + 12, 364, COLUMN - 24, 62, "edges", body, "page", "host-edge")
    canvas.line([(x + 140, 338), (x + 140, 294)], arrow=True)
    canvas.text(x + 150, 322, "PCIe, 128-byte lines", 11.5, "dim")


def _streamed(canvas: Canvas, x: float) -> None:
    _column(canvas, x, "streamed", "edges stay in the file", hot=True)
    canvas.box(x, 322, COLUMN, 52, "host memory", [], "host", "host-edge")
    canvas.text(x + 12, 362, "4 pinned buffers of batches", 11.5, "dim")
    canvas.box(x, 396, COLUMN, 38, "file", [], "file", "file-edge")
    canvas.text(x + 60, 415, "rows a level needs, by pread", 11.5, "dim")
    canvas.line([(x + 140, 394), (x + 140, 377)], arrow=True)
    canvas.line([(x + 140, 320), (x + 140, 294)], arrow=True)
    canvas.text(x + 150, 312, "copied meanwhile", 11.5, "dim")


def _search(canvas: Canvas) -> None:
    canvas.text(20, 476, "What one search for a parent reads", 15, bold=True)
    canvas.text(900, 476, "it stops at the first neighbour in the frontier", 12, "dim", "end")
    steps = (
        ("1  heads, first four", ["16 bytes of GPU memory;", "most searches end here"], "gpu"),
        ("2  heads, next four", ["another 16 bytes; short", "rows are here whole"], "gpu"),
        ("3  hot row", ["a hub's row, in chunks", "of 1,024 ids"], "gpu"),
        ("4  any other row", ["over the link, or in the", "next batch of the file"], "host"),
    )
    for i, (head, body, fill) in enumerate(steps):
        x = 20 + i * 225
        canvas.box(x, 490, 205, 66, head, body, fill, f"{fill}-edge")
        if i:
            canvas.line([(x - 18, 523), (x - 3, 523)], arrow=True)
    canvas.lines(
        20,
        584,
        [
            "Every buffer is added up before anything is placed; auto takes the first of the three that fits.",
            "Room that is left goes to hot rows. Without room for 8 heads a vertex keeps 4, or none.",
        ],
        12.5,
        20,
        colour="dim",
    )
