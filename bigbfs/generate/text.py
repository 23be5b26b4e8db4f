"""Edge lists as text, ``source target`` a line: formatted by compiled code, several threads, one file.

In: two id arrays, or how edges are drawn, which they are a stretch at a time then. Out: a .txt or .el file, also as .gz
(BGZF, which every gzip reads as one stream and several threads can unpack) or .zst (one frame: many readers stop after
the first). The bytes do not depend on the threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.formats.atomic import replacing
from bigbfs.formats.streams import bgzf
from bigbfs.formats.writers.suffixes import packed
from bigbfs.generate.arrays import Drawn, Pairs, allocate
from bigbfs.graph.adjacency import id_dtype
from bigbfs.jit.njit import njit

STRETCH = 1 << 17
"""Edges formatted at a time by one thread: some 2 MB of text."""

_AHEAD = 2
"""Texts for each thread that are made ahead."""
_PACKING = {".zst": 28}
"""Bytes that a thread takes to compress a stretch, as a multiple of 2^20 (measured); other suffixes: one."""

_PAIRS = np.frombuffer("".join(f"{number:02}" for number in range(100)).encode(), np.uint8)


def write_text(
    path: Path,
    edges: Drawn | Pairs,
    comments: list[str],
    threads: int,
    advance: Callable[[int], object] = lambda lines: None,
) -> None:
    """Write the edges, one a line, below the ``comments``, compressed as the suffix says; ``advance`` is told.

    Raises
    ------
    FileAccessError
        The file cannot be written; nothing is left of it.
    """
    head = "".join(f"# {line}\n" for line in comments).encode()
    squeeze: Callable[[Any], Any] = bgzf.members if path.suffix == ".gz" else memoryview
    with replacing(path) as stream:
        texts = _texts(edges, threads, squeeze)
        if path.suffix == ".zst":
            with packed(stream, path.suffix, threads) as writer:
                _write(writer.write, head, texts, advance)
        else:
            _write(stream.write, squeeze(head), texts, advance)
        if path.suffix == ".gz":
            stream.write(bgzf.end())


def _write(write: Callable[[Any], Any], head: Any, texts: Iterator[Any], advance: Callable[[int], object]) -> None:
    write(head)
    for text in texts:
        write(text)
        advance(STRETCH)


def text_need(suffix: str, n: int, lines: int, threads: int) -> int:
    """Return the bytes that :func:`write_text` takes for edges that are drawn."""
    line = 2 * len(str(max(n - 1, 0))) + 2
    texts, drawn = (_AHEAD + 1) * threads * line, 2 * threads * id_dtype(n).itemsize
    each = texts + drawn + threads * _PACKING.get(suffix, 1) * 2**20 // STRETCH
    return min(lines, STRETCH) * each


def _texts(edges: Drawn | Pairs, threads: int, squeeze: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield the text of all edges in order, a stretch at a time, made by ``threads`` threads a little ahead."""
    if isinstance(edges, Drawn):
        count, line = edges.edges, 2 * len(str(max(edges.n - 1, 0))) + 2
    else:
        count, line = len(edges[0]), sum(len(str(int(side.max(initial=0)))) for side in edges) + 2

    def pairs(first: int, last: int) -> Pairs:
        if not isinstance(edges, Drawn):
            return edges[0][first:last], edges[1][first:last]
        src, dst = allocate(edges.n, last - first)
        edges.draw(first, last, src, dst)
        return src, dst

    def text(first: int) -> Any:
        src, dst = pairs(first, min(first + STRETCH, count))
        room = np.empty(len(src) * line, np.uint8)
        return squeeze(room[: _format(src, dst, _PAIRS, room)].data)

    pool = ThreadPoolExecutor(max(1, threads))
    try:
        ahead: deque[Future[Any]] = deque()
        for first in range(0, count, STRETCH):
            ahead.append(pool.submit(text, first))
            if len(ahead) > _AHEAD * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@njit(cache=True, nogil=True, inline="always")
def _put(out, place, value, pairs):
    """Write ``value`` in decimal at ``place``, two digits at a time from the right; return the place after it."""
    digits, limit = 1, np.uint64(10)
    while value >= limit and digits < 20:
        digits += 1
        limit *= np.uint64(10)
    after = place + digits
    at = after
    while value >= np.uint64(100):
        rest = value // np.uint64(100)
        pair = np.int64(value - rest * np.uint64(100))
        value = rest
        at -= 2
        out[at], out[at + 1] = pairs[2 * pair], pairs[2 * pair + 1]
    if value >= np.uint64(10):
        pair = np.int64(value)
        out[at - 2], out[at - 1] = pairs[2 * pair], pairs[2 * pair + 1]
    else:
        out[at - 1] = np.uint8(48) + np.uint8(value)
    return after


@njit(cache=True, nogil=True)
def _format(src, dst, pairs, out):
    """Write the lines of all edges to ``out``; return how many bytes they take."""
    place = 0
    for edge in range(src.size):
        place = _put(out, place, np.uint64(src[edge]), pairs)
        out[place] = 32
        place = _put(out, place + 1, np.uint64(dst[edge]), pairs)
        out[place] = 10
        place += 1
    return place
