"""Connected components as work of the GPU engine."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu import loop, streamed, tops, verify
from bigbfs.algorithms.components.gpu.hosts import arguments as hosts
from bigbfs.algorithms.components.gpu.loop import ComponentsLoop, Labelling
from bigbfs.algorithms.components.gpu.peers import arguments as peers
from bigbfs.algorithms.components.gpu.streamed import StreamedComponents
from bigbfs.algorithms.components.gpu.verify import verify_labels_on_device
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.result import ComponentsResult, result_of
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.runtime.kernels import KernelSpec


def every_kernel() -> tuple[KernelSpec, ...]:
    """Return every kernel of connected components."""
    own = (*loop.KERNELS, *tops.KERNELS, *loop.SIMPLE_KERNELS, *streamed.KERNELS, *verify.KERNELS)
    return (*own, *peers.OWN_KERNELS, *peers.WHOLE_KERNELS, *peers.PROOF_KERNELS, *hosts.OWN_KERNELS)


class GpuComponents:
    """Connected components of one placed graph.

    Parameters
    ----------
    placed
        The graph.
    options
        Any.

    Attributes
    ----------
    loop
        What runs the passes; it holds the labels of the last run.
    """

    @staticmethod
    def arrays(options: ComponentsOptions, residency: str) -> tuple[ArraySpec, ...]:
        """Return the state of a run."""
        own = (loop.LABELS, loop.FOREST, loop.GIANT, loop.SETTLED, loop.NEVER, loop.TOTALS, loop.RESULT)
        own = (*own, *(() if residency == "streamed" else (tops.OUTSIDE,)))
        spread = (loop.ACTIVE, loop.FOLLOWING) if options.algorithm == "labelprop" else ()
        return (*own, *spread, *((streamed.WANTED, streamed.ASKED) if residency == "streamed" else ()))

    @staticmethod
    def kernels(options: ComponentsOptions, residency: str) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run launches."""
        simple = loop.SIMPLE_KERNELS if options.algorithm != "afforest" or options.single_pass else ()
        return (*loop.KERNELS, *simple, *(streamed.KERNELS if residency == "streamed" else tops.KERNELS))

    def __init__(self, placed: PlacedGraph, options: ComponentsOptions) -> None:
        self._placed = placed
        self.loop = StreamedComponents(placed) if placed.residency == "streamed" else ComponentsLoop(placed)

    def warm(self, options: ComponentsOptions) -> None:
        """Launch every kernel of Afforest once, on nothing."""
        self.loop.warm()

    def run(self, options: ComponentsOptions) -> ComponentsResult:
        """Label the components; see ``ComponentsOptions``."""
        found = self.label(options)
        self._placed.require_vertices(found.invalid_ids)
        labels, numbers = self.loop.labels(), self._placed.numbers
        if numbers is not None:  # they ascend as vertices do, so that the smallest number is the smallest vertex
            labels = numbers.spread(numbers.vertices[labels], np.arange(numbers.n))
        return result_of(labels, options.algorithm, found)

    def label(self, options: ComponentsOptions) -> Labelling:
        """Label the components, and leave the labels on the device."""
        return self.loop.run(options)

    def verify(self, options: ComponentsOptions, result: ComponentsResult) -> None:
        """Prove the labels of the last run on the device.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        verify_labels_on_device(self._placed, self.loop)
