"""Every kernel of the package: what tools compile without a GPU, and tests hold against the .cu files."""

from __future__ import annotations

from bigbfs.algorithms import ALGORITHMS
from bigbfs.algorithms.bfs.gpu.peers import measure
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.components.options import ALGORITHMS as ALGORITHMS_OF_COMPONENTS
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.many.gpu.arguments import WIDTHS
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.sweeps.gpu import program as sweeps
from bigbfs.algorithms.sweeps.options import SweepOptions
from bigbfs.engines.gpu import rates
from bigbfs.engines.gpu.loading import placement_kernels
from bigbfs.engines.gpu.ranks import own as own_rows
from bigbfs.engines.gpu.runtime.kernels import KernelSpec


def every_kernel() -> tuple[KernelSpec, ...]:
    """Return every kernel once: those of placement (proofs of rows and own rows too) and of probes, and those of all
    algorithms."""
    ranks = (*own_rows.PLACEMENT, *own_rows.PROOF_KERNELS)
    shared = (
        *placement_kernels("vram", prove=True, numbered=True),
        *placement_kernels("streamed"),
        *ranks,
        *rates.KERNELS,
    )
    links = measure.PROBE_KERNELS
    own = (spec for entry in ALGORITHMS.values() if entry.kernels for spec in entry.part("kernels")())
    return tuple(dict.fromkeys((*shared, *links, *own, *sweeps.every_kernel())))


def numbered_kernels() -> tuple[KernelSpec, ...]:
    """Return every kernel that runs where vertices have numbers of their own."""
    components = (ComponentsOptions(algorithm) for algorithm in ALGORITHMS_OF_COMPONENTS)
    works = (BfsOptions(), SweepOptions(), *components, *(ManyOptions(width=width) for width in WIDTHS))
    own = (spec for work in works for spec in work.kernels("mapped"))
    return tuple(dict.fromkeys((*placement_kernels("mapped", prove=True, numbered=True), *own)))


def variants_of(file: str) -> list[KernelSpec]:
    """Return a kernel of ``file`` for each way to compile it: with the defines of all its kernels, or, where these
    contradict each other, with each set that there is."""
    specs = [spec for spec in every_kernel() if spec.file == file]
    team = any(spec.team for spec in specs)
    together = {pair for spec in specs for pair in spec.defines}
    if len({name for name, _ in together}) == len(together):
        return [KernelSpec(file, specs[0].name, tuple(sorted(together)), team=team)]
    sets = dict.fromkeys(spec.defines for spec in specs)
    return [KernelSpec(file, specs[0].name, defines, team=team) for defines in sets]
