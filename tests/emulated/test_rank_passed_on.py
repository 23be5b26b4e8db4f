"""Edges that each of several GPUs copies in part and has from the others: all of them are there, on every rank."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import zoo
from wide import CODECS, in_turn, split

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.ranked_gpus import ranked_on_gpus
from bigbfs.engines.gpu.ranks import own, passed_on
from bigbfs.engines.gpu.runtime.stretches import Partly, Source, Stretches
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.loader import machine
from emulated.peers import SPINS
from emulated.runtime import SimtRuntime, builds_here

BUILD = builds_here()[0]


POISON = 0xA5


class Trickle:
    """An array of which nothing is there but what has been waited for."""

    def __init__(self, source: Source, full: np.ndarray, waits: list[int | None]) -> None:
        self.array, self.ended, self._full, self._waits = full, 0.0, full.copy(), waits
        self._span = source.span if isinstance(source, Stretches) else (0, full.nbytes)
        self._bytes = full.view(np.uint8)
        self._bytes[...] = POISON
        self._there = 0

    def wait(self, nbytes: int | None = None) -> None:
        """Let these bytes come, of the span."""
        begin, end = self._span
        until = end - begin if nbytes is None else min(nbytes, end - begin)
        self._waits.append(nbytes)
        fresh = slice(begin + self._there, begin + until)
        self._bytes[fresh] = self._full.view(np.uint8)[fresh]
        self._there = max(self._there, until)


class InParts(SimtRuntime):
    """A device to which nothing comes but what is waited for, of the span of what is copied."""

    def coming(self, array: Source) -> Any:
        """Copy to guarded memory, as it is waited for."""
        if isinstance(array, Partly):
            assert 0 < array.span[1] - array.span[0] < array.nbytes
        self.waits: list[int | None] = []
        return Trickle(array, self.upload(array), self.waits)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("unit", [1, 4, 8])
def test_parts_are_whole_lines_and_all_there_is(size: int, unit: int) -> None:
    for count in (0, 1, 127, 1000, 4096):
        parts = passed_on.parts_of(count, unit, size)
        assert parts[0][0] == 0 and parts[-1][1] == count
        assert all(end == begin for (_, end), (begin, _) in pairwise(parts))
        assert all(begin * unit % 128 == 0 or begin == count for begin, _ in parts)


STEPS = (
    "large bottom-up levels are shared",
    "those that others copied have come",
    "own edges are copied",
    "heads are made",
)


def require_steps(told: list[str]) -> None:
    """Require that a rank has said when it did each step, one after the other: what is shared before edges."""
    seconds = [float(each.split(" s: ")[0]) for each in told]
    assert seconds == sorted(seconds)
    texts = [each.split(" s: ", 1)[1].split(":")[0] for each in told]
    assert [each for each in dict.fromkeys(texts) if each in STEPS] == list(STEPS)


@pytest.mark.parametrize("window", [256, 1 << 20])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["two-hubs", "directed-in-rows"])
def test_edges_of_others_come_through_the_window(
    name: str, codec: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passed_on, "LEAST", 128)
    monkeypatch.setattr(passed_on, "WINDOW", window)
    machine(BUILD)
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    source = int(plain.degrees().argmax())

    def rank(group: Any) -> Any:
        runtime = InParts(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
        told: list[str] = []
        how = {"kind": "whole", "runtime": runtime, "tell": told.append}
        with ranked_on_gpus(graph, group, (BfsOptions(),), **how) as engine:
            arrays = [each.arrays for each in engine._placed._placed]
            held = [np.array(each["blob" if codec == "varint" else "indices"]) for each in arrays]
            search = engine._placed.program(BfsOptions()).search
            places = search._shared.places
            assert not search._shared.array[: places["levels"]].any(), "edges are left where ranks tell what they find"
            assert (search._arrays["levels"] == -1).all() and (search._arrays["parents"] == search.nobody).all()
            return told, held, engine.measure(BfsOptions(source), verify=True).internal

    rows = [graph.adjacency] if graph.in_adjacency in (None, graph.adjacency) else [graph.adjacency, graph.in_adjacency]
    for number, (told, held, result) in enumerate(run(3, rank, limit=120.0)):
        require_steps(told)
        assert all(np.array_equal(mine, each.edges) for mine, each in zip(held, rows, strict=True))
        if number == 0:
            assert np.array_equal(result.levels, reference_bfs(plain, source)[0])


@pytest.mark.parametrize("half", [16, 48, 160])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_words_are_handed_on_once_and_not_before_all_their_edges_are_there(size: int, half: int) -> None:
    rng = np.random.default_rng(size * half)
    for _ in range(40):
        lengths = rng.integers(0, 3, rng.integers(1, 1000)) * (rng.random(1) < 0.9)
        lengths[rng.integers(0, len(lengths))] = rng.integers(0, 200)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
        offsets, words = indptr[[*range(0, len(lengths), 64), -1]].astype(np.int64), -(-len(lengths) // 64)
        parts = passed_on.parts_of(int(indptr[-1]), 8, size)
        every: list[int] = []
        proved: list[int] = []
        for rank in range(size):
            arriving = passed_on.Arriving(parts, indptr, rank)
            seen: list[int] = []
            turns = max(1, -(-max(end - begin for begin, end in parts) // half))
            for turn in range(turns):
                ends = [min(end, begin + (turn + 1) * half) for begin, end in parts]
                there = np.zeros(int(offsets[-1]), bool)
                for (begin, _), end in zip(parts, ends, strict=True):
                    there[begin:end] = True

                def heads(begin: int, end: int, there: np.ndarray = there, seen: list[int] = seen) -> None:
                    assert there[offsets[begin] : offsets[end]].all()
                    seen += range(begin, end)

                arriving.see(ends, turn == turns - 1, heads, lambda begin, end: proved.extend(range(begin, end)))
            assert sorted(seen) == list(range(words))
            every += seen
        assert sorted(proved) == list(range(words))


@pytest.mark.covered
@pytest.mark.parametrize(
    ("kind", "codec", "passed"),
    split(
        product(["whole", "words", "ranges"], CODECS, [False, True]),
        lambda kind, codec, passed: passed == in_turn(codec, kind),
    ),
)
def test_heads_are_made_of_what_has_come(kind: str, codec: str, passed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read before it has been waited for, and each row is proved: a wrong one is found wherever it is."""
    monkeypatch.setattr(own, "STEP", 512)
    if passed:
        monkeypatch.setattr(passed_on, "LEAST", 128)
        monkeypatch.setattr(passed_on, "WINDOW", 1024)
    machine(BUILD)
    plain = zoo.shared()["kronecker"]
    graph = plain.compress() if codec == "varint" else plain

    def rank(given: Graph, group: Any) -> Any:
        runtime = InParts(build=BUILD, device=group.rank, sm_count=2, spin_limit=SPINS)
        with ranked_on_gpus(given, group, (BfsOptions(),), kind=kind, runtime=runtime) as engine:
            placed = engine._placed._placed[0]
            return np.array(placed.arrays["heads"]), placed._part, runtime.waits

    fresh = Graph(graph.adjacency, graph.flags)
    tables = run(3, partial(rank, fresh), limit=120.0)
    with monkeypatch.context() as patched:
        patched.setattr(own, "STEP", 1 << 40)
        patched.setattr(passed_on, "LEAST", 1 << 40)
        at_once = run(3, partial(rank, fresh), limit=120.0)
    for (heads, _, waits), (wanted, _, _) in zip(tables, at_once, strict=True):
        assert waits[-1] is None and (len(waits) > 2 or (kind == "whole" and not passed))
        if kind == "whole":
            assert np.array_equal(heads, wanted)
    if codec == "plain":
        rows = plain.adjacency
        for place in np.linspace(0, len(rows.indices) - 1, 7).astype(int):
            indices = rows.indices.copy()
            indices[place] = plain.n
            damaged = Graph(PlainAdjacency(rows.indptr, indices), plain.flags)
            with pytest.raises(FormatError):
                run(3, partial(rank, damaged), limit=120.0)


