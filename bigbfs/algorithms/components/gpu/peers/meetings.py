"""Meetings of all ranks on their devices: flags in peer memory, between kernels, while hosts go on launching."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.algorithms.components.gpu.peers.arguments import WAITS
from bigbfs.engines.gpu.ranks.arguments import CLOCK_RATE
from bigbfs.engines.gpu.runtime.arguments import BLOCK, WARP
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DeviceError


class Meetings:
    """The meetings of one rank; all ranks call the same of it, in the same order.

    Parameters
    ----------
    runtime, group
        The device, and the ranks.
    launch
        Launches a kernel.
    waits
        What ``struct Waits`` is kept in: uint64, shape (2,).
    patience
        Seconds that a rank waits for the others.
    """

    def __init__(
        self, runtime: Runtime, group: Group, launch: Callable[..., None], waits: Array, patience: float
    ) -> None:
        self._runtime, self._group, self._launch, self._waits = runtime, group, launch, waits
        self._patience, self._number = patience, 0

    def begin(self) -> None:
        """Forget what has been waited."""
        self._runtime.fill(self._waits, 0)

    def warm(self, nothing: np.ndarray) -> None:
        """Launch every kernel on nothing."""
        self._launch("joint_wake", 1, nothing)
        self.meet(nothing)

    def begin_together(self, ranks: np.ndarray) -> None:
        """Return when the devices of all ranks have met, which they leave some us apart, with the links awake.

        Raises
        ------
        DeviceError
            As of :meth:`waited`.
        """
        self._launch("joint_wake", BLOCK * self._runtime.sm_count, ranks)  # while hosts wait for one another
        self._group.barrier()
        self.begin()
        self.meet(ranks)  # hosts leave their barrier some 0.1 ms apart
        self.waited()

    def meet(self, ranks: np.ndarray) -> None:
        """Let what is launched from now on wait for all ranks; ``struct Ranks``. On none nobody waits."""
        self._number += int(ranks["part"]["size"] > 0)
        patience = np.uint64(self._patience * CLOCK_RATE)
        self._launch("joint_meet", WARP, ranks, np.uint64(self._number), patience, self._waits)

    def waited(self) -> float:
        """Return the seconds that kernels of this rank have waited for others, at the device's highest clock.

        Raises
        ------
        DeviceError
            One did not come; the message names it, and its host.
        """
        waits = self._runtime.download(self._waits).view(WAITS)[0]
        if waits["lost"]:
            rank = int(waits["lost"]) - 1
            raise DeviceError(
                f"rank {rank} (host {self._group.hosts[rank]}) has not come to a meeting of components: nothing was "
                f"heard of its GPU for {self._patience:g} s"
            )
        return float(waits["cycles"]) / CLOCK_RATE
