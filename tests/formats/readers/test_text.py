"""Plain edge lists: against a parser of a few plain lines, on messy text cut anywhere; and every kind of bad line."""

from __future__ import annotations

import numpy as np
import pytest
from fuzzing.oracle import plain
from hypothesis import given, settings
from hypothesis import strategies as st

from bigbfs.errors import InputError, UsageError
from bigbfs.formats.readers import blocks
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.read import estimate, read_edges
from bigbfs.formats.readers.text import read_text
from bigbfs.formats.streams.sources import Source


def read(path, text, *, block=None, chunk=None, skip=0):
    path.write_bytes(text)
    with Source(path) as source, BlockReader(source, block) as reader:
        return read_text(reader, Rules(skip), chunk_bytes=chunk)


small = st.integers(0, 999)
wide = st.sampled_from([2**32 - 1, 2**32, 10**7, 10**8 - 1, 10**8, 10**15, 10**16 - 1, 10**16, 2**63 - 1])
ids = st.one_of(small, small, small, wide).map(lambda value: b"%d" % value)
blanks = st.sampled_from([b" ", b"\t", b"  ", b" \t ", b",", b", ", b" ;\t", b";", b"|"])
ends = st.sampled_from([b"\n", b"\n", b"\r\n", b"\r\r\n"])
columns = st.sampled_from([b"", b"", b"", b" ", b"\t0.5", b",x y z", b";-1;", b" x 2 3"])
data_lines = st.builds(
    lambda lead, first, between, second, rest: lead + first + between + second + rest,
    st.sampled_from([b"", b"", b" ", b"\t "]),
    st.one_of(ids, ids.map(lambda text: b"000" + text), ids.map(lambda text: b'"' + text + b'"')),
    blanks,
    st.one_of(ids, ids, ids.map(lambda text: text + b".0")),
    columns,
)
other_lines = st.sampled_from([b"", b" \t", b"# 1 2", b"  % x", b"#", b"# \xff\xfe"])
bad_lines = st.sampled_from(
    [
        b"1",
        b"1 ",
        b"1,",
        b"a 1",
        b"1 a",
        b"1 2a",
        b"1a 2",
        b"-1 2",
        b"1 -2",
        b"1.5 2",
        b"1 2.01",
        b"1,,2",
        b",1 2",
        b"+1 2",
        b"1 9223372036854775808",
        b"99999999999999999999999 1",
        b"1 2\r3 4",
        b"# x\ry",
        b"1\r2",
        b'"1 "2"',
        b"0x1 2",
        b"1e3 2",
        b"1\xc2\xa02",
        b"1:2",
    ]
)


def texts(kinds):
    return st.builds(
        lambda lines, last: b"".join(line + end for line, end in lines) + last,
        st.lists(st.tuples(kinds, ends), min_size=1, max_size=40),
        st.one_of(st.just(b""), kinds),
    )


@settings(max_examples=150)
@given(
    text=texts(st.one_of(data_lines, data_lines, other_lines)),
    block=st.integers(1, 200),
    chunk=st.integers(1, 60),
)
def test_messy_text_cut_anywhere(tmp_path, text, block, chunk):
    edges, comments, bad = plain(text)
    assert not bad
    if not edges:
        with pytest.raises(InputError, match="no edge in it"):
            read(tmp_path / "g", text, block=block, chunk=chunk)
        return
    found = read(tmp_path / "g", text, block=block, chunk=chunk)
    assert list(zip(found.src.tolist(), found.dst.tolist(), strict=True)) == edges
    assert found.comment_lines == comments
    assert found.src.dtype == found.dst.dtype
    assert found.src.dtype == (np.uint64 if max(map(max, edges)) >= 2**32 else np.uint32)
    assert found.declared_n is None
    assert found.input_bytes == len(text)


