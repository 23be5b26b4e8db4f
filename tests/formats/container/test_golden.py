"""The golden files of format version 1: read for ever, and written the same to the byte."""

import json
from pathlib import Path

import pytest

from bigbfs.formats.container import csrbin
from bigbfs.formats.container.check import check
from bigbfs.graph.graph import Graph

FOLDER = Path(__file__).resolve().parents[2] / "golden"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def listed(adjacency):
    return [adjacency.indptr.tolist(), adjacency.indices.tolist()]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_golden_file_reads_as_it_always_did(name):
    expected = EXPECTED[name]
    assert [step for step in check(FOLDER / name) if step.name == "header"]
    assert csrbin.read_provenance(FOLDER / name) == expected["provenance"]
    with Graph.open(FOLDER / name) as graph:
        assert (graph.n, graph.m, graph.codec) == (expected["n"], expected["m"], expected["codec"])
        assert graph.ids.itemsize == expected["id_bytes"] and graph.first_id == expected["first_id"]
        assert {name: getattr(graph.flags, name) for name in expected["flags"]} == expected["flags"]
        assert (None if graph.labels is None else graph.labels.tolist()) == expected["labels"]
        names = None if graph.names is None else [graph.names.name(rank) for rank in range(graph.n)]
        assert names == expected.get("names")
        plain = graph.decompress()
        assert listed(plain.adjacency) == [expected["indptr"], expected["indices"]]
        if expected["in_indptr"] is not None:
            assert listed(plain.in_adjacency) == [expected["in_indptr"], expected["in_indices"]]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_golden_file_is_written_the_same_to_the_byte(name, tmp_path):
    with Graph.open(FOLDER / name) as graph:
        other = graph.decompress() if graph.codec == "varint" else graph.compress()
        back = other.compress() if graph.codec == "varint" else other.decompress()
        csrbin.save_graph(back, tmp_path / name, csrbin.read_provenance(FOLDER / name))
    assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_the_golden_files_differ_in_what_they_hold():
    assert max(len(csrbin.open_container(FOLDER / name).sections) for name in EXPECTED) == 12
    with Graph.open(FOLDER / "hub.ccsr") as graph:
        assert len(graph.adjacency.hubs) == 1 and len(graph.adjacency.block_ptr) == 2
