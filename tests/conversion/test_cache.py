"""When a conversion finds its work done, and the .ccsr that belongs to a .csrbin."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bigbfs.conversion import ConvertOptions, cache, convert, ensure_compressed, pipeline
from bigbfs.errors import FormatError, UsageError
from bigbfs.formats.container import csrbin
from bigbfs.graph.graph import Graph


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "graph.txt"
    path.write_text("# a comment\n10 20\n20 30\n20 30\n7 7\n")
    return path


@pytest.fixture
def no_reading(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the text was read again")

    return lambda: monkeypatch.setattr(pipeline, "read_all", refuse)


def content(path):
    with Graph.open(path) as graph:
        plain = graph.decompress()
        return plain.adjacency.indptr.tolist(), plain.adjacency.indices.tolist(), plain.original_ids().tolist()


def test_unchanged_source_is_not_read_again(text, no_reading):
    first = convert([text])
    no_reading()
    again = convert([text])
    assert (first.cached, again.cached) == (False, True)
    for name in ("output", "vertices", "edges", "lines", "self_loops", "duplicates", "comment_lines", "input_bytes"):
        assert getattr(again, name) == getattr(first, name), name
    assert again.edges_per_second == 0.0
    assert convert(["graph.txt"]).cached  # the same file by another name


def test_a_change_of_the_source_is_seen(text):
    convert([text])
    before = text.stat()
    text.write_text("# a comment\n10 20\n20 30\n20 31\n7 7\n")  # as long as before
    os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    report = convert([text])
    assert not report.cached and report.vertices == 5
    text.write_text("1 2\n")
    os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert convert([text]).vertices == 2


def test_a_change_behind_an_old_time_is_seen(text):
    convert([text])
    before = text.stat()
    text.write_text("# a comment\n10 20\n20 30\n20 31\n7 7\n")  # as long as before, and its time put back
    os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert text.stat().st_mtime_ns == before.st_mtime_ns and text.stat().st_size == before.st_size
    assert convert([text]).vertices == 5


def test_another_file_with_the_same_times_is_seen(text):
    """As where a file system keeps neither inodes nor times of change: the samples tell."""
    convert([text])
    known = cache.identify_sources([text])
    text.write_text("# a comment\n10 20\n20 30\n20 31\n7 7\n")
    found = cache.identify_sources([text])
    assert found[0]["samples"] != known[0]["samples"]
    assert {"inode", "ctime_ns", "mtime_ns", "size", "path", "samples"} == set(found[0])


@pytest.mark.parametrize(
    "change",
    [
        {"directed": True},
        {"keep_duplicates": True},
        {"keep_self_loops": True},
        {"keep_ids": True},
        {"order": "degree"},
        {"format": "text"},
        {"skip_bad_lines": 1},
        {"force": True},
    ],
    ids=str,
)
def test_other_options_convert_again(text, change):
    convert([text])
    assert not convert([text], None, ConvertOptions(**change)).cached


def test_options_that_change_nothing_do_not_convert_again(text):
    convert([text])
    for change in ({"threads": 1}, {"memory": 10**9}, {"in_edges": False}, {"progress": True}):
        assert convert([text], None, ConvertOptions(**change)).cached


def test_inputs_are_remembered_in_their_order(text, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("1 2\n")
    convert([text, other], "both.csrbin")
    assert convert([text, other], "both.csrbin").cached
    assert not convert([text], "both.csrbin").cached
    assert not convert([other, text], "both.csrbin").cached


def test_a_damaged_output_is_made_again(text):
    output = Path(convert([text]).output)
    whole = output.read_bytes()
    for damaged in (whole[:-1], whole[:50], b"", whole[:20] + b"\xff" + whole[21:]):
        output.write_bytes(damaged)
        assert not convert([text]).cached
        assert content(output)[2] == [7, 10, 20, 30]
    output.write_bytes(b"\0" + whole[1:])  # it may be anybody's
    with pytest.raises(UsageError, match=r"nothing says that bigbfs wrote it .* force=True to replace it"):
        convert([text])
    assert not convert([text], options=ConvertOptions(force=True)).cached and output.read_bytes()[:1] == whole[:1]


def test_an_output_of_unknown_origin_is_made_again(text):
    Graph.from_csr([0, 1, 2], [1, 0]).save(text.with_suffix(".csrbin"))
    assert not convert([text]).cached


def test_provenance_without_counts_is_not_trusted(text):
    output = Path(convert([text]).output)
    known = csrbin.read_provenance(output)
    with Graph.open(output) as graph:
        csrbin.save_graph(graph, output, {key: value for key, value in known.items() if key != "counts"})
    assert not convert([text]).cached


def test_compressed_twin_is_made_from_the_csrbin(text, no_reading):
    convert([text])
    no_reading()
    report = convert([text], None, ConvertOptions(compressed=True))
    assert not report.cached and report.compressed.endswith("graph.ccsr")
    assert report.phases["read"] == report.phases["build"] == 0.0
    assert content(text.with_suffix(".ccsr")) == content(text.with_suffix(".csrbin"))
    assert convert([text], None, ConvertOptions(compressed=True)).cached
    assert convert([text]).cached


def test_stale_compressed_twin_is_made_again(text):
    convert([text], None, ConvertOptions(compressed=True))
    plain, compressed = text.with_suffix(".csrbin"), text.with_suffix(".ccsr")
    old = compressed.read_bytes()
    text.write_text("1 2\n2 5\n")
    convert([text])
    later = plain.stat().st_mtime_ns + 10**12
    os.utime(compressed, ns=(later, later))  # newer than the .csrbin, and yet not of it
    assert content(ensure_compressed(plain)) == content(plain)
    assert compressed.read_bytes() != old
    compressed.write_bytes(old)
    assert not convert([text], None, ConvertOptions(compressed=True)).cached
    assert content(compressed) == content(plain)


def test_ensure_compressed_leaves_a_fresh_twin_alone(text):
    convert([text], None, ConvertOptions(compressed=True))
    compressed = text.with_suffix(".ccsr")
    before = compressed.stat().st_mtime_ns, compressed.stat().st_ino
    assert ensure_compressed(str(text.with_suffix(".csrbin"))) == compressed
    assert (compressed.stat().st_mtime_ns, compressed.stat().st_ino) == before
    damaged = compressed.read_bytes()[:-5]
    compressed.write_bytes(damaged)
    ensure_compressed(text.with_suffix(".csrbin"))
    assert content(compressed) == content(text.with_suffix(".csrbin"))


def test_compressed_only(text, no_reading):
    report = convert([text], "small.ccsr")
    assert report.output == "small.ccsr" and not Path("small.csrbin").exists()
    no_reading()
    assert convert([text], "small.ccsr").cached


def test_raw_graphs_are_compressed_too(tmp_path):
    raw = tmp_path / "raw.csrbin"
    parts = (np.array([2, 2], np.uint64), np.array([0, 1, 2], np.int64), np.array([1, 0], np.int32))
    raw.write_bytes(b"".join(part.tobytes() for part in parts))
    compressed = ensure_compressed(raw)
    assert content(compressed) == content(raw)
    raw.write_bytes(b"".join(part.tobytes() for part in (*parts[:2], np.array([0, 1], np.int32))))
    os.utime(raw, ns=(1, 1))
    assert content(ensure_compressed(raw)) == ([0, 1, 2], [0, 1], [0, 1])


def test_ensure_compressed_of_no_graph(tmp_path):
    path = tmp_path / "no.csrbin"
    path.write_text("no graph\n")
    with pytest.raises(FormatError):
        ensure_compressed(path)
    assert list(tmp_path.iterdir()) == [path]


def test_source_that_changes_while_it_is_read(text, monkeypatch):
    read = pipeline.read_all

    def slowly(*arguments, **options):
        edges = read(*arguments, **options)
        with text.open("a") as stream:
            stream.write("1 2\n")
        return edges

    monkeypatch.setattr(pipeline, "read_all", slowly)
    with pytest.raises(ValueError, match="changed while it was read"):
        convert([text])
    assert list(text.parent.iterdir()) == [text]


def test_what_replaces_a_graph_of_something_else_says_so(text, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("1 2\n3 4\n")
    out = tmp_path / "out.csrbin"
    assert convert([text], out).notes == ()
    (note,) = convert([other], out).notes
    assert note == f"{out} is replaced: it was made of {text}, and is of {other} now"
    (note,) = convert([other], out, ConvertOptions(directed=True, keep_ids=True)).notes
    assert note == f"{out} is replaced: it was made with other options (directed, in_edges, keep_ids)"
    with Graph.open(out) as graph:
        assert graph.flags.directed
    other.write_text("1 2\n3 4\n5 6\n")
    found = convert([other], out, ConvertOptions(directed=True, keep_ids=True))
    assert not found.cached and found.notes == ()  # the same input, which has changed: that is what it is for
    assert convert([other], out, ConvertOptions(directed=True, keep_ids=True)).notes == ()
