"""A graph of which one of several GPUs has its own rows in place: what a program over GPUs gets to work on."""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.ranks.early import Lend
from bigbfs.engines.gpu.ranks.telling import Tell, silent
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition


@dataclass(frozen=True, eq=False, kw_only=True)
class RankPlacedGraph(PlacedGraph):
    """A graph of which one rank has its own rows in place; attributes of :class:`PlacedGraph`, and these.

    Attributes
    ----------
    group, partition
        The ranks, and who owns what.
    patience
        Seconds that a kernel waits for those of other ranks, and a call of NCCL.
    transport
        What carries words between ranks: ``"peers"``, ``"nccl"`` or ``"mpi"`` (:mod:`.transport`).
    exchange
        How ranks tell what is visited, where hosts run the levels; ``"auto"``: as is predicted to take least time.
    whole
        Whether each rank has the rows of all vertices in device memory.
    tell
        Is told each step of the setup.
    share
        Makes memory of so many bytes that other ranks of the machine write and read.
    """

    group: Group
    partition: Partition
    patience: float
    transport: str
    exchange: str
    whole: bool = False
    tell: Tell = silent
    share: Lend
