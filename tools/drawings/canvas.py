"""A small canvas for SVG that light and dark pages can show, and that refuses text which would not fit.

Coordinates are pixels from the top left. Colours are classes, given once for light and once for dark. Text is measured
with the widths of a wide sans serif, so that what fits here fits in any reader's font.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise

FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
CODE_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

COLOURS = {
    "page": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "dim": ("#59636e", "#9198a1"),
    "plain": ("#f6f8fa", "#151b23"),
    "edge": ("#818b98", "#656c76"),
    "gpu": ("#dafbe1", "#12361f"),
    "gpu-edge": ("#1a7f37", "#3fb950"),
    "host": ("#ddf4ff", "#0c2d4f"),
    "host-edge": ("#0969da", "#4493f8"),
    "file": ("#fff1e5", "#3d2412"),
    "file-edge": ("#bc4c00", "#db6d28"),
    "ours": ("#8250df", "#ab7df8"),
    "ours-pale": ("#fbefff", "#2b1a44"),
}
"""Each colour's name, for light and for dark pages."""

_WIDTHS = {
    **dict.fromkeys("ijlI|'.,:;!", 0.32),
    **dict.fromkeys(' ftr()[]/-\\"', 0.42),
    **dict.fromkeys("MWmw@%", 0.98),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&<>=+~→←≤≥", 0.76),
}


def text_width(text: str, size: float, code: bool = False) -> float:
    """Return a width that ``text`` in ``size`` pixels does not exceed."""
    return size * (0.62 * len(text) if code else sum(_WIDTHS.get(letter, 0.61) for letter in text))


class Canvas:
    """A drawing in the making; ``svg()`` returns it."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self.width, self.height = width, height
        self.title, self.description = title, description
        self._parts: list[str] = []
        self.boxes: list[tuple[float, float, float, float, str]] = []
        """Left, top, right, bottom and content of each text."""
        self._strokes: list[tuple[tuple[float, float], tuple[float, float]]] = []

    def rect(
        self, x: float, y: float, w: float, h: float, fill: str = "plain", edge: str = "", round_: int = 6
    ) -> None:
        """Draw a rectangle; ``edge`` is its outline's colour, none where empty."""
        line = f' stroke="var(--{edge})" stroke-width="1.5"' if edge else ""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{round_}" fill="var(--{fill})"{line}/>'
        )

    def line(
        self, points: list[tuple[float, float]], colour: str = "edge", arrow: bool = False, dash: str = ""
    ) -> None:
        """Draw straight lines from point to point, with an arrow's head at the last one if asked."""
        self._strokes += pairwise(points)
        path = " ".join(f"{'M' if i == 0 else 'L'}{x:g} {y:g}" for i, (x, y) in enumerate(points))
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(f'<path d="{path}" fill="none" stroke="var(--{colour})" stroke-width="1.5"{more}/>')
        if arrow:
            self._head(points[-2], points[-1], colour)

    def _head(self, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = (dx * dx + dy * dy) ** 0.5
        ux, uy = 7 * dx / length, 7 * dy / length
        corners = (end, (end[0] - ux - uy / 2, end[1] - uy + ux / 2), (end[0] - ux + uy / 2, end[1] - uy - ux / 2))
        path = " ".join(f"{x:g},{y:g}" for x, y in corners)
        self._parts.append(f'<polygon points="{path}" fill="var(--{colour})"/>')

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        """Draw a filled circle."""
        self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="var(--{fill})"/>')

    def text(
        self,
        x: float,
        y: float,
        content: str,
        size: float = 13,
        colour: str = "ink",
        anchor: str = "start",
        bold: bool = False,
        code: bool = False,
        room: float | None = None,
    ) -> None:
        """Write one line whose base line is at ``y``.

        Raises
        ------
        ValueError
            It is wider than ``room``, or leaves the picture.
        """
        wide = text_width(content, size, code) * (1.06 if bold else 1)
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        if room is not None and wide > room:
            raise ValueError(f"{content!r} takes {wide:.0f} of {room:.0f} pixels")
        if left < 0 or left + wide > self.width or y > self.height:
            raise ValueError(f"{content!r} leaves the picture: {left:.0f} to {left + wide:.0f}")
        self.boxes.append((left, y - 0.78 * size, left + wide, y + 0.24 * size, content))
        style = f' text-anchor="{anchor}"' if anchor != "start" else ""
        style += ' font-weight="600"' if bold else ""
        style += ' class="code"' if code else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="var(--{colour})"{style} '
            f'xml:space="preserve">{escape(content, quote=False)}</text>'
        )

    def lines(self, x: float, y: float, contents: list[str], size: float = 12, step: float = 16, **how: object) -> None:
        """Write lines one below the other, the first at ``y``."""
        for i, content in enumerate(contents):
            self.text(x, y + i * step, content, size, **how)  # type: ignore[arg-type]

    def box(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        head: str,
        body: list[str],
        fill: str = "plain",
        edge: str = "edge",
    ) -> None:
        """Draw a box with a heading and lines of small text, all of which must fit.

        Raises
        ------
        ValueError
            A line is wider than the box, or there are too many.
        """
        self.rect(x, y, w, h, fill, edge)
        if 24 + 16 * len(body) > h:
            raise ValueError(f"{len(body)} lines do not fit the box {head!r}")
        self.text(x + 10, y + 19, head, 13, bold=True, room=w - 20)
        self.lines(x + 10, y + 37, body, 11.5, 16, colour="dim", room=w - 16)

    def overlaps(self) -> list[tuple[str, str]]:
        """Return the pairs of texts that lie over one another, and the texts that a line runs through."""
        found = []
        for left, top, right, bottom, content in self.boxes:
            for (x, y), (u, v) in self._strokes:
                if min(x, u) < right and left < max(x, u) and min(y, v) < bottom and top < max(y, v):
                    found.append((content, f"line from {x:g}, {y:g} to {u:g}, {v:g}"))
        for i, (left, top, right, bottom, content) in enumerate(self.boxes):
            for other in self.boxes[i + 1 :]:
                if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
                    found.append((content, other[4]))
        return found

    def svg(self) -> str:
        """Return the picture as an SVG document."""
        light = "; ".join(f"--{name}: {colours[0]}" for name, colours in COLOURS.items())
        dark = "; ".join(f"--{name}: {colours[1]}" for name, colours in COLOURS.items())
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" aria-labelledby="title desc" '
            f'font-family="{FONT}">'
        )
        return "\n".join(
            [
                head,
                f'<title id="title">{escape(self.title, quote=False)}</title>',
                f'<desc id="desc">{escape(self.description, quote=False)}</desc>',
                "<style>",
                f"svg {{ {light} }}",
                f"@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}",
                f".code {{ font-family: {CODE_FONT} }}",
                "</style>",
                f'<rect width="{self.width}" height="{self.height}" fill="var(--page)"/>',
                *self._parts,
                "</svg>\n",
            ]
        )
