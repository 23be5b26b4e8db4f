"""``bigbfs check``: a line for each check, the exact place of the first failure; every check can fail."""

import json
import struct

import numpy as np
import pytest
import zoo

from bigbfs.formats.container import csrbin
from bigbfs.formats.container.checksum import checksum
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph

PATH = ([0, 1, 2, 3], [1, 2, 3, 4])


def edit(path, section, index, value):
    """Change one item of a section and make its checksums right again."""
    container = csrbin.open_container(path)
    found = container.sections[section]
    arrays = {name: container.array(name).copy() for name in container.sections}
    arrays[section][index] = value
    data = bytearray(path.read_bytes())
    data[found.offset : found.offset + found.length] = arrays[section].tobytes()
    names = [data[128 + 64 * i : 144 + 64 * i].rstrip(b"\0").decode() for i in range(len(container.sections))]
    struct.pack_into("<I", data, 128 + 64 * names.index(section) + 48, checksum(arrays[section]))
    reseal(data, len(names))
    path.write_bytes(data)


def reseal(data, sections):
    import zlib

    struct.pack_into("<I", data, 68, zlib.crc32(bytes(data[128 : 128 + 64 * sections])))
    struct.pack_into("<I", data, 124, zlib.crc32(bytes(data[:124])))


def save(path, graph, **flags):
    Graph(
        graph.adjacency,
        GraphFlags(**({"directed": graph.flags.directed, "symmetric": graph.flags.symmetric} | flags)),
        labels=graph.labels,
        in_adjacency=graph.in_adjacency,
    ).save(path)


def test_good_files(run, folder):
    zoo.build(5, PATH).save("a.csrbin")
    zoo.build(5, PATH, directed=True, labels=np.arange(5) * 3).compress().save("b.ccsr")
    for name, checks in (("a.csrbin", 11), ("b.ccsr", 32)):
        code, out, err = run("check", name)
        assert (code, err) == (0, "")
        assert out.count("ok  ") == checks and out.splitlines()[-1] == f"{name}: all {checks} checks hold"
        code, out, err = run("check", name, "--json")
        found = json.loads(out)
        assert code == 0 and found["ok"] and found["error"] is None and len(found["checks"]) == checks
        assert (found["schema"], found["command"], found["graph"]) == (1, "check", {"path": name})


def fails(run, path, says):
    code, out, err = run("check", path)
    assert code == 1 and says in err and err.count("\n") == 1, (out, err)
    assert str(path) in err
    code, out, err = run("check", path, "--json")
    assert code == 1 and says in json.loads(out)["error"] and not json.loads(out)["ok"]


@pytest.mark.parametrize(
    ("section", "index", "value", "says"),
    [
        ("indices", 0, 5, "indices[0] = 5 (byte 8192) is no vertex"),
        ("indices", 3, 2**32 - 1, "indices[3] = 4294967295 (byte 8204)"),
        ("indptr", 2, 0, "indptr[2] = 0 (byte 4112) is less than the entry before it, 1"),
        ("indptr", 2, 9, "indptr[3] = 5 (byte 4120) is less"),
        ("indices", 1, 4, "row 1 of indices does not ascend"),
        ("indices", 7, 2, "has no twin"),
        ("indices", 1, 2, "there are 1 duplicate edges; the first is edge 2 (1 -> 2) (byte 8200)"),
        ("indices", 0, 0, "there are 1 self-loops; the first is edge 0 (0 -> 0) (byte 8192)"),
    ],
)
def test_plain_rows(run, folder, section, index, value, says):
    path = folder / "g.csrbin"
    zoo.build(5, PATH).save(path)
    edit(path, section, index, value)
    fails(run, path, says)


@pytest.mark.parametrize(
    ("section", "index", "value", "says"),
    [
        ("degree", 0, 2, "row 0 has 1 bytes for 2 ids"),
        ("blob", 0, 0x80, "row 0 does not hold"),
        ("hub_ptr", 1, 1, "hub_ptr does not follow"),
        ("hubs", 0, 1, "hubs does not follow"),
        ("block_ptr", 1, 5, "block 0 of row 2 does not hold"),
        ("block_ptr", 0, 5, "block_ptr does not lie in the rows of the hubs"),
        ("indptr", 1, 5000, "indptr[2]"),
    ],
)
def test_compressed_rows(run, folder, section, index, value, says):
    path = folder / "g.ccsr"
    zoo.build(1300, ([2] * 1300, range(1300)), keep=True).compress().save(path)
    edit(path, section, index, value)
    fails(run, path, says)


