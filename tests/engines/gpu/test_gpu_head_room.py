"""How many heads a plan has where edges are mapped: of even rows and of others, and what is left for hot rows."""

import zoo

from bigbfs import generate
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.gpu_engine import make_plan
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.engines.gpu.placement.ledger import grain
from bigbfs.engines.gpu.planning import DEVICE_SHARE, GRAIN, MOST_GROUPS
from bigbfs.engines.gpu.streamed.ledger import stage_sizes

ENOUGH = 1 << 40


def buffer(plan, name):
    return next(found for found in plan.buffers if found.name == name)


def test_more_heads_where_edges_are_outside_and_rows_are_even():
    """As many as hold nearly all rows, and take not much more of the device than the edges would; before hot rows."""
    even, skewed, short = (zoo.shared()[name] for name in ("clique", "kronecker", "grid-2d"))
    plan = make_plan(even, "mapped", ENOUGH)
    assert plan.head_groups == MOST_GROUPS and plan.hot_bytes > 0
    assert buffer(plan, "heads").bytes + plan.hot_bytes <= DEVICE_SHARE * grain(even.adjacency.edges.nbytes)
    assert make_plan(even, "vram", ENOUGH).head_groups == 2
    assert make_plan(even, "mapped", plan.device_bytes - plan.hot_bytes - 1).head_groups == MOST_GROUPS - 1
    streamed = make_plan(even, "streamed", ENOUGH)
    assert (streamed.head_groups, streamed.stage_bytes) == (MOST_GROUPS, stage_sizes(even)[0])
    fewer = make_plan(even, "streamed", streamed.device_bytes - streamed.hot_bytes - 1)
    assert fewer.stage_bytes == streamed.stage_bytes and fewer.head_groups == MOST_GROUPS - 1
    assert make_plan(skewed, "vram", ENOUGH).head_groups == make_plan(short, "mapped", ENOUGH).head_groups == 2


def test_more_heads_where_rows_are_uneven_if_hot_rows_lose_nothing_by_it():
    graph = generate.graph("kronecker", scale=12, edge_factor=32, seed=1)
    search, label, edges = BfsOptions(), ComponentsOptions(), graph.adjacency.edges.nbytes
    plan = make_plan(graph, "mapped", ENOUGH, work=(search,))
    assert plan.head_groups == MOST_GROUPS and plan.fits
    assert buffer(plan, "hot").bytes + buffer(plan, "hot_ptr").bytes == plan.hot_bytes == edges // 2 // GRAIN * GRAIN
    assert buffer(plan, "heads").bytes + plan.hot_bytes <= DEVICE_SHARE * grain(edges)
    assert make_plan(graph, "mapped", plan.device_bytes, work=(search,)).head_groups == MOST_GROUPS
    fewer = make_plan(graph, "mapped", plan.device_bytes - GRAIN, work=(search,))
    assert (fewer.head_groups, fewer.hot_bytes) == (MOST_GROUPS - 1, plan.hot_bytes)
    bare = make_plan(graph, "mapped", ENOUGH, head_groups=2, work=(search,))
    least = make_plan(graph, "mapped", bare.device_bytes, work=(search,))
    assert (least.head_groups, least.hot_bytes, least.buffers) == (2, bare.hot_bytes, bare.buffers)
    assert make_plan(graph, "mapped", ENOUGH, work=(label,)).head_groups == 2
    assert make_plan(graph, "mapped", ENOUGH, work=(ManyOptions(),)).head_groups == 2
    assert make_plan(graph, "auto", plan.device_bytes, work=(search,)).head_groups == 2
