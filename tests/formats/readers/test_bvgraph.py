"""BVGraph: codes, rows and refusals, against the plain decoder of ``bvgraph_files``."""

from __future__ import annotations

import random

import numpy as np
import pytest
import zstandard
from bvgraph_files import USUAL, code, decoded, packed, webby, write

from bigbfs.conversion import convert
from bigbfs.conversion.on_disk import ready
from bigbfs.errors import BigBfsError, DoesNotFitError, FileAccessError, InputError
from bigbfs.formats.bvgraph import codes
from bigbfs.formats.bvgraph.file import BvGraph
from bigbfs.formats.readers.detect import detect_format
from bigbfs.formats.readers.read import read_edges
from bigbfs.graph.graph import Graph

KINDS = ["UNARY", "GAMMA", "DELTA", "ZETA", "NIBBLE", "GOLOMB"]
EVERY_CODE = [
    {},
    {"outdegree": "DELTA", "reference": "GAMMA", "block_count": "UNARY", "block": "DELTA", "residual": "DELTA"},
    {"reference": "DELTA", "block_count": "DELTA", "residual": "NIBBLE"},
    {"residual": "GOLOMB", "block": "UNARY", "outdegree": "UNARY"},
    {"residual": "GAMMA", "interval": "DELTA", "outdegree": "ZETA"},
]


def rows_of(graph, *, keep_loops=True, properties=None, **options):
    """Return the rows of a .graph as lists."""
    found = []
    with BvGraph(graph, properties or graph.with_suffix(".properties")) as opened:
        for piece in opened.rows(2, keep_loops=keep_loops, **options):
            assert piece.first == len(found)
            ends = np.cumsum(piece.degrees)
            found += [part.tolist() for part in np.split(piece.indices, ends)[:-1]]
            assert (ends[-1] if len(ends) else 0) == len(piece.indices)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_every_code(kind):
    numbers = [0, 1, 2, 3, 6, 7, 8, 20, 63, 64, 1000] + ([] if kind == "UNARY" else [2**20 - 1, 2**20])
    numbers += [2**31, 2**40 + 5, 2**50] if kind in ("GAMMA", "DELTA", "ZETA", "NIBBLE") else []
    for k in (1, 2, 3, 5, 7):
        read = codes.packed(KINDS.index(kind), k if kind in ("ZETA", "GOLOMB") else 0)
        for shift in range(8):
            bits = "1" * shift + "".join(code(kind, number, k) for number in numbers)
            data = np.frombuffer(packed(bits) + bytes(8), np.uint8)
            seen, left, byte = codes.opened(data, np.int64(shift))
            for number in numbers:
                found, seen, left, byte = codes.read_rarely(data, np.uint64(seen), left, byte, read)
                assert found == number
            assert 8 * byte - left == len(bits)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_number_is_minus_one_or_ends_behind_the_file(kind):
    read = codes.packed(KINDS.index(kind), 3 if kind in ("ZETA", "GOLOMB") else 0)
    for data in (np.zeros(8, np.uint8), np.zeros(40, np.uint8)):
        data.flags.writeable = False
        seen, left, byte = codes.opened(data, np.int64(0))
        number, _, left, byte = codes.read_rarely(data, np.uint64(seen), left, byte, read)
        assert number == -1 or 8 * byte - left > 8 * len(data)


@pytest.mark.parametrize("used", EVERY_CODE)
@pytest.mark.parametrize(("window", "shortest", "k"), [(7, 4, 3), (0, 0, 2), (3, 2, 5), (70, 1, 1)])
def test_rows_of_every_code(tmp_path, used, window, shortest, k):
    rows = webby(150, window)
    graph = write(tmp_path / "g", rows, window=window, shortest=shortest, k=k, codes=used)
    assert decoded(graph.read_bytes(), 150, window=window, shortest=shortest, k=k, codes=USUAL | used) == rows
    assert rows_of(graph) == rows_of(graph, arcs_of_piece=40) == rows
    apart = [[v for v in row if v != x] for x, row in enumerate(rows)]
    assert rows_of(graph, keep_loops=False, arcs_of_piece=40) == apart


