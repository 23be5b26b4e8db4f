"""Where the edges live on a real device: each kind of host memory, the budget, and that nothing leaks."""

import gc

import numpy as np
import pytest
import zoo
from faults import FaultyRuntime, fail_at_every_step

from bigbfs import generate
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine, make_plan
from bigbfs.engines.gpu import planning as plan
from bigbfs.engines.gpu.runtime import cuda, memory
from bigbfs.engines.gpu.runtime.stretches import Stretches
from bigbfs.errors import DoesNotFitError
from bigbfs.graph.graph import Graph


@pytest.fixture(scope="module")
def medium():
    return medium_graph()


def medium_graph():
    return generate.graph("kronecker", scale=16, seed=3)


@pytest.fixture
def registered(monkeypatch):
    """Count registrations that are open."""
    import cupy

    cuda = cupy.cuda.runtime
    open_ranges = {}
    register, unregister = cuda.hostRegister, cuda.hostUnregister

    def counted_register(address, size, flags):
        register(address, size, flags)
        open_ranges[address] = size

    def counted_unregister(address):
        unregister(address)
        del open_ranges[address]

    monkeypatch.setattr(cuda, "hostRegister", counted_register)
    monkeypatch.setattr(cuda, "hostUnregister", counted_unregister)
    return open_ranges


def check(engine, graph):
    source = int(np.argmax(graph.degrees()))
    np.testing.assert_array_equal(engine.bfs(source).levels, reference_bfs(graph, source)[0])
    np.testing.assert_array_equal(engine.connected_components().labels, reference_components(graph))


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_a_file_mapping_is_registered_as_it_is(tmp_path, medium, registered, codec):
    path = tmp_path / ("g.csrbin" if codec == "plain" else "g.ccsr")
    (medium if codec == "plain" else medium.compress()).save(path)
    with Graph.open(path) as graph:
        with GpuEngine(graph, residency="mapped") as engine:
            if not engine._running().info.registers_read_only:
                pytest.skip("this device cannot register read-only memory")
            assert engine.edges_kind == "file"
            assert len(registered) == 1
            assert engine.bytes.host > 0
            check(engine, graph)
        assert registered == {}


def test_a_large_array_of_the_caller_is_registered_as_it_is(registered):
    """Large, so that the C library gives it pages of its own: a page that is shared takes its neighbours along."""
    graph = generate.graph("kronecker", scale=19, seed=3)
    assert graph.adjacency.indices.nbytes >= memory.IN_PLACE
    with GpuEngine(graph, residency="mapped") as engine:
        assert engine.edges_kind == "host"
        check(engine, graph)
    assert registered == {}


def test_a_small_array_is_copied(registered):
    graph = zoo.shared()["grid-2d"]
    with GpuEngine(graph, residency="mapped") as engine:
        assert engine.edges_kind == "copy"
        check(engine, graph)
    assert registered == {}


def test_pinned_memory_where_registration_is_refused(medium, monkeypatch):
    import cupy

    cuda = cupy.cuda.runtime

    def refuse(*_):
        raise cuda.CUDARuntimeError(1)  # cudaErrorInvalidValue

    monkeypatch.setattr(cuda, "hostRegister", refuse)
    with GpuEngine(medium, residency="mapped") as engine:
        assert engine.edges_kind == "pinned"
        check(engine, medium)


