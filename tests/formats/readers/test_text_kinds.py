"""Edge lists as people have them: headers, quotes, columns, returns, two sides; and what is no edge list at all."""

from __future__ import annotations

import io
import re
import zipfile

import numpy as np
import pytest
from fuzzing.oracle import changing_line, plain
from hypothesis import given, settings
from hypothesis import strategies as st

from bigbfs.errors import InputError, UsageError
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.read import estimate, read_edges, says_one_way
from bigbfs.formats.readers.text import read_text
from bigbfs.formats.streams.sources import Source


def read(path, text, **rules):
    path.write_bytes(text)
    return read_edges(path, rules=Rules(**rules))


def pairs(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "line", "columns", "before"),
    [
        (b"1 2 3 4\n2 3 5\n3 4\n", 2, 3, 4),
        (b"4 6\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n", 2, 3, 2),  # K4 in METIS
        (b"# c\n1,2\r\n3,4\r\n5,6,7\r\n", 4, 3, 2),
        (b"1 2 7\n3 4 x\n5 6 \n", 3, 2, 3),
    ],
)
def test_an_adjacency_list_is_refused_by_name(tmp_path, text, line, columns, before):
    says = f"line {line}: .*: {columns} ids where the lines before have {before}, as in an adjacency list"
    for skip in (0, 9):
        with pytest.raises(InputError, match=rf"{says}.*format=\"adjlist\" .or metis.*columns=.1, 2."):
            read(tmp_path / "g.txt", text, skip_bad_lines=skip)
    assert pairs(read(tmp_path / "g.txt", text, columns=(1, 2))) == plain(text)[0]


ENDS = st.sampled_from(["", "", "", " ", " x", " 0.5"])


@settings(max_examples=150)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(["", "", "", " ", " x", " 0.5"])), min_size=1, max_size=30
    ),
    block=st.integers(1, 120),
    chunk=st.integers(1, 40),
)
def test_changing_columns_are_found_wherever_the_text_is_cut(tmp_path, rows, block, chunk):
    lines = [f"{i} {i + 1}{' 7' * (extra if extra > 2 else 0)}{end}" for i, (extra, end) in enumerate(rows)]
    text = "\n".join(lines).encode()
    line = changing_line(text, [])
    (tmp_path / "g").write_bytes(text)
    with Source(tmp_path / "g") as source, BlockReader(source, block) as reader:
        if line is None:
            assert len(read_text(reader, chunk_bytes=chunk).src) == len(rows)
            return
        with pytest.raises(InputError, match=f"g: line {line}: .* ids where the lines before have"):
            read_text(reader, chunk_bytes=chunk)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (b",source,target\n0,1,2\n1,3,4\n", "2 .'source'. and 3 .'target'."),  # pandas with its index
        (b"from;to;weight\n1;2;0.5\n3;4;1\n", "1 .'from'. and 2 .'to'."),
        (b'"Target","Source"\n"2","1"\n"4","3"\n', "2 .'Source'. and 1 .'Target'."),
        (b"# c\nweight src dst\n9 1 2\n8 3 4\n", "2 .'src'. and 3 .'dst'."),
        (b"alpha,beta\n1,2\n3,4\n", "1 .'alpha'. and 2 .'beta'."),
    ],
)
def test_a_header_says_which_columns_hold_the_ids(tmp_path, text, columns):
    edges = read(tmp_path / "g.csv", text)
    assert pairs(edges) == [(1, 2), (3, 4)]
    assert edges.skipped_lines == 0
    assert re.search(f"is a header; the ids are read from the columns {columns}", edges.notes[0])


@pytest.mark.parametrize(
    ("text", "columns", "told"),
    [
        (b"10 1 2\n20 2 3\n", None, "line 1 has 3 columns; .* 1 and 2; 1 other column not read"),
        (b"# c\n1,2,0.5,x\n2,3,1,y\n", None, "line 2 has 4 columns; .* 1 and 2; 2 other columns not read"),
        (b"from;to;weight\n1;2;0.5\n", None, "1 other column not read"),
        (b"10 1 2\n20 2 3\n", (2, 3), None),
        (b"1\t2\t\n2\t3\t\n", None, None),
        (b"1 2\n2 3\n", None, None),
    ],
)
def test_columns_that_are_not_read_are_told_unless_somebody_chose(tmp_path, text, columns, told):
    notes = read(tmp_path / "g.txt", text, columns=columns).notes
    assert re.search(told, " ".join(notes)) if told else not notes