@settings(max_examples=150)
@given(
    text=texts(st.one_of(data_lines, data_lines, other_lines, bad_lines)),
    block=st.integers(1, 200),
    chunk=st.integers(1, 60),
    skip=st.integers(0, 6),
)
def test_bad_lines_are_named_or_skipped_up_to_the_number_allowed(tmp_path, text, block, chunk, skip):
    edges, comments, bad = plain(b"1 2\n" + text)
    text = b"1 2\n" + text
    if len(bad) > skip:
        with pytest.raises(InputError) as caught:
            read(tmp_path / "g", text, block=block, chunk=chunk, skip=skip)
        assert f"{tmp_path / 'g'}: line {bad[skip]}: " in str(caught.value)
        assert "skip_bad_lines=" in str(caught.value)
        return
    found = read(tmp_path / "g", text, block=block, chunk=chunk, skip=skip)
    assert list(zip(found.src.tolist(), found.dst.tolist(), strict=True)) == edges
    assert (found.skipped_lines, found.comment_lines) == (len(bad), comments)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"2 three", "line 2: '2 three': expected two vertex ids"),
        (b"7", "line 2: '7': only one column"),
        (b"3 -4", "line 2: '3 -4': a vertex id is negative"),
        (b"3 9223372036854775808", "a vertex id is over 2^63-1"),
        (b"3 " + b"9" * 200, r"characters\): a vertex id is over 2^63-1"),
        (b"1.5 2", "line 2: '1.5 2': expected two vertex ids"),
        (b"3 4 \xff\0", "NUL byte.*at byte 9"),
        (b"caf\xc3\xa9 1", "line 2: 'café 1'"),
        (b"\x1b[31m 1", r"line 2: '\\x1b\[31m 1'"),
        (b"3 4\r5 6\r", "carriage return"),
    ],
)
def test_what_a_bad_line_is_told(tmp_path, line, says):
    says = says.replace("2^63", r"2\^63")
    padding = b"# " + b"-" * 70_000 if b"\0" in line else b"0 1"
    says = says.replace("at byte 9", f"at byte {len(padding) + 6}")
    with pytest.raises(InputError, match=says):
        read(tmp_path / "g", padding + b"\n" + line + b"\n1 2\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "no edge in it, only 2 comment and blank lines"),
        (b"# a\n% b\n", "no edge in it, only 2 comment"),
        (b"\xef\xbb\xbf", "no edge in it"),
        (bytes(range(256)) * 4, "looks binary .byte 0 is NUL"),
    ],
)
def test_files_without_a_graph(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        read(tmp_path / "g", text)


def test_only_skipped_lines_is_no_graph(tmp_path):
    with pytest.raises(InputError, match="no edge in it, only 1 skipped bad line;"):
        read(tmp_path / "g", b"a 1\n", skip=5)


def test_wide_ids_late_in_the_file(tmp_path):
    lines = [b"%d %d\n" % (i, i + 1) for i in range(5000)] + [b"4294967296 1\n", b"5 9223372036854775807\n"]
    for block in (100, 5000, None):
        found = read(tmp_path / "g", b"".join(lines), block=block, chunk=300)
        assert found.src.dtype == np.uint64
        assert found.src.tolist() == [*range(5000), 2**32, 5]
        assert found.dst.tolist() == [*range(1, 5001), 1, 2**63 - 1]


def test_large_random_file_with_default_sizes(tmp_path):
    rng = np.random.default_rng(5)
    wanted = (10 ** rng.uniform(0, 9.6, (200_000, 2))).astype(np.int64)
    text = "".join(f"{a}\t{b}\n" for a, b in wanted.tolist()).encode()
    found = read(tmp_path / "g", text, block=1 << 20, chunk=1 << 16)
    assert np.array_equal(np.stack((found.src, found.dst), axis=1), wanted)


def test_a_wrong_format_name(tmp_path):
    (tmp_path / "g").write_text("1 2\n")
    with pytest.raises(UsageError, match="no format 'foo'; choose one of text"):
        read_edges(tmp_path / "g", format="foo")
    with pytest.raises(UsageError, match=r"skip_bad_lines=-1: "):
        read_edges(tmp_path / "g", skip_bad_lines=-1)


def test_estimate_is_near_and_rather_high(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"# c\n" + b"".join(b"%d %d\n" % (i, 2 * i) for i in range(300_000)))
    guess = estimate(file)
    assert guess.bytes_in == file.stat().st_size
    assert 300_000 <= guess.edges_upper_bound <= 600_000
    assert guess.memory_bytes >= 8 * 300_000
    assert guess.memory_bytes <= 8 * 600_000 + 2 * blocks.BLOCK_BYTES
    assert estimate("-").memory_bytes == 0
