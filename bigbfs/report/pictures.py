"""How charts look, and how they become files: Vega-Lite through Altair, drawn by vl-convert without a browser.

Text and axes have the colour of what surrounds them (``currentColor``), so that the same drawing is readable on light
and on dark. A saved SVG brings that colour along, dark where the reader prefers dark. Needs the extra ``plot``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bigbfs.errors import UsageError, naming
from bigbfs.formats.atomic import replacing, require_writable
from bigbfs.formats.ours import SVG, require_ours, signed_png

if TYPE_CHECKING:
    import altair

VEGA_LITE = "6.4"
"""The version of Vega-Lite that Altair's charts are written in and vl-convert draws."""

SUFFIXES = (".svg", ".png")

INK = "currentColor"

PALETTE = (
    "#d1495b", "#1f8fc4", "#e07a1f", "#2a9d8f", "#8e5bd9", "#b8860b",
    "#4f6df5", "#6a994e", "#c0479f", "#8d6e63", "#7a8794", "#00a3b4",
)  # fmt: skip
"""Of middling lightness: each stands out on white and on black. Beyond twelve lines are dashed, points square."""

SHAPES = ("circle", "square", "triangle-up")
DASHES = ([1, 0], [5, 3], [2, 2])

_STYLE = "svg{color:#1b1f24}@media (prefers-color-scheme:dark){svg{color:#e6e8eb}}"
_SVG = "http://www.w3.org/2000/svg"


def require_extra() -> None:
    """Refuse to draw without what drawing takes.

    Raises
    ------
    UsageError
        Altair or vl-convert is not installed; the message names the extra.
    """
    missing = [name for name in ("altair", "vl_convert") if find_spec(name) is None]
    if missing:
        raise UsageError(f"pictures need {' and '.join(missing)}: pip install 'bigbfs[plot]'")


def check_picture(path: Path | None, force: bool = False) -> None:
    """Refuse, before any work is done, a picture that cannot be drawn.

    Raises
    ------
    UsageError
        The name ends neither in .svg nor in .png, there is a file of somebody else's and no ``force``, or the extra
        ``plot`` is not installed.
    FileAccessError
        The file cannot be written.
    """
    if path is None:
        return
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a picture is .svg or .png; name it {path.stem}.svg", about=(("plot", path),))
    with naming(output="plot"):
        require_writable(path)
        require_ours(path, force)
    require_extra()


def config() -> dict[str, Any]:
    """Return the look of every chart."""
    axis = {
        "labelColor": INK, "titleColor": INK, "domainColor": INK, "tickColor": INK, "gridColor": INK,
        "gridOpacity": 0.1, "domainOpacity": 0.5, "tickOpacity": 0.5, "titleFontWeight": 500, "labelFontSize": 11,
        "titleFontSize": 12, "labelLimit": 260, "labelSeparation": 4,
    }  # fmt: skip
    legend = {"labelColor": INK, "titleColor": INK, "labelFontSize": 11, "labelLimit": 220, "symbolLimit": 60}
    return {
        "background": None,
        "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
        "axis": axis,
        "legend": legend,
        "header": {"labelColor": INK, "titleColor": INK},
        "title": {"color": INK, "subtitleColor": INK, "anchor": "start", "fontSize": 14, "subtitleFontSize": 12},
        "view": {"stroke": None},
        "mark": {"invalid": "filter"},
    }


def colours(names: list[str]) -> tuple[list[str], list[list[int]], list[str]]:
    """Return the colour, the dash of the line and the shape of the point of each of ``names``."""
    count = len(PALETTE)
    rounds = [(i // count) % len(DASHES) for i in range(len(names))]
    hues = [PALETTE[i % count] for i in range(len(names))]
    return hues, [DASHES[i] for i in rounds], [SHAPES[i] for i in rounds]


def specification(chart: altair.TopLevelMixin) -> dict[str, Any]:
    """Return the Vega-Lite object of ``chart`` with our look."""
    made: dict[str, Any] = chart.to_dict(validate=True)
    made["config"] = config()
    return made


def draw(spec: dict[str, Any], suffix: str) -> bytes:
    """Return the picture of a Vega-Lite object: ``".svg"`` for light and dark readers, or ``".png"`` on white."""
    from xml.etree import ElementTree

    import vl_convert

    if suffix == ".png":
        white = spec | {"background": "white"}
        png: bytes = vl_convert.vegalite_to_png(white, vl_version=VEGA_LITE, scale=2)
        return png
    quiet = spec | {"config": spec.get("config", {}) | {"aria": False}}  # a page that shows it says what it is
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    tree = ElementTree.fromstring(vl_convert.vegalite_to_svg(quiet, vl_version=VEGA_LITE))
    style = ElementTree.Element(f"{{{_SVG}}}style")
    style.text = _STYLE
    tree.insert(0, style)
    text: bytes = ElementTree.tostring(tree, encoding="utf-8")
    return text


def save(chart: altair.TopLevelMixin, path: Path) -> None:
    """Write ``chart`` to ``path`` (.svg or .png), whole or not at all.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    suffix = path.suffix.lower()
    picture = draw(specification(chart), suffix)
    picture = SVG + picture if suffix == ".svg" else signed_png(picture)
    with naming(output="plot"), replacing(path) as stream:
        stream.write(picture)
