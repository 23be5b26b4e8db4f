"""METIS graphs (.graph): header ``n m [fmt [ncon]]``, then line ``v`` lists the neighbours of vertex ``v``, 1-based.

``fmt`` is three digits: vertex sizes, vertex weights (``ncon`` of them), edge weights (one after each neighbour); all
are passed over. ``%`` starts a comment line, a blank line is a vertex without neighbours. Every edge stands at both its
ends, so there are 2m entries. Source: METIS manual, section 4.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.readers import metis_kernels, numbers, tokenizer
from bigbfs.formats.readers.bad_lines import line_error, reason
from bigbfs.formats.readers.blocks import LONGEST_LINE, Block, BlockReader
from bigbfs.formats.readers.format import NO_RULES, Rules, of_lines
from bigbfs.formats.readers.headers import counts, next_data_line
from bigbfs.formats.readers.pairs import CHUNK_BYTES, close_gaps
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import Workers
from bigbfs.sizes import free_memory

_WANTED = "expected the header 'vertices edges [fmt [ncon]]'"


@dataclass(frozen=True)
class MetisHeader:
    """``n m [fmt [ncon]]``: ``before`` tokens of vertex data on each line, ``weighted`` neighbours."""

    vertices: int
    edges: int
    before: int
    weighted: bool
    comment_lines: int


def read_header(reader: BlockReader) -> MetisHeader:
    """Read comments and the header.

    Raises
    ------
    InputError
        It is missing or malformed.
    """
    number, line, comments = next_data_line(reader, b"%", _WANTED)
    fields = line.split()
    if not 2 <= len(fields) <= 4:
        raise line_error(reader.name, number, line, _WANTED)
    vertices, edges = counts(reader.name, number, line, fields[:2], _WANTED)
    kind = fields[2] if len(fields) > 2 else b"0"
    if len(kind) > 3 or set(kind) - set(b"01"):
        raise line_error(reader.name, number, line, "fmt must be up to three digits 0 or 1, 011 for example")
    sizes, vertex_weights, edge_weights = (digit == "1" for digit in kind.decode().zfill(3))
    constraints = counts(reader.name, number, line, fields[3:], _WANTED)[0] if len(fields) > 3 else int(vertex_weights)
    if constraints > 1000 or (constraints and not vertex_weights):
        raise line_error(reader.name, number, line, f"ncon {constraints} does not go with fmt {kind.decode()}")
    return MetisHeader(vertices, edges, sizes + constraints, edge_weights, comments)


class _MetisReader:
    """Appends the neighbours of all vertices to ``edges``."""

    def __init__(self, reader: BlockReader, header: MetisHeader, chunk_bytes: int, workers: Workers) -> None:
        self.reader, self.header, self._chunk_bytes = reader, header, chunk_bytes
        self._rules = np.array([header.before, header.weighted, header.vertices], np.int64)
        self._workers = workers
        self.edges = reader.edges
        self.vertices = 0
        self.comment_lines = header.comment_lines

    def read_block(self, block: Block) -> None:
        """Read all vertices of a block."""
        cuts = np.empty(2 + (block.stop - block.start) // self._chunk_bytes, np.int64)
        chunks = tokenizer.cut_lines(block.buffer, block.start, block.stop, self._chunk_bytes, cuts)
        cuts = cuts[: chunks + 1]
        found = np.zeros((chunks, metis_kernels.TABLE_COLUMNS), np.int64)
        self._workers.each(chunks, lambda chunk: metis_kernels.count_vertices(block.buffer, cuts, chunk, found))
        vertices, tokens = found[:, metis_kernels.VERTICES], found[:, metis_kernels.ENTRIES]
        table = self._tokenize(block, cuts, vertices, tokens)
        self._stop_at_bad_line(block, table)
        firsts = np.cumsum(tokens) - tokens
        self.edges.keep(close_gaps(*self.edges.space(int(tokens.sum())), firsts, table[:, metis_kernels.ENTRIES]))
        self.vertices += int(vertices.sum())
        comments = int(found[:, metis_kernels.COMMENTS].sum())
        self.comment_lines += comments
        self.reader.used(block, int(vertices.sum()) + comments)

    def _tokenize(self, block: Block, cuts: np.ndarray, vertices: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        table = np.zeros((len(tokens), metis_kernels.TABLE_COLUMNS), np.int64)
        first_vertices = self.vertices + 1 + np.cumsum(vertices) - vertices
        for _ in range(2):
            self._fill(block, cuts, first_vertices, tokens, table)
            if not (table[:, metis_kernels.STATUS] == numbers.WIDE).any():
                break
            self.edges.widen()
        return table

    def _fill(
        self, block: Block, cuts: np.ndarray, vertices: np.ndarray, tokens: np.ndarray, table: np.ndarray
    ) -> None:
        sources, targets = self.edges.space(int(tokens.sum()))
        firsts = np.cumsum(tokens) - tokens
        self._workers.each(
            len(tokens),
            lambda chunk: metis_kernels.read_vertices(
                block.buffer, cuts, chunk, vertices, self._rules, sources, targets, firsts, table
            ),
        )

    def _stop_at_bad_line(self, block: Block, table: np.ndarray) -> None:
        bad = np.flatnonzero(table[:, metis_kernels.STATUS] != numbers.GOOD)
        if not len(bad):
            return
        status, position = table[bad[0], [metis_kernels.STATUS, metis_kernels.STOPPED_AT]].tolist()
        n = self.header.vertices
        if status == metis_kernels.TOO_MANY_LINES:
            why = f"neighbours after the line of the last vertex, {n}"
        else:
            why = reason(status, 1, n, "the ids of a vertex's neighbours (and weights, as fmt says)")
        number, line = block.line_number(position), block.line(position)
        raise line_error(self.reader.name, number, line, f"{why}; a METIS line is a vertex, so none can be skipped")


def read_metis(reader: BlockReader, rules: Rules = NO_RULES, *, chunk_bytes: int | None = None) -> EdgeList:
    """Read a METIS graph to its end. Skipping bad lines cannot help here: a line is a vertex.

    Raises
    ------
    InputError
        The header or a line is bad, an id is out of range, or the counts differ from the declared ones.
    """
    header = read_header(reader)
    if header.vertices == 0:
        raise InputError(f"{reader.name}: the header declares 0 vertices; a graph without vertices is not made")
    with Workers(reader.threads) as workers:
        metis = _MetisReader(reader, header, chunk_bytes or CHUNK_BYTES, workers)
        while (block := reader.current()) is not None:
            metis.read_block(block)
    found, wanted = metis.edges.size, 2 * header.edges
    if found != wanted:
        raise InputError(
            f"{reader.name}: the header declares {header.edges} edges, so {wanted} neighbours (each edge at both its "
            f"ends), but the file holds {found} in {metis.vertices} of {header.vertices} lines "
            f"({'cut short?' if found < wanted else 'a wrong header?'}); fetch it again, or correct the header"
        )
    sources, targets = metis.edges.arrays()
    return EdgeList(
        sources,
        targets,
        first_id=1,
        declared_n=header.vertices,
        mirrored=True,
        comment_lines=metis.comment_lines,
        input_bytes=reader.source.consumed,
    )


def _declared(reader: BlockReader, rules: Rules) -> tuple[int, int]:
    header = read_header(reader)
    return header.vertices, 2 * header.edges


FORMAT = of_lines(
    "metis",
    "METIS: a line of neighbours for each vertex",
    read_metis,
    b"% c\n4 3 11\n5 2 7\n5 1 7 3 9\n5 2 9 4 1\n5 3 1\n",
    suffixes=(".graph", ".metis"),
    aliases=("graph",),
    declared=_declared,
    longest_line=lambda: max(LONGEST_LINE, free_memory() // 8),  # all neighbours of a vertex are one line
)