def test_pieces_are_cut_where_references_allow_it(tmp_path):
    rows = webby(3000, 5)
    graph = write(tmp_path / "g", rows)
    with BvGraph(graph, tmp_path / "g.properties") as opened:
        pieces = list(opened._pieces(300))
    assert len(pieces) > 10 and [piece.first for piece in pieces[1:]] == [piece.last for piece in pieces[:-1]]
    assert any(len(piece.needs) for piece in pieces)
    assert rows_of(graph, arcs_of_piece=300) == rows


def test_empty_rows_make_pieces_too_and_long_rows_more_room(tmp_path):
    rows = [[5]] + [[]] * 3000 + [sorted(random.Random(8).sample(range(3002), 2500)), [7]]
    graph = write(tmp_path / "g", rows, window=2)
    with BvGraph(graph, tmp_path / "g.properties") as opened:
        pieces = list(opened._pieces(100))
    assert len(pieces) > 10 and len(pieces[0].numbers) == 400 < max(len(piece.numbers) for piece in pieces)
    assert max(piece.last - piece.first for piece in pieces) <= 101
    assert rows_of(graph, arcs_of_piece=100) == rows


def test_rows_longer_than_a_vector_merge_what_they_copy(tmp_path):
    choice = random.Random(12)
    rows = [sorted(choice.sample(range(400), choice.choice([1, 15, 16, 17, 33, 100, 250]))) for _ in range(400)]
    rows[1::2] = [sorted([*choice.sample(row, len(row) // 2), x]) for x, row in enumerate(rows[::2])]
    rows = [sorted(set(row)) for row in rows]
    graph = write(tmp_path / "g", rows)
    assert rows_of(graph) == rows_of(graph, arcs_of_piece=900) == rows
    apart = [[v for v in row if v != x] for x, row in enumerate(rows)]
    assert rows_of(graph, keep_loops=False) == apart


def test_what_is_wrong_first_in_the_file_is_told_whatever_comes_later(tmp_path):
    graph = write(tmp_path / "g", [[1]] * 400, window=0, shortest=0)
    one, far = code("GAMMA", 1) + code("ZETA", 0), code("GAMMA", 1) + code("ZETA", 4000)
    wrong = code("GAMMA", 999)
    graph.write_bytes(packed(one + far + 300 * one + wrong))
    for threads in (1, 2, 5):
        with (
            BvGraph(graph, tmp_path / "g.properties") as opened,
            pytest.raises(InputError, match=f"vertex 1, bit {len(one + far)}: a neighbour 2001"),
        ):
            list(opened.rows(threads, keep_loops=True, arcs_of_piece=10))


def test_rows_that_refer_back_without_end_are_one_piece(tmp_path):
    rows = [[3, 5, 9]] * 3000
    bits = code("GAMMA", 3) + "1" + code("GAMMA", 0) + "".join(code("ZETA", n) for n in (6, 1, 3))
    again = code("GAMMA", 3) + code("UNARY", 1) + code("GAMMA", 0)
    graph = write(tmp_path / "g", rows)
    graph.write_bytes(packed(bits + 2999 * again))
    with BvGraph(graph, tmp_path / "g.properties") as opened:
        assert len(list(opened._pieces(1000))) < 4
    assert rows_of(graph, arcs_of_piece=1000) == rows
    monstrous = 20 * ready.BvGraph.rows.__kwdefaults__["arcs_of_piece"] * 3
    with BvGraph(graph, tmp_path / "g.properties") as opened, pytest.raises(DoesNotFitError, match="at once"):
        opened._require_room(0, 3000, monstrous, 0, 1 << 20)


@pytest.mark.parametrize("options", [{}, {"keep_self_loops": True}, {"in_edges": False}, {"compressed": True}])
def test_a_graph_file_is_the_one_that_edges_become(tmp_path, monkeypatch, options):
    rows = webby(800, 3)
    graph = write(tmp_path / "g", rows)
    passes = ready._passes
    monkeypatch.setattr(ready, "_passes", lambda starts, most: passes(starts, 400))
    report = convert([graph], tmp_path / "direct.csrbin", options=_options(options))
    assert report.method == "direct" and report.self_loops == sum(x in row for x, row in enumerate(rows))
    monkeypatch.setattr("bigbfs.conversion.pipeline.comes_ready", lambda inputs, options: False)
    other = convert([tmp_path / "g.graph"], tmp_path / "edges.csrbin", options=_options(options))
    assert other.method == "in memory"
    assert (tmp_path / "direct.csrbin").read_bytes() == (tmp_path / "edges.csrbin").read_bytes()
    kept = [[v for v in row if v != x or options.get("keep_self_loops")] for x, row in enumerate(rows)]
    with Graph.open(tmp_path / "direct.csrbin") as made:
        assert (
            made.flags.directed
            and np.split(made.adjacency.indices, made.adjacency.indptr[1:-1].astype(int))[7].tolist() == kept[7]
        )
        assert (made.in_adjacency is None) == (options == {"in_edges": False})
    if "compressed" in options:
        with Graph.open(tmp_path / "direct.ccsr") as made, Graph.open(tmp_path / "direct.csrbin") as plain:
            for one, two in ((made.decompress(), plain),):
                np.testing.assert_array_equal(one.adjacency.indices, two.adjacency.indices)
                np.testing.assert_array_equal(one.in_adjacency.indices, two.in_adjacency.indices)
        assert convert([graph], tmp_path / "direct.csrbin", options=_options(options)).cached


def _options(options):
    from bigbfs.conversion import ConvertOptions

    return ConvertOptions(**options)


def test_a_symmetric_graph_is_found_out_and_other_wishes_go_by_way_of_edges(tmp_path):
    graph = write(tmp_path / "g", [[1], [0, 2], [1], []])
    convert([graph], tmp_path / "d.csrbin")
    with Graph.open(tmp_path / "d.csrbin") as made:
        assert made.flags.symmetric and made.flags.directed and (made.n, made.m) == (4, 4)
    one_way = write(tmp_path / "h", [[1, 3], [2], [], []])
    report = convert([one_way], options=_options({"undirected": True}))
    assert report.method == "in memory" and report.output == str(tmp_path / "h.csrbin") and report.edges == 6


def test_either_file_may_be_named_the_graph_compressed_or_not(tmp_path):
    rows = webby(40, 2)
    graph = write(tmp_path / "g", rows)
    edges = [(x, v) for x, row in enumerate(rows) for v in row]
    zipped = tmp_path / "z.graph.zst"
    zipped.write_bytes(zstandard.compress(graph.read_bytes()))
    (tmp_path / "z.properties").write_bytes((tmp_path / "g.properties").read_bytes())
    for path in (graph, tmp_path / "g.properties", zipped):
        found = read_edges(path)
        assert list(zip(found.src.tolist(), found.dst.tolist(), strict=True)) == edges and found.declared_n == 40
    assert convert([zipped]).method == "direct"
    (tmp_path / "g.properties").write_text("color=blue\n")
    assert detect_format(str(graph), b"3 2\n") == "metis"


PROPERTIES = [
    ("nodes=3", "nodes=x", "says nodes=x"),
    ("nodes=3", "", "no nodes"),
    ("nodes=3", "nodes=0", "without vertices"),
    ("arcs=3", "arcs=4", "holds 3 arcs"),
    ("arcs=3", "arcs=2", "more than arcs=2"),
    ("nodes=3", "nodes=2", "neighbour"),
    ("BVGraph\n", "EFGraph\n", "graphclass=EFGraph"),
    ("version=0", "endianness=little", "big-endian"),
    ("compressionflags=", "compressionflags=RESIDUALS_OMEGA", "RESIDUALS_OMEGA"),
    ("zetak=3", "zetak=99", "zetak=99"),
]


@pytest.mark.parametrize(("old", "new", "says"), PROPERTIES)
def test_properties_that_cannot_be(tmp_path, old, new, says):
    graph = write(tmp_path / "g", [[1, 2], [2], []])
    file = tmp_path / "g.properties"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=says) as error:
        read_edges(graph, format="bvgraph")
    assert "\n" not in str(error.value) and str(tmp_path) in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    graph = write(tmp_path / "g", [[1], []])
    (tmp_path / "g.properties").rename(tmp_path / "kept")
    with pytest.raises(FileAccessError, match=r"g\.properties"):
        read_edges(graph, format="bvgraph")
    (tmp_path / "kept").rename(tmp_path / "g.properties")
    graph.unlink()
    with pytest.raises(FileAccessError, match=r"g\.graph"):
        read_edges(tmp_path / "g.properties")


def test_a_graph_without_its_properties_is_told_to_want_them(tmp_path):
    (tmp_path / "g.graph").write_bytes(b"\x00\x01\x02")
    with pytest.raises(InputError, match=r"looks binary .* put its \.properties beside it if it is a web graph"):
        convert([tmp_path / "g.graph"], tmp_path / "g.csrbin")


def test_a_file_cut_anywhere_is_refused_with_vertex_and_bit(tmp_path):
    graph = write(tmp_path / "g", webby(60, 9))
    whole = graph.read_bytes()
    for length in range(len(whole)):
        graph.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"vertex \d+, bit \d+: .*cut short"):
            rows_of(graph)
    graph.write_bytes(whole + bytes(32))
    with pytest.raises(InputError, match=r"goes on to bit"):
        rows_of(graph)
    target = tmp_path / "t.csrbin"
    graph.write_bytes(whole[:-9])
    with pytest.raises(InputError, match="vertex"):
        convert([graph], target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.graph", "g.properties"]


def test_references_that_lead_too_far_and_neighbours_twice(tmp_path):
    graph = write(tmp_path / "g", [[1], [2], []])
    one = code("GAMMA", 1) + code("UNARY", 0) + code("GAMMA", 0)
    for bits, says in (
        (code("GAMMA", 1) + code("UNARY", 1), "vertex 0, bit 3: a reference to the row 1 before it"),
        (one + code("ZETA", 1) + one + code("ZETA", 2) + "1", "vertex 0, bit 9: a neighbour -1"),
        (one + code("ZETA", 8) + one + code("ZETA", 2) + "1", "a neighbour 4, and vertices are 0 to 2"),
        (one + code("ZETA", 2) + code("GAMMA", 1) + code("UNARY", 1) + code("GAMMA", 3), "copies 3 neighbours or runs"),
        (code("GAMMA", 9), "9 neighbours, and there are 3 vertices"),
        (code("GAMMA", 1) + "1" + code("GAMMA", 1), "intervals of 1"),
    ):
        graph.write_bytes(packed(bits + "0" * 24))
        with pytest.raises(InputError) as error:
            rows_of(graph)
        assert says in str(error.value), error.value
    twice = one + code("ZETA", 2) + code("GAMMA", 2) + code("UNARY", 1) + code("GAMMA", 0) + code("GAMMA", 0)
    write(tmp_path / "g", [[1, 2], [2], []])
    graph.write_bytes(packed(twice + code("ZETA", 0) + code("GAMMA", 0)))
    with pytest.raises(InputError, match=r"vertex 1, bit .*a neighbour twice"):
        rows_of(graph)


def test_changed_files_are_refused_or_give_sound_rows(tmp_path):
    choice = random.Random(4)
    graph = write(tmp_path / "g", webby(200, 11))
    whole, refused = graph.read_bytes(), 0
    for _ in range(400):
        content = bytearray(whole)
        for _ in range(choice.randint(1, 3)):
            content[choice.randrange(len(content))] ^= 1 << choice.randrange(8)
        graph.write_bytes(content)
        try:
            rows = rows_of(graph, arcs_of_piece=60)
        except BigBfsError as error:
            assert "g.graph" in str(error) and "\n" not in str(error)
            refused += 1
            continue
        assert len(rows) == 200
        assert all(row == sorted(set(row)) and (not row or (row[0] >= 0 and row[-1] < 200)) for row in rows)
    assert refused > 200
