"""The numbers that many searches on a GPU are tuned by; tests and studies give others."""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.errors import UsageError

SHARES = (0.001,)
SHARES_OUTSIDE = (0.002, 0.005, 0.02)


@dataclass(frozen=True)
class Tuning:
    """How levels are shared out; costs and shares as measured on an H200 and an H100 (docs/results/many-sources.md).

    Attributes
    ----------
    push_edge, pull_edge, pull_vertex
        What directions cost, in any unit: of an edge of the frontier top-down, of an edge of a vertex that lacks a
        source bottom-up, and of a vertex there, its heads among it.
    catch_up_vertex, pull_level
        What it costs more to go top-down where full vertices are behind, for each of them; and what a level bottom-up
        costs beside its vertices and edges, which is asked only then.
    full_share
        Share of all vertices: once so many are full, levels bottom-up leave full ones alone, and know them by a bitmap.
    far_edge, far_pull_edge
        What an edge costs more if it lies beyond the link: top-down, and bottom-up.
    file_edge, file_pull_edge
        The same if it lies in a file, from which rows come whole (estimated: 20 GB/s of the page cache).
    shares
        Shares of all edges: sources whose frontier has less could be spread top-down before a level bottom-up, by the
        one of these that promises the least; at most ``MOST_MASKS``. None: ``SHARES``, and where edges are mapped or
        streamed ``SHARES_OUTSIDE``.
    split_from
        Edges, of the frontier and of the rows to be read, from which on that is thought about.
    sparse_share
        Bottom-up: the share of all edges below which a frontier's bitmap is looked at before a neighbour's bits.
    apart_ids, mapped_apart_ids
        Bottom-up: the longest row that a few lanes read alone, by residency; longer ones are the whole warp's.
    few_words
        Top-down: words of a vertex that are not empty up to which a lane asks for a neighbour alone, in a row that a
        warp reads; with more a few lanes do.
    shares_rows
        Bottom-up: lanes share out a row once only one of a group lacks something.
    hubs_from
        Top-down: edges of a frontier from which on a level is launched by itself, its hubs before it, as one that could
        run bottom-up is.
    sort_from
        Vertices of a queue from which on it is put into vertex order before it is expanded, where edges are mapped.
    ranked_bits
        Sources whose first steps lead equally far have neighbouring bits.
    most_levels
        Levels of one launch; the host can interrupt between two.
    span
        Levels whose counts there is room for before the host takes them.
    """

    push_edge: float = 1.5
    pull_edge: float = 0.7
    pull_vertex: float = 10.0
    catch_up_vertex: float = 5.0
    pull_level: float = 4e6
    full_share: float = 1 / 256
    far_edge: float = 4.0
    far_pull_edge: float = 4.0
    file_edge: float = 8.0
    file_pull_edge: float = 8.0
    shares: tuple[float, ...] | None = None
    split_from: int = 1 << 22
    sparse_share: float = 0.3
    apart_ids: int = 64
    mapped_apart_ids: int = 16
    few_words: int = 1
    shares_rows: bool = True
    hubs_from: int = 1 << 22
    sort_from: int = 4096
    ranked_bits: bool = True
    most_levels: int = 1 << 16
    span: int = 1023

    def __post_init__(self) -> None:
        """Refuse batches that would not go on."""
        for name in ("most_levels", "span"):
            if getattr(self, name) < 1:
                raise UsageError("must be 1 or more", about=((name, getattr(self, name)),))


DEFAULT = Tuning()
"""As estimated."""
