"""Nothing leaks and no budget is exceeded: a device that runs nothing, keeps books, and fails at every step in turn."""

from __future__ import annotations

import gc
import threading
import weakref
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import zoo
from faults import FaultyRuntime, fail_at_every_step
from wide import CODECS, in_turn, split

from bigbfs.algorithms.bfs.gpu.arguments import PROGRESS
from bigbfs.algorithms.gpu_engine import GpuEngine, make_plan
from bigbfs.engines.gpu import planning as plan
from bigbfs.engines.gpu.placement.hot import GRAIN
from bigbfs.engines.gpu.runtime.runtime import unused
from bigbfs.engines.gpu.streamed.ledger import STAGES
from bigbfs.errors import DoesNotFitError

ENOUGH = 1 << 40


class Books:
    """A device of NumPy arrays on which launches do nothing; it knows what is alive, mapped, and was held at most."""

    name, sm_count, team, registers_read_only = "books", 3, 64, True

    def __init__(self, limit=ENOUGH):
        self.limit = limit
        self.arrays = []
        self.mapped = self.most = 0
        self.closed = False

    def use(self):
        pass

    def free_bytes(self):
        return self.limit

    def empty(self, shape, dtype):
        array = np.zeros(shape, dtype)
        self.arrays = [found for found in self.arrays if found() is not None] + [weakref.ref(array)]
        held = sum(-(-found().nbytes // GRAIN) * GRAIN for found in self.arrays)
        self.most = max(self.most, held)
        return array

    zeros = empty

    def begin_upload(self, *arrays):
        pass

    def upload(self, array):
        copy = self.empty(array.shape, array.dtype)
        copy[...] = array
        return copy

    def map(self, array, use=unused):
        self.mapped += 1
        mapping = SimpleNamespace(array=np.array(array), kind="books")

        def close():
            self.mapped -= mapping.array is not None
            mapping.array = None

        mapping.close = close
        try:
            use(mapping.array, 0, len(array))
        except BaseException:
            close()
            raise
        return mapping

    def copy(self, target, source):
        target[...] = source

    def stage(self, nbytes):
        self.mapped += 1
        stage = SimpleNamespace(host=np.zeros(nbytes, np.uint8), array=self.empty(nbytes, np.uint8))

        def close():
            self.mapped -= stage.array is not None
            stage.array = None

        stage.close = close
        stage.wait = stage.done = lambda: None
        return stage

    def read(self, array, values):
        values[...] = array

    def fill(self, array, value):
        array.fill(value)

    def write(self, array, values):
        array[...] = values

    def download(self, array):
        host = np.array(array)
        if len(host) == len(PROGRESS.names):  # a traversal that did nothing is over
            host.view(PROGRESS)["done"] = 1
        return host

    def pointer(self, array):
        return array.ctypes.data

    def kernel(self, file, name, defines, cooperative=False):
        return Launches(name)

    def max_blocks(self, kernel, block):
        return 3

    def synchronize(self):
        pass

    @contextmanager
    def timer(self):
        yield SimpleNamespace(seconds=1e-3)

    def close(self):
        self.closed = True

    def alive(self):
        return sum(found() is not None for found in self.arrays)


class Launches:
    def __init__(self, name):
        self.name = name

    def __call__(self, *_, **__):
        pass

    def ready(self, *_, **__):
        return self


def with_hubs(*, directed, codec="varint"):
    """Return a graph with a hub of two chunks in either direction; encoded, its hubs are known without a kernel."""
    out = (np.zeros(1500, int), np.arange(2, 1502))
    back = (np.arange(2, 1502), np.ones(1500, int))
    graph = zoo.build(1502, zoo.join(out, back), directed=directed)
    return graph.compress() if codec == "varint" else graph


STEPS = split(
    [(residency, directed, codec) for residency in ("vram", "mapped", "streamed") for directed in (False, True)
     for codec in CODECS],
    lambda residency, directed, codec: in_turn(codec, residency, int(directed)),
)  # fmt: skip


@pytest.mark.covered("residency+directed")
@pytest.mark.parametrize(("residency", "directed", "codec"), STEPS)
def test_a_failure_at_any_step_leaves_nothing_behind(residency, directed, codec, monkeypatch):
    monkeypatch.setattr(plan, "HOT_SHARE", 1)
    graph = with_hubs(directed=directed, codec=codec)
    books = Books()
    gc.collect()

    def run(fail_at, error):
        nonlocal books
        books = Books()
        faulty = FaultyRuntime(books, fail_at, error)
        with GpuEngine(graph, residency=residency, runtime=faulty) as placed:
            assert books.mapped == {"vram": 0, "mapped": 1 + directed, "streamed": STAGES}[residency]
            if residency == "mapped" and codec == "varint":
                assert placed.rows().hot_bytes > 0
            placed.bfs(0)
            placed.connected_components()
        return faulty.calls < fail_at

    def check(fail_at):
        assert books.closed, fail_at
        assert books.mapped == 0, fail_at
        if books.alive():
            gc.collect()  # what only a circle of references keeps is no leak
        assert books.alive() == 0, fail_at
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("bigbfs-reader")]

    assert fail_at_every_step(run, check) > 60
    check(0)


def test_a_failure_that_is_not_met_is_seen():
    """The helper fails at each step once: the same number of steps as a run without failures has."""
    graph = with_hubs(directed=False)
    failed = []

    def run(fail_at, error):
        faulty = FaultyRuntime(Books(), fail_at, error)
        with GpuEngine(graph, runtime=faulty):
            pass
        return faulty.calls < fail_at

    steps = fail_at_every_step(run, failed.append)
    assert failed == list(range(1, steps + 1))
    free = FaultyRuntime(Books(), 0, KeyboardInterrupt())
    with GpuEngine(graph, runtime=free):
        assert free.calls == steps


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("directed", [False, True])
def test_no_allocation_goes_beyond_the_budget(directed, codec, monkeypatch):
    """Whatever the budget, between the least that will do and all that is of use."""
    monkeypatch.setattr(plan, "HOT_SHARE", 1)
    graph = with_hubs(directed=directed, codec=codec)
    least = make_plan(graph, "mapped", ENOUGH, head_groups=0, hot_bytes=0).device_bytes
    most = make_plan(graph, "vram", ENOUGH).device_bytes
    streamed = make_plan(graph, "streamed", ENOUGH, head_groups=0, hot_bytes=0).device_bytes
    hot = set()
    for budget in np.linspace(least, most + 10_000, 25).astype(int).tolist():
        for residency in ("auto", "mapped", "streamed"):
            if residency == "streamed" and budget < streamed:
                continue
            books = Books()
            with GpuEngine(graph, residency=residency, vram_budget=budget, runtime=books) as placed:
                placed.bfs(0)
                placed.connected_components()
                hot.add(placed.rows().hot_bytes)
                assert books.most <= placed.plan.device_bytes <= budget
    assert len(hot) > 1 or codec == "plain"
    books = Books()
    with pytest.raises(DoesNotFitError, match="indptr") as caught:
        GpuEngine(graph, residency="mapped", vram_budget=least - 1, runtime=books)
    assert caught.value.exit_code == 5
    assert books.most == 0, "a run that cannot fit ends before it starts"
    assert books.closed


def test_a_thousand_engines():
    graphs = [with_hubs(directed=False), with_hubs(directed=True)]
    for k in range(1000):
        books = Books()
        with GpuEngine(graphs[k % 2], residency=plan.LADDER[k // 2 % 3], runtime=books) as placed:
            placed.traverse(0)
        del placed
        assert (books.mapped, books.closed) == (0, True)
        assert books.alive() == 0, k
