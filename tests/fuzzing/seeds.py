"""One or more good inputs for every target: where mutation begins."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
from pathlib import Path

import numpy as np
import zstandard

from bigbfs.formats.readers import NAMES, formats
from bigbfs.graph.graph import Graph
from bigbfs.graph.name_pages import names_of, stretch_of
from fuzzing.targets import folded, frames, members

TEXT = formats()["text"].example


def _graphs() -> list[bytes]:
    """Return small containers: plain, compressed with a hub, directed with labels, with names in two orders."""
    hub = Graph.from_csr(np.array([0, 1500, *range(1501, 3001)]), np.r_[1:1501, np.zeros(1500, int)])
    path = Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1])
    labelled = Graph.from_csr([0, 2, 3, 3, 3], [1, 3, 0], labels=np.array([5, 2**40, 7, 9]), directed=True)
    named = Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1])
    moved = Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1], labels=np.array([2, 0, 1]))
    for graph in (named, moved):
        graph.names = names_of([stretch_of([b"a" * 40 + end for end in (b"", b"b", "é".encode())])])
    contents = []
    with tempfile.TemporaryDirectory() as folder:
        for graph in (path, path.compress(), hub.compress(), labelled, labelled.compress(), named, moved.compress()):
            file = Path(folder) / "g.csrbin"
            graph.save(file)
            contents.append(file.read_bytes())
    return contents


def seeds(target: str) -> list[bytes]:
    """Return the seeds of a target."""
    if target == "tokenizer":
        return [b"\xff\x3f\x00" + TEXT, b"\x10\x05\x02" + TEXT + b"\nbad\n1 -2\n", b"\x00\x00\x03x\n1 2\r3 4\n5 6"]
    if target == "decompressor":
        packs = [gzip.compress, bz2.compress, lzma.compress, zstandard.compress]
        packs += [frames, members]  # which threads unpack
        skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
        unsized = zstandard.ZstdCompressor(write_content_size=False).compress(TEXT)
        return [pack(TEXT) + pack(TEXT[:20]) for pack in packs] + [2 * (skippable + unsized), TEXT]
    graphs = _graphs()
    if target == "container":
        return [b"\x01" + folded(graph) for graph in graphs] + [b"\x00" + folded(graphs[0])]
    files = {name: found.example for name, found in formats().items()} | {"csrbin": graphs[0]}
    found = []
    for kind, content in files.items():
        for choice in (NAMES.index(kind), len(NAMES)):
            for pack in (0, 2, 3, 4, 5):
                found.append(bytes([choice + (len(NAMES) + 1) * pack]) + content)
    return found