@pytest.mark.parametrize("skip", [0, 5])
def test_a_header_that_does_not_say_so_is_refused_with_its_columns(tmp_path, skip):
    text = b",alpha,beta\n0,1,2\n1,3,4\n"
    with pytest.raises(InputError, match=r"line 1: .*columns '' \(1\), 'alpha' \(2\), 'beta' \(3\).*columns=\(1, 2\)"):
        read(tmp_path / "g.csv", text, skip_bad_lines=skip)
    assert pairs(read(tmp_path / "g.csv", text, columns=(2, 3))) == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("text", "columns", "found"),
    [
        (b"1 x 2\n3 y 4\n", (1, 3), [(1, 2), (3, 4)]),
        (b"1 x 2\n3 y 4\n", (3, 1), [(2, 1), (4, 3)]),
        (b'"1, 5",a,2,7\n"a""b",,3,"8.0"\n', (3, 4), [(2, 7), (3, 8)]),
        (b"# c\n9 1 5000000000\n\n9 2 3 4 5\n", (2, 3), [(1, 5000000000), (2, 3)]),
    ],
)
def test_chosen_columns(tmp_path, text, columns, found):
    assert pairs(read(tmp_path / "g", text, columns=columns)) == found


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        (b"1 2\n3 4\n", (1, 3), "line 1: '1 2': no column 3: the line has 2 columns"),
        (b"1 2 3\n3 4\n", (1, 3), "line 2: '3 4': a column is missing .*columns 1 and 3"),
        (b"a,b,c\n1,2\n", (1, 3), "line 2: '1,2': a column is missing .*columns 1 and 3"),
        (b"1 2 x\n", (1, 3), "line 1: '1 2 x': expected vertex ids in the columns 1 and 3"),
        (b",1\n", (1, 2), "line 1: ',1': expected"),
    ],
)
def test_columns_that_are_not_there(tmp_path, text, columns, says):
    with pytest.raises(InputError, match=says):
        read(tmp_path / "g", text, columns=columns)


def test_rules_that_cannot_be(tmp_path):
    for columns in ((0, 1), (2, 2), (1, 10**7)):
        with pytest.raises(UsageError, match="two different columns, counted from 1"):
            Rules(columns=columns)
    with pytest.raises(UsageError, match="exclude each other"):
        Rules(columns=(1, 2), edge_index=True)
    (tmp_path / "g.txt").write_text("1 2\n")
    for look in (read_edges, estimate):
        with pytest.raises(
            UsageError, match=r"edge_index=True: .*g.txt is text, and this is for npy, npz; leave it out"
        ):
            look(tmp_path / "g.txt", rules=Rules(edge_index=True))


@pytest.mark.parametrize(
    "text",
    [
        b'"1","2"\n\'3\';"4"\n',
        b"1|2\n3 | 4|x\n",
        b"1.0 2.000\n3. 4\n",
        b"1 2\r3 4",
        b"# c\r1 2\r3 4\r",
        b"1 2\r\n3 4\r\n",
    ],
)
def test_quotes_bars_whole_floats_and_returns_are_read(tmp_path, text):
    assert pairs(read(tmp_path / "g", text)) == [(1, 2), (3, 4)]


@pytest.mark.parametrize("text", [b"1.5 2\n", b'"1 2\n', b"1e3 2\n", b"1 2.01\n", b"1 2\r3 4\n"])
def test_fractions_open_quotes_and_mixed_line_ends_are_not(tmp_path, text):
    with pytest.raises(InputError, match="line 1: "):
        read(tmp_path / "g", text)