class Books:
    """A runtime that keeps what is asked of it, and a group whose meetings are in the same book."""

    rank = 1

    def __init__(self, size: int) -> None:
        self.size, self.book = size, []  # type: int, list[tuple[Any, ...]]

    def zeros(self, *shape: Any) -> None:
        """Nothing is made."""

    def pointer(self, array: Any) -> int:
        """Return where edges begin."""
        return 1 << 40

    def download(self, array: Any) -> None:
        """What was launched has ended."""
        self.book.append(("ended",))

    def max_blocks(self, *kernel: Any) -> int:
        """Return some."""
        return 8

    def barrier(self, rest: float) -> None:
        """All are there."""
        self.book.append(("met",))

    def wait(self, nbytes: int | None = None) -> None:
        """So many bytes of the own part are there."""
        self.book.append(("there", nbytes))

    def kernel(self, grid: int, block: int, arguments: tuple[Any, ...]) -> None:
        """Bytes go from one address to another."""
        self.book.append(("copy", *(int(each) for each in arguments)))


@pytest.mark.parametrize("size", [2, 3])
def test_nobody_meets_before_what_was_launched_has_ended(size: int) -> None:
    """What a rank puts into a half of its window was read by all two meetings before, and is whole at the next."""
    books, windows = Books(size), [rank << 20 for rank in range(1, size + 1)]
    window: Any = SimpleNamespace(array=bytes(1024), bases=lambda: windows)
    runtime: Any = books
    runtime.synchronize = lambda: books.download(None)
    bringing = passed_on.Others(runtime, runtime, np.zeros(1000 * size, np.uint32), window)
    seen: list[tuple[list[int], bool]] = []
    coming: Any = SimpleNamespace(array=None, wait=books.wait)
    said = bringing.bring(coming, books.kernel, lambda ends, last: seen.append((list(ends), last)))
    half, book = 512, books.book
    assert said.startswith("8 turns in ") and [last for _, last in seen] == [False] * 7 + [True]
    assert seen[-1][0] == [end for _, end in bringing.parts]
    meetings = [number for number, event in enumerate(book) if event == ("met",)]
    assert len(meetings) == 9 and book[-1] == ("met",)
    assert all(book[number - 1] == ("ended",) for number in meetings), "kernels may still be running"
    own = windows[books.rank]
    there = -1
    for turn, (begin, end) in enumerate(pairwise([-1, *meetings[:-1]])):
        events = book[begin + 1 : end]
        written = [event for event in events if event[0] == "copy" and own <= event[2] < own + 2 * half]
        assert [event[2] for event in written] == [own + turn % 2 * half]
        [waited] = [event[1] for event in events if event[0] == "there"]
        assert events.index(("there", waited)) < events.index(written[0])
        there += written[0][3] + (turn == 0)
        assert waited == (there if turn < 7 else None)
    for turn, (begin, end) in enumerate(pairwise(meetings)):
        read = [event for event in book[begin:end] if event[0] == "copy" and event[2] >= 1 << 40]
        assert [event[1] for event in read] == [
            base + turn % 2 * half for rank, base in enumerate(windows) if rank != books.rank
        ]
