"""Names of a BVGraph from the sorted list beside it: taken by every way of conversion, or refused with the line."""

from __future__ import annotations

import gzip
import random

import numpy as np
import pytest
import zstandard
from bvgraph_files import webby, write
from wide import split

import bigbfs
from bigbfs.conversion import ConvertOptions, convert, pipeline
from bigbfs.conversion.names import listed
from bigbfs.conversion.on_disk import convert as external
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.errors import InputError
from bigbfs.formats.container.check import check
from bigbfs.graph.graph import Graph

ROWS = webby(300, 5)
CHOICE = random.Random(2)
URLS = sorted(
    {f"http://{CHOICE.choice(['a', 'b.ö', 'zz'])}.org/{CHOICE.randrange(10**6)}/" + "x" * (i % 40) for i in range(340)},
    key=str.encode,
)[:300]


@pytest.fixture
def web(tmp_path):
    """web.graph, web.properties and web.urls."""
    write(tmp_path / "web", ROWS)
    (tmp_path / "web.urls").write_text("\n".join(URLS) + "\n", encoding="utf-8")
    return tmp_path


def names_in(path):
    assert [each.name for each in check(path)].count("names") == 1
    with Graph.open(path) as graph:
        return [graph.names.name(rank) for rank in range(len(graph.names))]


WAYS = [
    ({}, "direct"),
    ({"in_edges": False, "compressed": True}, "direct"),
    ({"undirected": True}, "in memory"),
    ({"order": "degree"}, "in memory"),
    ({"undirected": True, "order": "degree", "compressed": True}, "external"),
    ({"undirected": True}, "external"),
]


BLOCKS = (16, 1 << 22)


def in_core(options, method, block):
    """Return whether ``make test`` runs this: every way, one block in turn."""
    return BLOCKS[WAYS.index((options, method)) % 2] == block


@pytest.mark.parametrize(("options", "method", "block"), split([(*way, b) for way in WAYS for b in BLOCKS], in_core))
def test_names_by_every_way(web, monkeypatch, options, method, block):
    monkeypatch.setattr(listed, "BLOCK_BYTES", block)
    if method == "external":
        monkeypatch.setattr(pipeline, "must_spill", lambda *_: True)
        monkeypatch.setattr(external, "make_plan", lambda *_: Plan(1 << 28, 200, 1 << 12, 1 << 20, 7))
    report = convert([web / "web.graph"], options=ConvertOptions(**options))
    assert report.method == method and "web.urls: its lines are the names of the vertices" in report.notes[0]
    files = [web / "web.csrbin"] + ([web / "web.ccsr"] if "compressed" in options else [])
    assert all(names_in(path) == URLS for path in files)
    again = convert([web / "web.graph"], options=ConvertOptions(**options))
    assert again.cached and again.notes == report.notes
    bare = convert([web / "web.graph"], web / "bare.csrbin", ConvertOptions(names=False, **options))
    assert (bare.vertices, bare.edges) == (report.vertices, report.edges) and bare.notes == ()
    with Graph.open(web / "web.csrbin") as one, Graph.open(web / "bare.csrbin") as other:
        assert other.names is None and one.flags == other.flags
        for name, array in one.adjacency.arrays().items():
            assert np.array_equal(array, other.adjacency.arrays()[name])
    assert not [path for path in web.iterdir() if path.name.startswith(".")]


def test_a_search_by_name_is_the_search_by_number(web):
    convert([web / "web.graph"], web / "named.csrbin")
    convert([web / "web.graph"], web / "bare.csrbin", ConvertOptions(names=False))
    for vertex in (0, 150, 299):
        one = bigbfs.bfs(web / "named.csrbin", URLS[vertex], backend="cpu")
        other = bigbfs.bfs(web / "bare.csrbin", vertex, backend="cpu")
        assert np.array_equal(one.levels, other.levels)


PACKED = {".gz": gzip.compress, ".zst": zstandard.compress}


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_packed_list_without_a_last_line_end(web, suffix, line_end):
    (web / "web.urls").unlink()
    (web / f"web.urls{suffix}").write_bytes(PACKED[suffix](line_end.join(URLS).encode()))
    assert f"web.urls{suffix}" in convert([web / "web.properties"]).notes[0]
    assert names_in(web / "web.csrbin") == URLS


