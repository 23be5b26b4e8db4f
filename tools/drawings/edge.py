"""The way of an edge, from a line of text to a register of the GPU."""

from __future__ import annotations

from drawings.canvas import Canvas

WIDTH, HEIGHT = 920, 664
BOX, STEP = 160, 180
SECTIONS = (
    ("header", "128 bytes", 96),
    ("table", "sections", 96),
    ("indptr", "where rows begin", 176),
    ("indices, or blob", "the edges, row after row", 330),
    ("labels", "original ids", 162),
)


def draw() -> Canvas:
    """Return the picture."""
    canvas = Canvas(
        WIDTH,
        HEIGHT,
        "The way of an edge from text to register",
        "Four steps. Convert: lines of text become pairs both ways, numbers, and sorted rows. The file: header, table,"
        " offsets, edges. Place: the mapped file is copied to the GPU, read in place, or streamed. Kernel: a warp reads"
        " a line of 128 bytes, each lane looks its ids up in the bitmap of visited vertices.",
    )
    _convert(canvas)
    _file(canvas)
    _place(canvas)
    _kernel(canvas)
    return canvas


def _heading(canvas: Canvas, y: float, head: str, tail: str) -> None:
    canvas.text(20, y, head, 15, bold=True)
    canvas.text(WIDTH - 20, y, tail, 12, "dim", "end")


def _convert(canvas: Canvas) -> None:
    _heading(canvas, 28, "1  convert, once", "the edge 7 - 12 is followed here")
    steps = (
        ("text", ["3 7", "7 12", "..."], "file"),
        ("tokenizer", ["blocks of 8 MiB,", "all threads; the first", "two ids of each line"], "host"),
        ("pairs", ["(3, 7)  (7, 3)", "(7, 12)  (12, 7)", "both ways"], "host"),
        ("numbers", ["ids become 0 to n - 1;", "labels keep the", "original ones"], "host"),
        ("rows", ["7:  3  12", "sorted; loops, doubles", "dropped and counted"], "host"),
    )
    for i, (head, body, fill) in enumerate(steps):
        x = 20 + i * STEP
        canvas.box(x, 42, BOX, 80, head, body, fill, f"{fill}-edge")
        if i:
            canvas.line([(x - STEP + BOX + 2, 82), (x - 3, 82)], arrow=True)


def _file(canvas: Canvas) -> None:
    _heading(canvas, 160, "2  the file", "one container; each section has its checksum")
    canvas.line([(820, 124), (820, 138), (420, 138), (420, 174)], arrow=True)
    x = 20.0
    for head, body, wide in SECTIONS:
        canvas.rect(x, 176, wide, 50, "file", "file-edge", 3)
        canvas.text(x + wide / 2, 197, head, 13, anchor="middle", bold=True, room=wide - 8)
        canvas.text(x + wide / 2, 215, body, 11.5, "dim", "middle", room=wide - 8)
        x += wide + 5
    canvas.text(30, 252, ".csrbin, row 7 = indices[indptr[7] : indptr[8]]", 12.5, room=400)
    canvas.text(890, 252, "03 00 00 00  0c 00 00 00", 12.5, anchor="end", code=True)
    canvas.text(30, 274, ".ccsr, row 7 = first id, then differences, 7 bits a byte", 12.5, room=460)
    canvas.text(890, 274, "03 09", 12.5, anchor="end", code=True)


def _place(canvas: Canvas) -> None:
    _heading(canvas, 314, "3  open and place", "opening maps the file; nothing is copied yet")
    canvas.rect(20, 328, 880, 34, "host", "host-edge")
    canvas.text(460, 350, "the file, mapped into host memory", 13, anchor="middle", bold=True)
    ways = (
        ("vram", ["edges are copied once", "into GPU memory"], "gpu"),
        ("mapped", ["pages are locked where they lie;", "kernels read them over the link"], "host"),
        ("streamed", ["rows that a level needs are read", "from the file, batch by batch"], "file"),
    )
    for i, (head, body, fill) in enumerate(ways):
        x = 20 + i * 300
        canvas.line([(x + 140, 364), (x + 140, 386)], arrow=True)
        canvas.box(x, 390, 280, 64, head, body, fill, f"{fill}-edge")
        canvas.line([(x + 140, 456), (x + 140, 506)], arrow=True)


def _kernel(canvas: Canvas) -> None:
    canvas.text(20, 486, "4  kernel", 15, bold=True)
    canvas.text(740, 486, "a warp of 32 lanes reads a row together", 12, "dim", "end")
    cell = 880 / 32
    for i in range(32):
        canvas.rect(20 + i * cell, 510, cell - 2, 26, "gpu", "gpu-edge", 2)
    canvas.text(30, 554, "one aligned line of 128 bytes: 32 ids, or about 50 compressed ones", 12.5)
    canvas.text(890, 554, "of plain rows four lines in flight", 12.5, "dim", "end")
    steps = (
        ("registers", ["cursor.ids[0] to ids[3]", "of each lane"], 250),
        ("look", ["word of visited, all four", "looks in flight together"], 290),
        ("claim", ["atomicOr on visited: the winner", "writes level and parent"], 300),
    )
    x = 20.0
    for i, (head, body, wide) in enumerate(steps):
        canvas.box(x, 580, wide, 64, head, body, "gpu", "gpu-edge")
        if i:
            canvas.line([(x - 18, 612), (x - 3, 612)], arrow=True)
        x += wide + 20
    canvas.line([(145, 560), (145, 577)], arrow=True)
