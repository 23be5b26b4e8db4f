"""Adjacency lists: against a few plain lines, cut anywhere; as NetworkX writes them; vertices without an edge."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigbfs.conversion import ConvertOptions, convert
from bigbfs.errors import InputError, UsageError
from bigbfs.formats.readers.adjlist import read_adjacency_list
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.read import read_edges
from bigbfs.formats.streams.sources import Source
from bigbfs.graph.graph import Graph

ids = st.one_of(st.integers(0, 99), st.sampled_from([2**32 - 1, 2**32, 2**63 - 1]))


@settings(max_examples=150)
@given(
    rows=st.lists(st.lists(ids, min_size=0, max_size=9), min_size=1, max_size=30),
    blank=st.sampled_from([" ", "\t", ", ", ";", "|", "  "]),
    end=st.sampled_from(["\n", "\r\n", " \n"]),
    block=st.integers(1, 200),
    chunk=st.integers(1, 60),
)
def test_any_list_cut_anywhere(tmp_path, rows, blank, end, block, chunk):
    (tmp_path / "g").write_text("".join(blank.join(map(str, row)) + end for row in rows) + "# the end", newline="")
    wanted = [(row[0], other) for row in rows for other in row[1:]]
    alone = sorted({row[0] for row in rows if len(row) == 1})
    with Source(tmp_path / "g") as source, BlockReader(source, block) as reader:
        if not wanted and not alone:
            with pytest.raises(InputError, match="no vertex in it"):
                read_adjacency_list(reader, chunk_bytes=chunk)
            return
        found = read_adjacency_list(reader, chunk_bytes=chunk)
    assert list(zip(found.src.tolist(), found.dst.tolist(), strict=True)) == wanted
    assert ([] if found.isolated is None else found.isolated.tolist()) == alone
    assert found.comment_lines == 1 + sum(not row for row in rows)
    assert found.src.dtype.itemsize == (8 if max(max(row, default=0) for row in rows) >= 2**32 else 4)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"3 x", "line 2: '3 x': expected a vertex id and those of its neighbours"),
        (b"3 -4", "line 2: '3 -4': a vertex id is negative"),
        (b"3 4\r5 6", "carriage return"),
        (b"3 9223372036854775808", "over 2.63-1"),
        (b"3,,4", "expected a vertex id"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, says):
    (tmp_path / "g.adjlist").write_bytes(b"1 2\n" + line + b"\n5 6\n")
    with pytest.raises(InputError, match=says):
        read_edges(tmp_path / "g.adjlist")
    with pytest.raises(UsageError, match=r"skip_bad_lines=3: .* is adjlist, and this is for text"):
        read_edges(tmp_path / "g.adjlist", skip_bad_lines=3)


@pytest.mark.parametrize("memory", [None, 300 << 20])
def test_the_list_of_the_issue_becomes_six_edges(tmp_path, memory):
    path = tmp_path / "g.txt"
    path.write_text("1 2 3 4\n2 3 5\n3 4\n9\n")
    report = convert([path], options=ConvertOptions(format="adjlist", memory=memory))
    assert (report.vertices, report.lines, report.edges) == (6, 6, 12)
    with Graph.open(tmp_path / "g.csrbin") as graph:
        assert graph.original_ids().tolist() == [1, 2, 3, 4, 5, 9]