def test_returns_cut_anywhere(tmp_path):
    (tmp_path / "g").write_bytes(b"".join(b"%d %d\r" % (i, i + 1) for i in range(500)))
    for block in (1, 3, 7, 100):
        with Source(tmp_path / "g") as source, BlockReader(source, block) as reader:
            assert read_text(reader, chunk_bytes=16).dst.tolist() == list(range(1, 501))


BIPARTITE = b"% bip unweighted\n% 3 4 2\n1 1\n4 2\n2 1\n"


def test_two_sides_are_refused_or_numbered_apart(tmp_path):
    with pytest.raises(InputError, match=r"line 1: '% bip unweighted': .*after the first with bipartite=True"):
        read(tmp_path / "out.x", BIPARTITE)
    for text in (BIPARTITE, BIPARTITE.replace(b"% 3 4 2\n", b"")):
        edges = read(tmp_path / "out.x", text, bipartite=True)
        assert pairs(edges) == [(1, 5), (4, 6), (2, 5)]
        assert "1 to 2 of the second side are 5 to 6 here" in edges.notes[-1]
    with pytest.raises(InputError, match="vertex 9 of the first side is outside 1 to 4"):
        read(tmp_path / "out.x", BIPARTITE + b"9 1\n", bipartite=True)
    assert pairs(read(tmp_path / "z", b"0 0\n3 1\n", bipartite=True)) == [(0, 4), (3, 5)]


def test_two_sides_that_need_wide_ids(tmp_path):
    edges = read(tmp_path / "g", b"4294967295 1\n2 4294967295\n", bipartite=True)
    assert pairs(edges) == [(2**32 - 1, 2**32), (2, 2**33 - 2)]


def test_a_matrix_that_is_not_square(tmp_path):
    text = b"%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n"
    with pytest.raises(InputError, match=r"2 x 3; .*number the columns after the rows with bipartite=True"):
        read(tmp_path / "g.mtx", text)
    edges = read(tmp_path / "g.mtx", text, bipartite=True)
    assert (pairs(edges), edges.declared_n) == ([(1, 5), (2, 3)], 5)
    assert estimate(tmp_path / "g.mtx", rules=Rules(bipartite=True)).declared_vertices == 5


def test_one_way_edges_say_so(tmp_path):
    edges = read(tmp_path / "out.x", b"% asym positive\n1 2\n2 1\n")
    assert edges.one_way and "one-way" in edges.notes[0] and says_one_way(tmp_path / "out.x")
    for text in (b"% sym unweighted\n1 2\n", b"% asymmetric\n1 2\n", b"1 2\n% asym unweighted\n"):
        assert not read(tmp_path / "g", text).one_way and not says_one_way(tmp_path / "g")


def _zip(name: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, "x")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PARE\x15\x04", "is encrypted Parquet"),
        (b"FEA1\0\0\0\0", "is Feather version 1"),
        (b"\x89HDF\r\n\x1a\n", "is HDF5"),
        (b"SQLite format 3\0", "is an SQLite database"),
        (b'<?xml version="1.0"?>\n<!-- c -->\n<graphml xmlns="x">', "is GraphML"),
        (b'<gexf version="1.2">', "is GEXF"),
        (b'{"nodes": [1]}', "is JSON"),
        (b"[[1, 2]]", "is JSON"),
        (b"digraph G {\n a -> b\n}", "is DOT"),
        (b"strict graph {", "is DOT"),
        (b'Creator "x"\ngraph [\n directed 1', "is GML"),
        (b'*Vertices 3\n1 "a"\n', "is Pajek"),
        (_zip("net.graphml"), "is a zip archive without arrays .in it: 'net.graphml'.; unpack it"),
    ],
)
def test_what_is_no_edge_list_is_named(tmp_path, content, says):
    with pytest.raises(InputError, match=says):
        read(tmp_path / "g", content)