def test_a_varint_that_is_longer_than_need_be(run, folder):
    path = folder / "g.ccsr"
    graph = zoo.build(2, ([0], [1])).compress()
    adjacency = graph.adjacency
    blob = np.array([0x81, 0x00, 0x00], np.uint8)  # 1 in two bytes
    indptr = np.array([0, 2, 3], np.uint64)
    long = type(adjacency)(indptr, adjacency.degree, blob, adjacency.hubs, adjacency.hub_ptr, adjacency.block_ptr)
    Graph(long, graph.flags).save(path)
    fails(run, path, "a varint of row 0 is longer than it need be")


def test_degrees_that_do_not_add_up_to_m(run, folder):
    path = folder / "g.ccsr"
    graph = zoo.build(5, PATH).compress()
    Graph(graph.adjacency, graph.flags, m=7).save(path)
    fails(run, path, "the degrees sum to 8, but the header says 7 edges")


def test_flags_that_are_not_true(run, folder):
    path = folder / "g.csrbin"
    save(path, zoo.build(4, ([0, 0, 1], [1, 1, 2]), keep=True))
    fails(run, path, "flagged deduplicated, but there are 2 duplicate edges; the first is edge 1 (0 -> 1)")
    save(path, zoo.build(4, ([0, 3], [1, 3]), keep=True))
    fails(run, path, "flagged loops_removed, but there are 1 self-loops; the first is edge 2 (3 -> 3)")
    save(path, zoo.build(4, ([0], [1]), directed=True), symmetric=True)
    fails(run, path, "the edge 0 -> 1 has no twin 1 -> 0")


def test_symmetry_without_memory_for_the_exact_check(run, folder, monkeypatch):
    monkeypatch.setattr("bigbfs.formats.container.check.free_memory", lambda: 4 * 8 - 1)
    path = folder / "g.csrbin"
    save(path, zoo.build(4, ([0], [1]), directed=True), symmetric=True)
    fails(run, path, "flagged symmetric, but some edge u -> v has no twin")
    save(path, zoo.build(4, ([0], [1])))
    code, out, _ = run("check", path)
    assert code == 0 and "every edge has its twin (by a random fingerprint" in out


def test_in_neighbours_of_another_graph(run, folder):
    one, other = (zoo.build(3, pairs, directed=True) for pairs in (([0, 1], [1, 2]), ([0, 2], [1, 1])))
    for theirs, says in ((other, "vertex 1"), (zoo.build(3, ([1, 1], [1, 2]), directed=True, keep=True), "vertex 1")):
        mixed = Graph(
            one.adjacency,
            GraphFlags(directed=True, symmetric=False, loops_removed=False),
            in_adjacency=theirs.in_adjacency,
        )
        mixed.save(folder / "g.csrbin")
        fails(run, folder / "g.csrbin", f"the in-neighbours of {says} are not those")


@pytest.mark.parametrize(
    ("labels", "relabelled", "says"),
    [
        ([1, 1, 2], False, "labels[1] = 1 (byte 4104) occurs twice"),
        ([1, 3, 2], False, "labels[2] = 2 (byte 4112) does not ascend"),
        ([-1, 1, 2], False, "labels[0] = -1 (byte 4096) is negative"),
        ([5, 1, 5], True, "labels[2] = 5 (byte 4112) occurs twice"),
    ],
)
def test_labels(run, folder, labels, relabelled, says):
    adjacency = zoo.build(3, ([0], [1])).adjacency
    Graph(adjacency, GraphFlags(relabelled=relabelled), labels=np.array(labels)).save(folder / "g.csrbin")
    fails(run, folder / "g.csrbin", says)


def test_provenance_that_is_no_object(run, folder):
    csrbin.save_graph(zoo.build(2, ([0], [1])), folder / "g", [1])
    fails(run, folder / "g", "provenance is no JSON object")
    assert csrbin.read_provenance(folder / "g") is None
    csrbin.save_graph(zoo.build(2, ([0], [1])), folder / "g", {"a": 1})
    edit(folder / "g", "provenance", 0, 0xFF)
    fails(run, folder / "g", "provenance is no JSON object")


def test_damage_without_new_checksums(run, folder):
    path = folder / "g.csrbin"
    zoo.build(5, PATH).save(path)
    good = path.read_bytes()
    for at, says in (
        (8193, "section indices (bytes 8192 to 8223) is damaged"),
        (8230, "byte 8230, between the sections"),
    ):
        path.write_bytes(good[:at] + b"\1" + good[at + 1 :])
        fails(run, path, says)


def test_what_cannot_be_opened(run, folder):
    (folder / "text.csrbin").write_text("0 1\n")
    for name, says in (("none.csrbin", "No such file"), ("text.csrbin", "no graph file"), (folder, "folder")):
        code, out, err = run("check", name)
        assert code == 1 and says in err and out == ""
