"""Whatever bytes come, a reader returns edges that keep its promises, or raises an error of ours naming the file."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bigbfs.errors import BigBfsError
from bigbfs.formats.readers import NAMES, formats
from bigbfs.formats.readers.read import estimate, read_edges
from bigbfs.graph.graph import Graph

SEEDS = {name: found.example for name, found in formats().items() if name != "csrbin" and not found.beside}
"""A format of two files has a test of its own that changes them."""


@pytest.fixture(scope="module")
def container(tmp_path_factory):
    path = tmp_path_factory.mktemp("seed") / "g.csrbin"
    Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1]).save(path)
    return path.read_bytes()


def check(path, **options):
    """Read and estimate; anything but one of our errors passes through and fails the test."""
    try:
        estimate(path, **options)
        edges = read_edges(path, **options)
    except BigBfsError as error:
        assert path.name in str(error) or "UTF-16" in str(error)
        assert "\n" not in str(error)
        return
    assert edges.src.shape == edges.dst.shape
    assert edges.src.dtype == edges.dst.dtype
    assert edges.src.dtype in (np.uint32, np.uint64)
    for side in (edges.src, edges.dst):
        if len(side):
            assert int(side.max()) < 2**63
            if edges.declared_n is not None:
                assert edges.first_id <= int(side.min())
                assert int(side.max()) < edges.first_id + edges.declared_n


@settings(max_examples=300)
@given(data=st.data())
def test_changed_files_of_every_format(tmp_path, container, data):
    kind = data.draw(st.sampled_from([*SEEDS, "csrbin"]))
    content = bytearray(container if kind == "csrbin" else SEEDS[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        action = data.draw(st.sampled_from(["change", "cut", "insert", "repeat"]))
        if action == "change":
            content[at] = data.draw(st.integers(0, 255))
        elif action == "cut":
            del content[at : at + data.draw(st.integers(1, 9))]
        elif action == "insert":
            content[at:at] = data.draw(
                st.sampled_from([b"-", b" ", b"\n", b"\r", b"9" * 20, b"\0", b"\xff", b"p sp 1 1"])
            )
        else:
            content[at:at] = content[at : at + 30]
        if not content:
            content = bytearray(b"1")
    pack = data.draw(st.sampled_from([bytes, bytes, gzip.compress, zstandard.compress]))
    path = tmp_path / f"fuzzed.{kind}"
    path.write_bytes(pack(bytes(content)))
    check(path, format=data.draw(st.sampled_from([None, kind])))


@settings(max_examples=100)
@given(content=st.binary(max_size=200), kind=st.sampled_from(NAMES))
def test_any_bytes_as_any_format(tmp_path, content, kind):
    path = tmp_path / "fuzzed"
    path.write_bytes(content)
    check(path, format=kind)
