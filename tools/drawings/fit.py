"""Does my graph fit? The questions that ``--residency auto`` asks, and one graph worked out."""

from __future__ import annotations

from drawings.canvas import Canvas

WIDTH, HEIGHT = 860, 470

STATE_BYTES = 21
"""Bytes of GPU memory for each vertex with 32-bit ids: offsets 8, queue 4, levels 4, parents 4, five bitmaps."""

HEAD_BYTES = 32
"""Bytes of eight heads."""

VERTICES, EDGES = 67_108_864, 2_103_844_642
"""The graph that is worked out: R-MAT 26, directed edges (docs/results/gpu-h200.md)."""


def draw() -> Canvas:
    """Return the picture."""
    canvas = Canvas(
        WIDTH,
        HEIGHT,
        "Does my graph fit?",
        f"GPU memory holds {STATE_BYTES} bytes for each vertex, and {HEAD_BYTES} more for eight heads. An edge takes 4"
        " bytes, compressed 1 to 3. If all of it fits GPU memory: vram. If the vertices fit GPU memory and the edges"
        " host memory: mapped. If the vertices fit GPU memory: streamed. Else the CPU.",
    )
    canvas.text(20, 30, "Does my graph fit?", 16, bold=True)
    canvas.text(20, 54, f"a vertex: {STATE_BYTES} bytes, and {HEAD_BYTES} for 8 heads (16 for 4, or none)", 13)
    canvas.text(840, 54, "an edge: 4 bytes; in a .ccsr 1 to 3", 13, anchor="end")
    canvas.text(840, 74, "an undirected edge is stored twice", 12, "dim", "end")
    questions = (
        ("vertices and edges fit GPU memory", "vram", "everything is on the GPU", "gpu"),
        ("vertices fit the GPU, edges host memory", "mapped", "kernels read edges over the link", "host"),
        ("vertices fit GPU memory", "streamed", "rows come from the file in batches", "file"),
        ("none of these", "--backend cpu", "or exit code 5, before anything starts", "plain"),
    )
    for i, (question, name, meaning, fill) in enumerate(questions):
        y = 92 + 58 * i
        edge = f"{fill}-edge" if fill != "plain" else "edge"
        canvas.rect(20, y, 330, 42, "plain", "edge")
        canvas.text(34, y + 26, question + ("?" if i < 3 else ""), 13, room=306)
        canvas.line([(352, y + 21), (437, y + 21)], arrow=True)
        canvas.text(392, y + 15, "yes" if i < 3 else "", 12, "dim", "middle")
        canvas.rect(440, y, 400, 42, fill, edge)
        canvas.text(454, y + 26, name, 14, bold=True)
        canvas.text(828, y + 26, meaning, 12.5, "dim", "end", room=270)
        if i < 3:
            canvas.line([(185, y + 44), (185, y + 55)], arrow=True)
            canvas.text(198, y + 54, "no", 11, "dim")
    _example(canvas)
    return canvas


def _example(canvas: Canvas) -> None:
    """Draw one graph on a GPU of 6 GB."""
    state, heads, edges = VERTICES * STATE_BYTES / 2**30, VERTICES * HEAD_BYTES / 2**30, EDGES * 4 / 2**30
    free = 5.8 - 0.25 - state - heads  # of a device with 5.8 GiB, 256 MiB are left alone
    canvas.text(
        20, 352, f"{VERTICES / 1e6:.0f} million vertices, {EDGES / 1e9:.1f} billion edges, a GPU of 6 GB", 14, bold=True
    )
    canvas.text(840, 352, "mapped", 14, "host-edge", "end", bold=True)
    scale = 520 / edges
    _bar(
        canvas,
        366,
        "GPU memory",
        [(state, "state", "gpu"), (heads, "heads", "gpu"), (free, "hot rows", "ours-pale")],
        scale,
    )
    _bar(canvas, 416, "host memory", [(edges, "edges, read in place", "host")], scale)


def _bar(canvas: Canvas, y: float, name: str, parts: list[tuple[float, str, str]], scale: float) -> None:
    canvas.text(20, y + 25, name, 13)
    x = 130.0
    for size, what, fill in parts:
        wide = size * scale
        canvas.rect(x, y, wide - 2, 40, fill, "ours" if fill == "ours-pale" else f"{fill}-edge", 3)
        canvas.text(x + wide / 2, y + 17, what, 12, anchor="middle", room=wide - 6)
        canvas.text(x + wide / 2, y + 33, f"{size:.1f} GiB", 11.5, "dim", "middle")
        x += wide
