"""A graph file that is converted without being built again becomes the bytes that building it gives."""

import os
from pathlib import Path

import numpy as np
import pytest
import zoo
from wide import CODECS, split

from bigbfs.conversion import ConvertOptions, convert, moving, pipeline
from bigbfs.errors import FormatError, InputError
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.writers.export import export
from bigbfs.graph import varint
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph

GAPS = np.arange(300, dtype=np.int64) ** 2 + 5
PAIRS = zoo.random(300, 900, seed=4)
FLAGS = zoo.build(300, PAIRS).flags


def two_way_unflagged():
    """A directed graph whose edges all have twins, which nobody noticed, as ``cc --largest`` writes one."""
    rows = zoo.build(300, PAIRS).adjacency
    return Graph(rows, GraphFlags(directed=True, symmetric=False), labels=GAPS, in_adjacency=rows)


GRAPHS = {
    "undirected": lambda: zoo.build(300, PAIRS),
    "one-based": lambda: zoo.build(300, PAIRS, first_id=1),
    "labels": lambda: zoo.build(300, PAIRS, labels=GAPS),
    "hubs": lambda: zoo.shared()["two-hubs"],
    "isolated": lambda: zoo.shared()["isolated"],
    "directed": lambda: zoo.build(300, PAIRS, directed=True, labels=GAPS),
    "no in-rows": lambda: zoo.build(300, PAIRS, directed=True, in_rows=False),
    "two-way, not flagged": two_way_unflagged,
    "two-way": lambda: zoo.build(4, ([0, 1, 2], [1, 0, 2]), directed=True),
    "relabelled": lambda: zoo.build(300, PAIRS, labels=GAPS[::-1]),
    "labels without gaps": lambda: zoo.build(300, PAIRS, labels=np.arange(7, 307)),
    "loops": lambda: zoo.build(300, PAIRS, keep=True),
    "wide": lambda: zoo.build(300, PAIRS, ids=np.uint64),
    "empty": lambda: zoo.shared()["empty"],
}
OPTIONS = {
    "default": {},
    "directed": {"directed": True},
    "directed, out-rows alone": {"directed": True, "in_edges": False},
    "loops": {"keep_self_loops": True},
    "duplicates": {"keep_duplicates": True},
    "ids": {"keep_ids": True},
    "degree": {"order": "degree"},
    "degree, directed": {"order": "degree", "directed": True},
    "degree, out-rows alone": {"order": "degree", "directed": True, "in_edges": False},
    "rcm, directed": {"order": "rcm", "directed": True},
    "named": {"format": "csrbin"},
}
DIRECT = {
    "default": {"undirected", "one-based", "labels", "hubs", "isolated", "two-way"},
    "directed": {"undirected", "one-based", "labels", "hubs", "isolated", "two-way", "directed"},
    "directed, out-rows alone": {"directed", "no in-rows"},
    "ids": {"undirected", "hubs", "isolated", "two-way"},
}
DIRECT["default"] |= {"relabelled"}
DIRECT["directed"] |= {"relabelled"}
MOVED = DIRECT["default"] | {"labels without gaps"}
DIRECT["degree"] = MOVED
DIRECT["degree, directed"] = DIRECT["rcm, directed"] = DIRECT["degree, out-rows alone"] = MOVED | {"directed"}
DIRECT["loops"] = DIRECT["named"] = DIRECT["default"]
ORDERED = {"one-based", "labels", "directed", "no in-rows", "two-way", "relabelled"}
"""Graphs that tell the ways to another order apart."""
CASES = [
    (options, name)
    for options in OPTIONS
    for name in GRAPHS
    if "," not in options or "order" not in OPTIONS[options] or name in ORDERED
]


SAVED = split(
    [(options, name, codec) for options, name in CASES for codec in CODECS],
    lambda options, name, codec: (
        list(CODECS).index(codec) == (list(GRAPHS).index(name) + list(OPTIONS).index(options)) % 4
    ),
)


@pytest.mark.covered("options+codec")
@pytest.mark.parametrize(("options", "name", "codec"), SAVED)
def test_the_same_bytes_as_built_again(name, options, codec, tmp_path, monkeypatch):
    graph, source = GRAPHS[name](), tmp_path / "source.csrbin"
    (graph.decompress() if codec == "plain" else graph.compress()).save(source)
    chosen = ConvertOptions(compressed=True, memory=1 << 30, **OPTIONS[options])
    found = [convert([source], tmp_path / "direct.csrbin", chosen), convert([source], tmp_path / "alone.ccsr", chosen)]
    assert {report.method for report in found} == {"direct" if name in DIRECT.get(options, ()) else "in memory"}, (
        "what is taken over"
    )
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "finished_graph", lambda inputs, options: None)
        patch.setattr(pipeline, "movable_graph", lambda inputs, options: None)
        built = [convert([source], tmp_path / "built.csrbin", chosen), convert([source], tmp_path / "a.ccsr", chosen)]
    for ours, theirs in zip(found, built, strict=True):
        assert Path(ours.output).read_bytes() == Path(theirs.output).read_bytes()
        for field in (
            "vertices",
            "edges",
            "lines",
            "self_loops",
            "duplicates",
            "reversed",
            "input_bytes",
            "compressed_bytes",
        ):
            assert getattr(ours, field) == getattr(theirs, field), field
    assert_same_but_for_the_plain_file(tmp_path / "direct.ccsr", tmp_path / "built.ccsr")
    assert convert([source], tmp_path / "direct.csrbin", chosen).cached


