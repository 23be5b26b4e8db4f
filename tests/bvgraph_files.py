"""BVGraph files for tests: a writer, and a slow plain decoder, both written from the published format.

Bits are strings of "0" and "1" here, as slow and as plain as can be.
"""

from __future__ import annotations

import random
from pathlib import Path

WORDS = {
    "outdegree": "OUTDEGREES",
    "reference": "REFERENCES",
    "block_count": "BLOCK_COUNT",
    "block": "BLOCKS",
    "interval": "INTERVALS",
    "residual": "RESIDUALS",
}
USUAL = {
    "outdegree": "GAMMA",
    "reference": "UNARY",
    "block_count": "GAMMA",
    "block": "GAMMA",
    "interval": "GAMMA",
    "residual": "ZETA",
}


def _binary(number: int, width: int) -> str:
    return format(number, f"0{width}b") if width else ""


def _minimal(number: int, bound: int) -> str:
    """Minimal binary code of a number below ``bound``."""
    width = bound.bit_length() - 1
    short = 2 ** (width + 1) - bound
    return _binary(number, width) if number < short else _binary(number + short, width + 1)


def code(kind: str, number: int, k: int = 3) -> str:
    """Return the bits of a natural number."""
    if kind == "UNARY":
        return "0" * number + "1"
    if kind == "GAMMA":
        width = (number + 1).bit_length() - 1
        return code("UNARY", width) + _binary(number + 1 - 2**width, width)
    if kind == "DELTA":
        width = (number + 1).bit_length() - 1
        return code("GAMMA", width) + _binary(number + 1 - 2**width, width)
    if kind == "ZETA":
        steps = ((number + 1).bit_length() - 1) // k
        low = 2 ** (steps * k)
        return code("UNARY", steps) + _minimal(number + 1 - low, 2 ** (steps * k + k) - low)
    if kind == "GOLOMB":
        return code("UNARY", number // k) + _minimal(number % k, k)
    assert kind == "NIBBLE"
    digits = oct(number)[2:]
    return "".join("01"[i == len(digits) - 1] + _binary(int(digit), 3) for i, digit in enumerate(digits))


def natural(number: int) -> int:
    """Return the natural number that an integer is written as."""
    return 2 * number if number >= 0 else -2 * number - 1


class Bits:
    """Reads codes one by one."""

    def __init__(self, data: bytes) -> None:
        self.text = "".join(format(byte, "08b") for byte in data)
        self.at = 0

    def take(self, count: int) -> str:
        """Take bits."""
        self.at += count
        assert self.at <= len(self.text), "past the end"
        return self.text[self.at - count : self.at]

    def _minimal(self, bound: int) -> int:
        width = bound.bit_length() - 1
        short = 2 ** (width + 1) - bound
        number = int(self.take(width) or "0", 2)
        return number if number < short else 2 * number + int(self.take(1)) - short

    def read(self, kind: str, k: int = 3) -> int:
        """Read a number."""
        if kind == "NIBBLE":
            last, number = "0", 0
            while last == "0":
                last, number = self.take(1), 8 * number + int(self.take(3), 2)
            return number
        if kind == "GAMMA" or kind == "DELTA":
            width = self.read({"GAMMA": "UNARY", "DELTA": "GAMMA"}[kind])
            return 2**width + int(self.take(width) or "0", 2) - 1
        zeros = self.text.index("1", self.at) - self.at
        self.take(zeros + 1)
        if kind == "UNARY":
            return zeros
        if kind == "GOLOMB":
            return zeros * k + self._minimal(k)
        low = 2 ** (zeros * k)
        return low + self._minimal(2 ** (zeros * k + k) - low) - 1


def decoded(data: bytes, n: int, *, window: int = 7, shortest: int = 4, k: int = 3, codes: dict[str, str] = USUAL):
    """Return the rows of a .graph: for every vertex its neighbours."""
    bits = Bits(data)
    rows: list[list[int]] = []
    for x in range(n):
        read = {part: (lambda part=part: bits.read(codes[part], k)) for part in USUAL}
        degree = read["outdegree"]()
        row: list[int] = []
        back = read["reference"]() if degree and window else 0
        if back:
            copy, at = True, 0
            there = rows[x - back]
            for i in range(read["block_count"]()):
                length = read["block"]() + (i > 0)
                row += there[at : at + length] if copy else []
                at, copy = at + length, not copy
            row += there[at:] if copy else []
        intervals = read["interval"]() if shortest and len(row) < degree else 0
        end = None
        for _ in range(intervals):
            number = read["interval"]()
            start = (
                end + 1 + number if end is not None else x + (number // 2 if number % 2 == 0 else -(number + 1) // 2)
            )
            end = start + read["interval"]() + shortest
            row += range(start, end)
        last = None
        while len(row) < degree:
            number = read["residual"]()
            last = (
                last + 1 + number if last is not None else x + (number // 2 if number % 2 == 0 else -(number + 1) // 2)
            )
            row.append(last)
        rows.append(sorted(row))
    return rows


def _intervals(ids: list[int], shortest: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Cut ids into runs of at least ``shortest``, as (start, length), and the rest."""
    runs, rest, i = [], [], 0
    while i < len(ids):
        j = i
        while j + 1 < len(ids) and ids[j + 1] == ids[j] + 1:
            j += 1
        if shortest and j + 1 - i >= shortest:
            runs.append((ids[i], j + 1 - i))
        else:
            rest += ids[i : j + 1]
        i = j + 1
    return runs, rest


def row_bits(x: int, row: list[int], there: list[int] | None, back: int, window: int, shortest: int, put) -> str:
    """Return the bits of a row that refers to the row ``there``, if to any; ``put`` makes a code of a part."""
    bits = put("outdegree", len(row))
    if not row:
        return bits
    others = row
    if window:
        bits += put("reference", back)
    if back:
        assert there is not None
        kept = [neighbour in set(row) for neighbour in there]
        lengths, copy, at = [], True, 0
        while at < len(there):
            end = at
            while end < len(there) and kept[end] == copy:
                end += 1
            lengths.append(end - at)
            at, copy = end, not copy
        if lengths:
            lengths.pop()  # the rest is copied where the number of blocks is even, left out where it is odd
        bits += put("block_count", len(lengths))
        bits += "".join(put("block", length - (i > 0)) for i, length in enumerate(lengths))
        others = sorted(set(row) - set(there))
    if not others:
        return bits
    runs, rest = _intervals(others, shortest)
    if shortest:
        bits += put("interval", len(runs))
        end = None
        for start, length in runs:
            bits += put("interval", natural(start - x) if end is None else start - end - 1)
            bits += put("interval", length - shortest)
            end = start + length
    last = None
    for value in rest:
        bits += put("residual", natural(value - x) if last is None else value - last - 1)
        last = value
    return bits


def packed(bits: str) -> bytes:
    """Return bits as bytes, zeros at the end."""
    bits += "0" * (-len(bits) % 8)
    return int("1" + bits, 2).to_bytes(len(bits) // 8 + 1, "big")[1:]


def write(
    path: Path, rows: list[list[int]], *, window: int = 7, shortest: int = 4, k: int = 3, codes=None, seed: int = 0
) -> Path:
    """Write ``path``.graph and ``path``.properties; rows refer back at random. Returns the .graph."""
    codes = dict(USUAL, **(codes or {}))
    choice = random.Random(seed)
    bits = []
    for x, row in enumerate(rows):
        back = choice.randint(0, min(window, x)) if choice.random() < 0.7 else 0
        there = rows[x - back] if back else None
        bits.append(row_bits(x, row, there, back, window, shortest, lambda part, v: code(codes[part], v, k)))
    flags = "|".join(f"{WORDS[part]}_{name}" for part, name in codes.items() if name != USUAL[part])
    graph = path.with_suffix(".graph")
    graph.write_bytes(packed("".join(bits)))
    path.with_suffix(".properties").write_text(
        "#BVGraph properties\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\n"
        f"nodes={len(rows)}\narcs={sum(map(len, rows))}\nwindowsize={window}\nmaxrefcount=3\n"
        f"minintervallength={shortest}\nzetak={k}\ncompressionflags={flags}\n"
    )
    return graph


def webby(n: int, seed: int, *, degree: int = 6) -> list[list[int]]:
    """Return rows like those of a web graph: near, in runs, like the rows before; some empty, some self-loops."""
    choice = random.Random(seed)
    rows: list[list[int]] = []
    for x in range(n):
        row = set()
        if choice.random() < 0.8:
            if rows and choice.random() < 0.6:
                row |= {v for v in choice.choice(rows[-5:]) if choice.random() < 0.8}
            if choice.random() < 0.4:
                start = choice.randrange(n)
                row |= set(range(start, min(n, start + choice.randint(2, 9))))
            row |= {choice.randrange(n) for _ in range(choice.randint(0, degree))}
            row |= {x} if choice.random() < 0.1 else set()
        rows.append(sorted(row))
    return rows