@pytest.mark.parametrize("directed", [False, True])
def test_edges_that_come_while_kernels_are_built(tmp_path, registered, monkeypatch, directed):
    """As those of large graphs do; what nobody asks for is given back."""
    monkeypatch.setattr(cuda, "BIG", 1 << 10)
    graph = generate.graph("dag", vertices=20_000, edges=200_000, seed=3) if directed else medium_graph()
    graph.save(tmp_path / "g.csrbin")
    with Graph.open(tmp_path / "g.csrbin") as file:
        with GpuEngine(file, residency="vram") as engine:
            source = int(np.argmax(file.degrees()))
            np.testing.assert_array_equal(engine.bfs(source).levels, reference_bfs(graph, source)[0])
        runtime = cuda.CudaRuntime(0)
        runtime.begin_upload(file.adjacency.edges)
        runtime.close()
        assert registered == {} and runtime.allocated_bytes == 0


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("big", [1 << 10, 1 << 30])
def test_stretches_lie_side_by_side(registered, monkeypatch, big, early):
    """Gathered by threads, or at once where they are few; together with an array that goes first."""
    monkeypatch.setattr(cuda, "BIG", big)
    source = np.random.default_rng(1).integers(0, 2**32, 3 << 20).astype(np.uint32)
    ends = np.sort(np.random.default_rng(2).integers(0, len(source), 4001))
    begins, ends = ends[:-1:2], ends[1::2]
    stretches = Stretches(source, begins, ends)
    runtime = cuda.CudaRuntime(0)
    if early:
        runtime.begin_upload(source, stretches)
    whole = np.concatenate([source[begin:end] for begin, end in zip(begins, ends, strict=True)])
    np.testing.assert_array_equal(runtime.download(runtime.upload(stretches)), whole)
    np.testing.assert_array_equal(runtime.download(runtime.upload(source)), source)
    runtime.close()
    assert registered == {} and runtime.allocated_bytes == 0


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_registration_in_several_steps(tmp_path, medium, registered, monkeypatch, codec):
    monkeypatch.setattr(memory, "STEP", 1 << 20)
    (medium if codec == "plain" else medium.compress()).save(tmp_path / "g.csrbin")
    with Graph.open(tmp_path / "g.csrbin") as graph:
        with GpuEngine(graph, residency="mapped") as engine:
            assert len(registered) > 1 or engine.edges_kind != "file"
            check(engine, graph)
        assert registered == {}


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("residency", ["vram", "mapped"])
def test_the_budget_is_a_limit_and_the_plan_keeps_it(medium, residency, codec):
    graph = medium.compress() if codec == "varint" else medium
    need = make_plan(graph, residency, 1 << 40, hot_bytes=0).device_bytes
    with GpuEngine(graph, residency=residency, vram_budget=need) as engine:
        check(engine, graph)
        assert engine.bytes.device <= engine._running().allocated_bytes <= need
        assert engine.bytes.device > need * 0.9  # the plan is no excuse for asking for too much
    with pytest.raises(DoesNotFitError, match="in all"):
        GpuEngine(graph, residency=residency, vram_budget=need - 512, head_groups=2)
    with GpuEngine(graph, residency=residency, vram_budget=need - 512) as engine:
        assert engine.plan.head_groups == 1
        check(engine, graph)


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_hot_rows_stay_in_the_budget(codec, monkeypatch, tmp_path):
    monkeypatch.setattr(plan, "HOT_SHARE", 1)
    monkeypatch.setattr(memory, "STEP", 1 << 20)
    medium = generate.graph("kronecker", scale=18, seed=3)
    (medium.compress() if codec == "varint" else medium).save(tmp_path / "g.csrbin")
    graph = Graph.open(tmp_path / "g.csrbin")
    bare = make_plan(graph, "mapped", 1 << 40, hot_bytes=0)
    taken = []
    for share in (0.01, 0.1, 1):
        budget = bare.device_bytes + int(share * bare.host_bytes)
        with GpuEngine(graph, residency="mapped", vram_budget=budget) as engine:
            assert engine._running().allocated_bytes <= budget
            taken.append(engine.rows().hot_bytes)
            check(engine, graph)
    assert 0 < taken[0] < taken[1] < taken[2] < bare.host_bytes


def test_auto_residency_follows_the_budget(medium):
    need = make_plan(medium, "vram", 1 << 40).device_bytes
    with GpuEngine(medium, vram_budget=need) as engine:
        assert engine.residency == "vram"
    least = make_plan(medium, "vram", 1 << 40, head_groups=0).device_bytes
    with GpuEngine(medium, vram_budget=least - 512) as engine:
        assert engine.residency == "mapped"
        check(engine, medium)


def test_an_allocation_above_the_budget_fails(medium):
    from bigbfs.engines.gpu.runtime.cuda import CudaRuntime

    runtime = CudaRuntime(limit=1 << 20)
    with pytest.raises(DoesNotFitError, match="limit"):
        runtime.empty(1 << 20, np.uint32)
    runtime.close()