def test_the_list_is_a_source(web):
    path = web / "web.urls"
    convert([web / "web.graph"])
    path.write_text("".join(f"{name}/\n" for name in URLS), encoding="utf-8")
    assert not convert([web / "web.graph"]).cached
    assert names_in(web / "web.csrbin")[7] == URLS[7] + "/"
    path.unlink()
    assert not convert([web / "web.graph"]).cached
    with Graph.open(web / "web.csrbin") as graph:
        assert graph.names is None
    with pytest.raises(InputError, match=r"web\.urls: there is no such list of names"):
        convert([web / "web.graph"], options=ConvertOptions(names=True))
    (note,) = convert([web / "web.graph"], options=ConvertOptions(names=False)).notes
    assert note.endswith("web.csrbin is replaced: it was made with other options (no_names)")


def changed(lines, at, value):
    return [*lines[:at], value, *lines[at + 1 :]]


BAD = [
    (URLS[:-1], r"299 lines, and \S+web\.properties says nodes=300; it is cut short, or of another graph"),
    ([], r"0 lines, and"),
    ([*URLS, "zzz"], r"line 301 is one more than the nodes=300 of \S+web\.properties"),
    (changed(URLS, 7, URLS[6]), r"line 8 has the name 'http\S+ of the line before again"),
    (changed(URLS, 7, "a" * 90), r"line 8 has 'a{60}\.\.\.' behind 'http\S+: names must ascend in byte order"),
    (changed(URLS, 7, ""), r"line 8 is empty"),
    (changed(URLS, 0, ""), r"line 1 is empty"),
    (changed(URLS, 9, URLS[9][:-1] + "\udcff"), r"line 10 is no name: invalid start byte .*UTF-8"),
    (changed(URLS, 299, URLS[299] + "\udce4"), r"line 300 is no name: .*UTF-8"),
]


@pytest.mark.parametrize("block", [16, 1 << 22])
@pytest.mark.parametrize(("lines", "says"), BAD)
def test_a_bad_list_is_refused_with_its_line_and_a_way_out(web, monkeypatch, lines, says, block):
    monkeypatch.setattr(listed, "BLOCK_BYTES", block)
    text = "".join(line + "\n" for line in lines)
    (web / "web.urls").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(InputError, match=says) as error:
        convert([web / "web.graph"])
    assert "web.urls: " in str(error.value) and "leave the names out with names=False" in str(error.value)
    assert sorted(path.name for path in web.iterdir()) == ["web.graph", "web.properties", "web.urls"]


def test_a_line_without_end_is_no_name(web, monkeypatch):
    monkeypatch.setattr(listed, "BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr(listed, "LONGEST", 1 << 12)
    (web / "web.urls").write_bytes(b"a\n" + b"b" * 10_000)
    with pytest.raises(InputError, match="line 2 has more than 4 KiB"):
        convert([web / "web.graph"])


def test_a_damaged_packed_list_is_refused(web):
    content = gzip.compress("\n".join(URLS).encode())
    (web / "web.urls").unlink()
    (web / "web.urls.gz").write_bytes(content[:-30])
    with pytest.raises(InputError, match=r"web\.urls\.gz"):
        convert([web / "web.graph"])
    assert not (web / "web.csrbin").exists()


def test_names_that_differ_by_normal_form_are_said(web):
    lines = sorted([*URLS[:298], "zzz/cafe\u0301", "zzz/caf\u00e9"], key=str.encode)
    (web / "web.urls").write_text("\n".join(lines), encoding="utf-8")
    report = convert([web / "web.graph"])
    assert any("normal form alone" in note for note in report.notes) and names_in(web / "web.csrbin") == lines


def test_other_formats_know_no_list(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n")
    (tmp_path / "g.urls").write_text("a\nb\n")
    assert convert([tmp_path / "g.txt"]).notes == ()
    with Graph.open(tmp_path / "g.csrbin") as graph:
        assert graph.names is None


def test_changed_lists_are_refused_or_ascend(tmp_path):
    path, whole = tmp_path / "web.urls", "\n".join(URLS).encode()
    refused = 0
    for _ in range(200):
        content = bytearray(whole)
        for _ in range(CHOICE.randint(1, 2)):
            content[CHOICE.randrange(len(content))] = CHOICE.choice([10, 13, 0, 255, 195, 65, 122])
        path.write_bytes(content)
        with Scratch(tmp_path) as scratch:
            try:
                found = listed.read_list(
                    listed.Wanted(path, 300, tmp_path / "web.properties"), scratch, 1 << 28
                ).names()
            except InputError as error:
                assert "web.urls: " in str(error) and "\n" not in str(error)
                refused += 1
                continue
            names = [found.name_bytes(rank) for rank in range(len(found))]
        assert len(names) == 300 and names == sorted(set(names)) and all(name.decode() for name in names)
    assert 20 < refused < 200
