"""EdgeList: the edges of one input as a reader found them, in original ids, before anything is built."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.graph.names import Names


@dataclass(eq=False)
class EdgeList:
    """Edges ``src[i] -> dst[i]``.

    Attributes
    ----------
    src, dst
        uint32 or uint64 (the same), shape (lines,): original ids.
    first_id, declared_n
        Where the format declares its vertices: they are ``first_id`` to ``first_id + declared_n - 1``, isolated ones
        included. ``declared_n`` is None where a vertex exists because its id occurs.
    isolated
        Ids (dtype of ``src``) of vertices that exist though no edge names them, where no range declares them; or None.
    mirrored
        The input lists every undirected edge in both directions already (METIS, a symmetric .sg).
    one_way_means_both
        The input says that each entry stands for both directions (Matrix Market "symmetric").
    one_way
        The input says that an edge leads one way only (KONECT "asym").
    comment_lines
        Comment and blank lines skipped.
    skipped_lines
        Bad lines skipped because the caller allowed it.
    input_bytes
        Bytes read from the input (compressed size where it is compressed).
    notes
        What else the reader has to say about the input, each a sentence that names it.
    names
        Names of the vertices, where the input is a graph file that has some: those of the ids 0 to declared_n - 1.
    order
        int64, shape (vertices,): the original ids in the order in which a graph file has its vertices; None where that
        is the ascending one, or nobody says.
    """

    src: np.ndarray
    dst: np.ndarray
    first_id: int = 0
    declared_n: int | None = None
    isolated: np.ndarray | None = None
    mirrored: bool = False
    one_way_means_both: bool = False
    one_way: bool = False
    comment_lines: int = 0
    skipped_lines: int = 0
    input_bytes: int = 0
    notes: tuple[str, ...] = ()
    names: Names | None = None
    order: np.ndarray | None = None
