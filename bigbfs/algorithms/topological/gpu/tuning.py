"""The numbers that rounds on a GPU are tuned by; tests and studies give others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """How rounds are shared out; estimates, until a GPU run has measured them.

    Attributes
    ----------
    thin_edges
        Edges of a round of up to one vertex a thread that one block runs alone.
    thin_slices_plain, thin_slices_varint
        And slices of rows that it may have, by encoding: of 128 ids, of up to 1024.
    window
        Rounds of one block after which it is asked whether the CPU would be quicker with the rest.
    deep_width
        Vertices of a round, as the mean of such a window, from which on it is not.
    most_rounds
        Rounds of one launch; the host can interrupt between two.
    round_us, mapped_round_us
        Microseconds of a round of one block, by residency.
    edge_ns
        Nanoseconds of an edge there.
    cpu_edge_ns_plain, cpu_edge_ns_varint
        Nanoseconds of an edge on one thread of a CPU.
    hand_over_us, hand_over_vertex_ns
        Microseconds of handing over, and nanoseconds for each vertex of the state.
    """

    thin_edges: int = 32_768
    thin_slices_plain: int = 256
    thin_slices_varint: int = 64
    window: int = 64
    deep_width: int = 32
    most_rounds: int = 1 << 16
    round_us: float = 4.0
    mapped_round_us: float = 8.0
    edge_ns: float = 0.5
    cpu_edge_ns_plain: float = 2.0
    cpu_edge_ns_varint: float = 8.0
    hand_over_us: float = 200.0
    hand_over_vertex_ns: float = 2.0


DEFAULT = Tuning()
