"""Raw CSR: u64 n, u64 m, i64 row_ptr[n + 1], i32 col_idx[m], and nothing else."""

from __future__ import annotations

import struct
from typing import BinaryIO

from bigbfs.formats.writers.sg import put_rows
from bigbfs.formats.writers.writer import Exported, Progress, Writer
from bigbfs.graph.graph import Graph


def _write(graph: Graph, stream: BinaryIO, both: bool, progress: Progress) -> Exported:
    stream.write(struct.pack("<QQ", graph.n, graph.m))
    put_rows(graph.adjacency, stream, progress)
    return Exported(graph.m)


WRITER = Writer("raw", "u64 n, u64 m, i64 row_ptr, i32 col_idx", ".raw.csrbin", _write, most_vertices=2**31)
