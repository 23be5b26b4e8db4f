"""The .properties beside a .graph: which files belong together, and what they say the codes are.

Keys and flags are those of WebGraph's class BVGraph; flags as webgraph-rs writes them (``BLOCKS_ZETA3``) are known too.
Source: the documentation of WebGraph, class BVGraph.
"""

from __future__ import annotations

import re
from pathlib import Path

from bigbfs.errors import InputError
from bigbfs.formats.bvgraph.codes import DELTA, GAMMA, GOLOMB, NIBBLE, UNARY, ZETA, packed
from bigbfs.formats.bvgraph.scan import Shape
from bigbfs.formats.streams.sources import read_error

GRAPH, PROPERTIES, URLS = ".graph", ".properties", ".urls"
TWO_FILES = (GRAPH, PROPERTIES, ".gz", ".bz2", ".xz", ".zst", ".zstd")
"""Last suffixes of the two files."""
_MOST_BYTES = 1 << 20
_CLASS = re.compile(rb"^[ \t]*graphclass[ \t]*[=:][^\n]*\bBVGraph\b", re.MULTILINE)
_LINE = re.compile(r"\s*([^#!\s=:][^\s=:]*)\s*[=:]\s*(.*)")
_KINDS = {"UNARY": UNARY, "GAMMA": GAMMA, "DELTA": DELTA, "ZETA": ZETA, "NIBBLE": NIBBLE, "GOLOMB": GOLOMB}
_PARTS = {
    "OUTDEGREES": "outdegree",
    "REFERENCES": "reference",
    "BLOCKS": "block",
    "BLOCK_COUNT": "block_count",
    "INTERVALS": "interval",
    "RESIDUALS": "residual",
}
_USUAL = {"outdegree": "GAMMA", "reference": "UNARY", "block_count": "GAMMA", "block": "GAMMA", "interval": "GAMMA"}
_LARGEST = 2**62


def is_properties(head: bytes) -> bool:
    """Tell by its first bytes that a file is the .properties of a BVGraph."""
    return _CLASS.search(head) is not None


def parts(path: str | Path) -> tuple[Path, Path]:
    """Return the .graph and the .properties that belong to one of the two, the .graph compressed or not."""
    file = Path(path)
    bare = file.with_suffix("") if file.suffix.lower() in TWO_FILES[2:] else file
    if bare.suffix == PROPERTIES:
        return bare.with_suffix(GRAPH), file
    return file, bare.with_suffix(PROPERTIES)


def urls_beside(path: str | Path) -> Path | None:
    """Return the list of names that lies beside the BVGraph of which ``path`` is a file: x.urls, or packed, or None."""
    properties = parts(path)[1]
    every = (properties.with_suffix(URLS + packed_as) for packed_as in ("", *reversed(TWO_FILES[2:])))
    return next((list_of for list_of in every if list_of.is_file()), None)


def is_bvgraph(path: str | Path) -> bool:
    """Tell by a file's name, and by what its .properties say, that it is one of the two files of a BVGraph."""
    graph, properties = parts(path)
    if GRAPH not in graph.suffixes[-2:] or not properties.is_file():
        return False
    try:
        with properties.open("rb") as file:
            return is_properties(file.read(_MOST_BYTES))
    except OSError:
        return False


def read_properties(path: Path) -> Shape:
    """Read a .properties; ``bits`` is 0, for whoever opens the .graph to say.

    Raises
    ------
    InputError
        A key is missing, a number is none, or the graph is of a kind that is not read.
    FileAccessError
        It cannot be read.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("latin-1")
    except OSError as error:
        raise read_error(path, error) from error
    lines = (match for line in text.splitlines() if (match := _LINE.fullmatch(line)))
    found = {match[1]: match[2] for match in lines}
    kind = found.get("graphclass", "").split(".")[-1].strip()
    if kind != "BVGraph":
        what = f"says graphclass={kind}" if kind else "says no graphclass"
        raise InputError(f"{path}: {what}; BVGraph is what is read, so store the graph as one with WebGraph")
    if found.get("endianness", "big").strip().lower() != "big":
        raise InputError(
            f"{path}: says endianness={found['endianness']}; big-endian files are read, so store it as one"
        )
    n, m = _number(path, found, "nodes"), _number(path, found, "arcs")
    if n == 0:
        raise InputError(f"{path}: says nodes=0; a graph without vertices is not made")
    codes = _codes(path, found)
    window, shortest = _number(path, found, "windowsize", 7), _number(path, found, "minintervallength", 4)
    return Shape(0, n, m, min(window, n), shortest, *(codes[name] for name in Shape._fields[5:]))


def _number(path: Path, found: dict[str, str], key: str, usual: int | None = None) -> int:
    """Return the value of a key, a whole number."""
    text = found.get(key, "" if usual is None else str(usual)).strip()
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) >= _LARGEST:
        what = f"says {key}={text[:40]}" if key in found else f"says no {key}"
        raise InputError(f"{path}: {what}; a whole number below 2^62 must stand there (fetch the file again)")
    return int(text)


def _codes(path: Path, found: dict[str, str]) -> dict[str, int]:
    """Return the code of every part of a row."""
    k = _number(path, found, "zetak", 3)
    named = dict(_USUAL, residual="ZETA")
    given = set()
    for flag in filter(None, (word.strip() for word in found.get("compressionflags", "").split("|"))):
        part, _, code = flag.rpartition("_")
        if part == "OFFSETS":
            continue  # of a file that is not needed
        if part not in _PARTS or re.fullmatch(r"(?:UNARY|GAMMA|DELTA|ZETA[1-7]?|NIBBLE|GOLOMB)", code) is None:
            known = ", ".join(_KINDS)
            raise InputError(f"{path}: compressionflags has {flag}; parts are {', '.join(_PARTS)}, codes {known}")
        named[_PARTS[part]] = code
        given.add(part)
    if "endianness" in found and "BLOCKS" in given and "BLOCK_COUNT" not in given:
        named["block_count"] = named["block"]  # webgraph-rs has one code for both, and alone writes that key
    if not 1 <= k <= 30 and any(code == "ZETA" for code in named.values()):
        raise InputError(f"{path}: says zetak={k}; it is 1 to 30")
    return {part: _packed(code, k) for part, code in named.items()}


def _packed(name: str, k: int) -> int:
    kind = _KINDS[name.rstrip("1234567")]
    parameter = int(name[-1]) if name[-1].isdigit() else k
    return packed(kind, parameter if kind in (ZETA, GOLOMB) else 0)
