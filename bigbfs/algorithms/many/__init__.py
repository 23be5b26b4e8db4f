"""Many searches at once: each row of edges is read for up to 512 sources."""

from bigbfs.algorithms.registry import Algorithm

MANY = Algorithm(
    name="many",
    command="distances",
    summary="Distances from many sources at once: a row is read for up to 512 searches.",
    options="bigbfs.algorithms.many.options:ManyOptions",
    result="bigbfs.algorithms.many.result:ManyResult",
    oracle="bigbfs.algorithms.many.oracle:ManyOracle",
    kernels="bigbfs.algorithms.many.gpu.program:every_kernel",
    source="Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2014",
)
"""The entry of the registry."""
