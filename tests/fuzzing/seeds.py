"""One or more good inputs for every target: where mutation begins."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tempfile
from pathlib import Path

import numpy as np
import zstandard

from bigbfs.formats.readers.detect import FORMATS
from bigbfs.graph.graph import Graph
from fuzzing.targets import folded, frames, members

TEXT = b"# c\n1 2\r\n3,4 0.5\n\n5\t6\n000007 ; 8 x\n70000000000 8\n% d\n12345678 123456789\n9223372036854775807 1"


def _saved(save, *arguments, **options) -> bytes:
    stream = io.BytesIO()
    save(stream, *arguments, **options)
    return stream.getvalue()


def _graphs() -> list[bytes]:
    """Return small containers: plain, compressed with a hub, directed with labels."""
    hub = Graph.from_csr(np.array([0, 1500, *range(1501, 3001)]), np.r_[1:1501, np.zeros(1500, int)])
    path = Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1])
    labelled = Graph.from_csr([0, 2, 3, 3, 3], [1, 3, 0], labels=np.array([5, 2**40, 7, 9]), directed=True)
    contents = []
    with tempfile.TemporaryDirectory() as folder:
        for graph in (path, path.compress(), hub.compress(), labelled, labelled.compress()):
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
    files = {
        "text": TEXT,
        "mtx": b"%%MatrixMarket matrix coordinate real symmetric\n% c\n5 5 3\n1 2 0.5\n3 4 1\n5 5 2\n",
        "metis": b"% c\n4 3 11\n5 2 7\n5 1 7 3 9\n5 2 9 4 1\n5 3 1\n",
        "dimacs": b"c x\np sp 4 3\na 1 2 5\na 2 3 6\na 4 4 7\n",
        "npy": _saved(np.save, np.array([[1, 2], [3, 4], [5, 6]])),
        "npz": _saved(np.savez_compressed, src=np.arange(5), dst=np.arange(5)[::-1]),
        "sg": b"\0" + np.array([3, 4, 0, 1, 3, 4], np.int64).tobytes() + np.array([1, 0, 2, 1], np.int32).tobytes(),
        "csrbin": graphs[0],
    }
    found = []
    for kind, content in files.items():
        for choice in (FORMATS.index(kind), len(FORMATS)):
            for pack in (0, 2, 3, 4, 5):
                found.append(bytes([choice + (len(FORMATS) + 1) * pack]) + content)
    return found