def npy(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_an_array_that_may_lie_either_way_asks(tmp_path, columns):
    array = np.arange(2 * columns).reshape(2, columns)
    rows, sides = array[:, :2].tolist(), array.T[:, :2].tolist()
    stream = io.BytesIO()
    np.savez(stream, edges=array)
    for name, content in (("a.npy", npy(array)), ("a.npz", stream.getvalue())):
        with pytest.raises(InputError, match=f"2 edges in rows or {columns} edges in columns; say columns="):
            read(tmp_path / name, content)
        assert pairs(read(tmp_path / name, content, columns=(1, 2))) == [tuple(row) for row in rows]
        assert pairs(read(tmp_path / name, content, edge_index=True)) == [tuple(side) for side in sides]
    np.savez(named := io.BytesIO(), edge_index=array)
    assert pairs(read(tmp_path / "a.npz", named.getvalue())) == [tuple(side) for side in sides]


def test_columns_of_an_array(tmp_path):
    array = np.arange(15).reshape(5, 3)
    with pytest.raises(InputError, match=r"take two of several columns with columns=\(1, 2\)"):
        read(tmp_path / "a.npy", npy(array))
    assert pairs(read(tmp_path / "a.npy", npy(array), columns=(3, 1))) == [(i + 2, i) for i in range(0, 15, 3)]
    assert not estimate(tmp_path / "a.npy", rules=Rules(columns=(3, 1))).streams
    with pytest.raises(InputError, match="has no column 4; correct columns"):
        read(tmp_path / "a.npy", npy(array), columns=(1, 4))
    with pytest.raises(InputError, match=r"not .2, edges.; leave edge_index=True out"):
        read(tmp_path / "a.npy", npy(array), edge_index=True)


@pytest.mark.parametrize("name", ["g.txt", "g.npy", "g.adj"])
def test_a_file_cut_while_it_is_read_says_so(tmp_path, name):
    content = {
        "g.txt": b"10 20\n" * 700_000,
        "g.npy": npy(np.ones((100_000, 2), np.int64)),
        "g.adj": b"AdjacencyGraph\n1\n2000000\n0\n" + b"0\n" * 2_000_000,
    }[name]
    path = tmp_path / name
    path.write_bytes(content)

    def cut(count):
        with path.open("r+b") as file:
            file.truncate(len(content) // 2 + 1)

    with pytest.raises(InputError, match="changed while it was read; convert it again"):
        read_edges(path, progress=cut, block_bytes=5000)


@pytest.mark.parametrize("line", ["1,000 2,000", "12,345,678\t9,000"])
def test_commas_between_thousands_are_not_taken_for_columns(tmp_path, line):
    path = tmp_path / "a.txt"
    path.write_text(f"# ids\n{line}\n")
    with pytest.raises(InputError, match=r"a\.txt: line 2: .*commas between thousands, or between columns"):
        read_edges(path)
    assert len(read_edges(path, rules=Rules(columns=(1, 2))).src) == 1
    path.write_text("1 2,5\n10,20 1\n")
    assert len(read_edges(path).src) == 2


COUNTED = b"1 2\n2 3\n3 4\n4 1\n1 3\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"4 5\n" + COUNTED, True),
        (b"# c\n\n4\t5\r\n" + COUNTED, True),
        (b"9 5\n" + COUNTED, True),
        (b"3 5\n" + COUNTED, False),  # 4 is a vertex
        (b"4 6\n" + COUNTED, False),  # so many do not follow
        (b"4 5 1\n" + COUNTED.replace(b"\n", b" 1\n"), False),
        (b"a b\n4 5\n" + COUNTED, False),  # a header was before it
        (b"3 2\n1 2\n2 3\n", False),  # any path looks so
    ],
)
def test_a_first_line_that_may_be_counts_is_told(tmp_path, text, told):
    edges = read(tmp_path / "g.txt", text)
    notes = [note for note in edges.notes if "numbers of vertices and edges" in note]
    assert len(notes) == told
    if told:
        assert "header=True" in notes[0]
        assert pairs(edges)[0] == tuple(map(int, re.search(rb"(\d+)[\t ](\d+)", text).groups()))
        assert pairs(read(tmp_path / "g.txt", text, header=True)) == pairs(edges)[1:]
