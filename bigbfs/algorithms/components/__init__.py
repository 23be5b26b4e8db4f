"""Connected components: the smallest vertex of each vertex's component."""

from bigbfs.algorithms.registry import Algorithm

COMPONENTS = Algorithm(
    name="cc",
    command="cc",
    summary="Connected components (Afforest, Shiloach-Vishkin, label propagation), all exact.",
    options="bigbfs.algorithms.components.options:ComponentsOptions",
    result="bigbfs.algorithms.components.result:ComponentsResult",
    oracle="bigbfs.algorithms.components.oracle:ComponentsOracle",
    kernels="bigbfs.algorithms.components.gpu.program:every_kernel",
    source="Sutton, Ben-Nun, Barak, IPDPS'18",
)
"""The entry of the registry."""