def assert_same_but_for_the_plain_file(one, other):
    """The .ccsr beside a .csrbin: the name of that one's content is in the provenance, and the content is the same."""
    assert csrbin.read_provenance(one) == csrbin.read_provenance(other)
    assert one.read_bytes() == other.read_bytes()


def test_several_inputs_and_other_files_are_built(tmp_path):
    graph = zoo.build(300, PAIRS)
    graph.save(tmp_path / "a.csrbin")
    (tmp_path / "b.txt").write_text("0 299\n")
    for inputs in (["a.csrbin", "a.csrbin"], ["a.csrbin", "b.txt"], ["b.txt"]):
        report = convert([tmp_path / name for name in inputs], tmp_path / "out.ccsr")
        assert report.method == "in memory"


def test_what_does_not_fit_is_built(tmp_path):
    zoo.build(300, PAIRS).save(tmp_path / "a.csrbin")
    report = convert([tmp_path / "a.csrbin"], tmp_path / "b.ccsr", ConvertOptions(memory=(150 << 20) + 1_000_000))
    assert report.method == "in memory"


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("target", ["b.csrbin", "b.ccsr"])
@pytest.mark.parametrize("section", ["edges", "indptr", "labels"])
def test_damage_is_found_on_the_way(target, codec, section, tmp_path):
    """Whether rows are taken over, built again or exported: the new file would have checksums that fit the damage."""
    path = tmp_path / "a.csrbin"
    graph = zoo.build(300, PAIRS, labels=GAPS)
    (graph if codec == "plain" else graph.compress()).save(path)
    container = csrbin.open_container(path)
    name = {"edges": "indices" if codec == "plain" else "blob"}.get(section, section)
    offset = container.sections[name].offset + 16
    container.mapped.close()
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match=f"a.csrbin: section {name} .* is damaged"):
        convert([path], tmp_path / target)
    with pytest.raises(FormatError, match=f"a.csrbin: section {name} .* is damaged"):
        convert([path], tmp_path / target, ConvertOptions(order="degree"))
    with Graph.open(path) as damaged, pytest.raises(FormatError, match=f"a.csrbin: section {name} .* is damaged"):
        export(damaged, "el", tmp_path / "a.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["a.csrbin"]


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("target", ["b.csrbin", "b.ccsr"])
@pytest.mark.parametrize("wrong", ["an id", "a label"])
def test_what_was_written_wrong_is_found_on_the_way(target, codec, wrong, tmp_path):
    """With checksums that fit it."""
    path, labels = tmp_path / "a.csrbin", GAPS.copy()
    rows = zoo.build(300, PAIRS).adjacency
    if wrong == "a label":
        labels[7] = labels[8]
    else:
        rows = PlainAdjacency(rows.indptr, np.append(rows.indices[:-1], np.uint32(300)))
    Graph(rows if codec == "plain" else varint.encode(rows), FLAGS, labels=labels).save(path)
    for order in ("original", "degree"):
        with pytest.raises(FormatError, match="labels are not 300 different" if wrong == "a label" else "corrupted"):
            convert([path], tmp_path / target, ConvertOptions(order=order))
    assert [p.name for p in tmp_path.iterdir()] == ["a.csrbin"]


def test_a_header_that_is_damaged_is_refused_as_ever(tmp_path):
    path = tmp_path / "a.csrbin"
    path.write_bytes(layout.MAGIC + bytes(5000))
    with pytest.raises(FormatError, match="header"):
        convert([path], tmp_path / "b.ccsr")


@pytest.mark.parametrize("target", ["b.csrbin", "b.ccsr"])
@pytest.mark.parametrize(("order", "writer"), [("original", "write_files"), ("degree", "write_moved")])
def test_a_file_that_changes_meanwhile_leaves_nothing(order, writer, target, tmp_path, monkeypatch):
    path = tmp_path / "a.csrbin"
    zoo.build(300, PAIRS).save(path)
    home = pipeline if writer == "write_files" else moving
    write = getattr(home, writer)

    def touched(*arguments):
        os.utime(path, ns=(1, 1))
        write(*arguments)

    monkeypatch.setattr(home, writer, touched)
    with pytest.raises(InputError, match="changed while it was read"):
        convert([path], tmp_path / target, ConvertOptions(order=order))
    assert [p.name for p in tmp_path.iterdir()] == ["a.csrbin"]


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    for name in ("dangling", "missing", "."):
        with pytest.raises(OSError, match="cannot"):
            convert([tmp_path / name], tmp_path / "b.ccsr")


def test_flags_are_those_of_the_result(tmp_path):
    """A directed graph whose edges all have their twins is an undirected one when it is converted as such."""
    zoo.build(4, ([0, 1], [1, 0]), directed=True).save(tmp_path / "a.csrbin")
    convert([tmp_path / "a.csrbin"], tmp_path / "b.csrbin")
    with Graph.open(tmp_path / "b.csrbin") as graph:
        assert graph.flags == GraphFlags()