@pytest.mark.alone
def test_nothing_is_left_after_a_thousand_engines(tmp_path, registered):
    import cupy

    generate.graph("uniform", scale=8, seed=1).save(tmp_path / "g.csrbin")
    used = []
    with Graph.open(tmp_path / "g.csrbin") as graph:
        for k in range(1000):
            with GpuEngine(graph, residency=("vram", "mapped")[k % 2]) as engine:
                engine.bfs(0)
                runtime = engine._running()
            assert registered == {}
            assert runtime.allocated_bytes == 0
            if k % 100 == 99:
                free, total = cupy.cuda.runtime.memGetInfo()
                used.append(total - free)
    assert used[-1] - used[0] <= 4 << 20  # other programs may use the device; ours may not grow


def test_a_failure_half_way_releases_everything(tmp_path, medium, registered, monkeypatch):
    from bigbfs.algorithms.components.gpu import program

    medium.save(tmp_path / "g.csrbin")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "ComponentsLoop", interrupted)
    with Graph.open(tmp_path / "g.csrbin") as graph:
        with pytest.raises(KeyboardInterrupt):
            GpuEngine(graph, residency="mapped")
        assert registered == {}


@pytest.mark.parametrize("residency", ["vram", "mapped"])
def test_a_failure_at_any_step_leaves_nothing_on_the_device(tmp_path, medium, registered, residency):
    from bigbfs.engines.gpu.runtime.cuda import CudaRuntime

    medium.save(tmp_path / "g.csrbin")
    device = None
    with Graph.open(tmp_path / "g.csrbin") as graph:

        def run(fail_at, error):
            nonlocal device
            device = CudaRuntime()
            faulty = FaultyRuntime(device, fail_at, error)
            with GpuEngine(graph, residency=residency, runtime=faulty) as engine:
                engine.traverse(0)
                engine.connected_components()
            return faulty.calls < fail_at

        def check(fail_at):
            assert registered == {}, fail_at
            if device.allocated_bytes:
                gc.collect()  # what only a circle of references keeps is no leak
                device.close()
            assert device.allocated_bytes == 0, fail_at

        assert fail_at_every_step(run, check) > 60


def test_the_pool_never_holds_more_than_the_budget(medium):
    """The peak of the pool itself, not what the engine says of itself: the pool keeps what it ever had."""
    least = make_plan(medium, "mapped", 1 << 40, head_groups=0, hot_bytes=0).device_bytes
    most = make_plan(medium, "vram", 1 << 40).device_bytes
    for budget in np.linspace(least, most + (1 << 20), 9).astype(int).tolist():
        with GpuEngine(medium, vram_budget=budget) as engine:
            check(engine, medium)
            assert engine._running().allocated_bytes <= engine.plan.device_bytes <= budget


def test_what_is_not_wanted_is_not_allocated(medium):
    with GpuEngine(medium) as engine:
        bare = engine.bytes.device
        engine.traverse(0, want_levels=False, want_parents=False)
        assert engine.bytes.device == bare
        result = engine.bfs(0, want_levels=False)
        assert engine.bytes.device == bare + medium.n * medium.ids.itemsize
        assert (result.levels == -1).all()
        validate_tree(medium, 0, engine.bfs(0, want_parents=False).levels, result.parents)


@pytest.mark.alone
def test_the_probe_measures_what_can_be(tmp_path):
    from bigbfs.config import profile_text, read_profile
    from bigbfs.engines.gpu.rates import Sizes, measure
    from bigbfs.engines.gpu.runtime.cuda import CudaRuntime

    runtime = CudaRuntime()
    try:
        profile = measure(runtime, runtime.info.total_bytes, Sizes(host=1 << 28, device=1 << 28, rounds=1000))
    finally:
        runtime.close()
    assert 1e9 < profile.link_bytes_per_second < profile.memory_bytes_per_second < 1e14
    assert profile.link_random_lines_per_second <= 1.1 * profile.link_lines_per_second
    assert 1e-7 < profile.barrier_seconds < 1e-4
    path = tmp_path / "device.toml"
    path.write_text(profile_text(profile, "test"))
    assert read_profile(path).name == profile.name
