"""Registration of host memory against a device that counts, refuses and interrupts."""

import mmap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bigbfs.engines.gpu.runtime import memory
from bigbfs.engines.gpu.runtime.memory import HostMapping, Registration, copy_parallel, from_pool, is_file_mapping
from bigbfs.errors import DoesNotFitError

PAGE = mmap.PAGESIZE


class CudaError(RuntimeError):
    pass


class Cuda:
    """cupy.cuda.runtime as far as memory.py uses it."""

    CUDARuntimeError = CudaError

    def __init__(self, refuse=lambda call, flags: None):
        self.open = {}
        self.calls = []
        self.waits = 0
        self._refuse = refuse

    def hostRegister(self, address, size, flags):
        error = self._refuse(len(self.calls), flags)
        self.calls.append((address, size, flags))
        if error:
            raise error
        self.open[address] = size

    def hostUnregister(self, address):
        del self.open[address]

    def deviceSynchronize(self):
        self.waits += 1

    def pointerGetAttributes(self, address):
        return SimpleNamespace(devicePointer=address + (1 << 40))


def fake_cupy(cuda, *, pinned=True):
    """CuPy as far as HostMapping uses it: a view is what it was made of."""

    class PinnedMemory:
        def __init__(self, size):
            if not pinned:
                raise CudaError("cudaErrorMemoryAllocation")
            self.array = np.zeros(size, np.uint8)

    class PinnedPointer(np.ndarray):
        """A buffer with an address."""

        @property
        def ptr(self):
            return self.ctypes.data

    return SimpleNamespace(
        cuda=SimpleNamespace(
            runtime=cuda,
            PinnedMemory=PinnedMemory,
            PinnedMemoryPointer=lambda memory, offset: memory.array.view(PinnedPointer),
            UnownedMemory=lambda address, size, owner, device: SimpleNamespace(address=address, size=size, owner=owner),
            MemoryPointer=lambda memory, offset: memory,
        ),
        ndarray=lambda shape, dtype, memptr: SimpleNamespace(shape=shape, dtype=dtype, memory=memptr),
    )


def info(read_only=True, same=True):
    return SimpleNamespace(registers_read_only=read_only, uses_host_pointers=same, index=0)


@pytest.fixture
def mapped(tmp_path):
    path = tmp_path / "ids"
    np.arange(10_000, dtype=np.uint32).tofile(path)
    return np.memmap(path, np.uint32, "r", offset=8, shape=9_000)


def test_whole_pages_are_registered_in_chunks(monkeypatch):
    monkeypatch.setattr(memory, "CHUNK", 4 * PAGE)
    cuda = Cuda()
    registration = Registration(cuda, 10 * PAGE + 100, 8 * PAGE, memory.READ_ONLY)
    registration.add(30 * PAGE, PAGE)
    ranges = [(10 * PAGE, 4 * PAGE), (14 * PAGE, 4 * PAGE), (18 * PAGE, PAGE), (30 * PAGE, PAGE)]
    assert cuda.calls == [(*pages, memory.READ_ONLY) for pages in ranges]
    registration.close()
    registration.close()
    assert cuda.open == {}


@pytest.mark.parametrize("error", [CudaError("refused"), KeyboardInterrupt()])
def test_a_failing_chunk_takes_the_others_back(monkeypatch, error):
    monkeypatch.setattr(memory, "CHUNK", PAGE)
    cuda = Cuda(lambda call, flags: error if call == 2 else None)
    with pytest.raises(type(error)):
        Registration(cuda, 0, 5 * PAGE, memory.MAPPED)
    assert len(cuda.calls) == 3
    assert cuda.open == {}


def test_a_file_mapping_is_known_through_views(mapped):
    with Path(mapped.filename).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        array = np.frombuffer(pages, np.uint8)[8:].view(np.uint32).reshape(-1, 2)
        assert is_file_mapping(array)
        view = np.frombuffer(memoryview(pages)[8:16], np.uint8)
        assert is_file_mapping(view)
        del array, view
    assert is_file_mapping(mapped[5:10])
    assert not is_file_mapping(np.arange(5))
    assert not is_file_mapping(np.frombuffer(b"abcd", np.uint8)[1:])


def test_file_pages_are_registered_read_only(mapped):
    cuda = Cuda()
    mapping = HostMapping(fake_cupy(cuda), info(), mapped)
    assert mapping.kind == "file"
    assert {flags for _, _, flags in cuda.calls} == {memory.READ_ONLY}
    assert mapping.array.memory.address == mapped.ctypes.data
    assert mapping.array.shape == mapped.shape
    mapping.close()
    mapping.close()
    assert cuda.open == {}


def test_pages_are_mapped_before_they_are_registered(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "POPULATE_PIECE", 7 * PAGE)
    monkeypatch.setattr(memory, "STEP", 100 * PAGE)
    path, pages = tmp_path / "pages", 300
    path.write_bytes(bytes(PAGE * pages))
    array = np.memmap(path, np.uint8, "r")

    def resident():
        text = Path("/proc/self/smaps").read_text()
        return int(text[text.index(str(path)) :].split("Rss:")[1].split()[0]) * 1024 // PAGE

    before, seen = resident(), []
    cuda = Cuda(lambda call, flags: seen.append(resident()))
    HostMapping(fake_cupy(cuda), info(), array).close()
    assert before < 100 and len(seen) == 3
    assert all(mapped >= 100 * step for step, mapped in enumerate(seen, 1)) and seen[-1] == pages


def used(log):
    return lambda view, begin, end: log.append((int(view.memory.address), begin, end))


def test_items_are_used_as_soon_as_they_are_registered(mapped, monkeypatch):
    monkeypatch.setattr(memory, "STEP", 4 * PAGE)
    log = []
    HostMapping(fake_cupy(Cuda()), info(), mapped, used(log)).close()
    first = (4 * PAGE - mapped.ctypes.data % PAGE) // 4
    here = mapped.ctypes.data
    assert log == [(here, 0, first), (here, first, first + PAGE), (here, first + PAGE, 9_000)]


def test_what_was_used_and_had_to_be_given_up_is_used_again(mapped, monkeypatch):
    """The third step is refused: kernels that read the first two are waited for, and all begins again in a copy."""
    monkeypatch.setattr(memory, "STEP", 4 * PAGE)
    cuda = Cuda(lambda call, flags: CudaError("refused") if call == 2 else None)
    log = []
    mapping = HostMapping(fake_cupy(cuda), info(), mapped, used(log))
    assert mapping.kind == "copy" and cuda.waits >= 1
    assert [entry[0] == mapped.ctypes.data for entry in log] == [True, True, False]
    assert log[-1][1:] == (0, 9_000)
    mapping.close()
    assert cuda.open == {}


def test_an_error_of_who_uses_it_takes_everything_back(mapped, monkeypatch):
    monkeypatch.setattr(memory, "STEP", 4 * PAGE)
    cuda = Cuda()

    def use(view, begin, end):
        if begin:
            raise DoesNotFitError("no room")

    with pytest.raises(DoesNotFitError, match="no room"):
        HostMapping(fake_cupy(cuda), info(), mapped, use)
    assert cuda.open == {} and cuda.waits


def test_a_kernel_that_failed_is_no_refusal(mapped, monkeypatch):
    """Its fault comes out of the next call, which is to page-lock more: nothing is copied for it."""
    monkeypatch.setattr(memory, "STEP", 4 * PAGE)
    cuda = Cuda(lambda call, flags: CudaError("illegal address") if call == 1 else None)

    def fail():
        raise CudaError("illegal address")

    cuda.deviceSynchronize = fail
    with pytest.raises(CudaError, match="illegal address"):
        HostMapping(fake_cupy(cuda), info(), mapped)


def test_a_large_copy_is_used_in_parts_of_one_registration_each(mapped, monkeypatch):
    monkeypatch.setattr(memory, "CHUNK", 4 * PAGE)
    log = []
    HostMapping(fake_cupy(Cuda()), info(read_only=False), mapped, used(log)).close()
    assert [entry[1:] for entry in log] == [(0, 4096), (4096, 8192), (8192, 9000)]


def test_another_address_on_the_device(mapped, monkeypatch):
    """It is that of one registration, so there is one."""
    monkeypatch.setattr(memory, "STEP", PAGE)
    mapping = HostMapping(fake_cupy(Cuda()), info(same=False), mapped)
    assert mapping.array.memory.address == mapped.ctypes.data + (1 << 40)


def test_a_device_without_read_only_registration_gets_a_copy(mapped):
    cuda = Cuda()
    mapping = HostMapping(fake_cupy(cuda), info(read_only=False), mapped)
    assert mapping.kind == "copy"
    assert {flags for _, _, flags in cuda.calls} == {memory.MAPPED}
    np.testing.assert_array_equal(mapping.array.memory.owner, mapped)
    mapping.close()
    assert cuda.open == {}


def test_a_copy_that_host_memory_cannot_hold_is_refused(mapped, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: mapped.nbytes - 1)
    with pytest.raises(DoesNotFitError, match=r"a copy takes .* of host memory"):
        HostMapping(fake_cupy(Cuda()), info(read_only=False), mapped)


def test_refused_file_pages_are_copied(mapped):
    cuda = Cuda(lambda call, flags: CudaError("refused") if flags == memory.READ_ONLY else None)
    assert HostMapping(fake_cupy(cuda), info(), mapped).kind == "copy"


def test_large_arrays_in_place_small_ones_copied(monkeypatch):
    array = np.arange(100_000)
    assert HostMapping(fake_cupy(Cuda()), info(), array).kind == "copy"
    monkeypatch.setattr(memory, "IN_PLACE", array.nbytes)
    mapping = HostMapping(fake_cupy(Cuda()), info(), array)
    assert mapping.kind == "host"
    assert mapping.array.memory.address == array.ctypes.data


def test_pinned_where_nothing_can_be_registered(mapped):
    cuda = Cuda(lambda call, flags: CudaError("refused"))
    mapping = HostMapping(fake_cupy(cuda), info(), mapped)
    assert mapping.kind == "pinned"
    np.testing.assert_array_equal(np.asarray(mapping.array.memory.owner).view(np.uint32), mapped)


def test_nothing_goes(mapped):
    cuda = Cuda(lambda call, flags: CudaError("refused"))
    with pytest.raises(DoesNotFitError, match="ulimit -l"):
        HostMapping(fake_cupy(cuda, pinned=False), info(), mapped)


def test_an_interrupt_after_registration_takes_it_back(mapped):
    cuda = Cuda()
    cupy = fake_cupy(cuda)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    cupy.ndarray = interrupted
    with pytest.raises(KeyboardInterrupt):
        HostMapping(cupy, info(), mapped)
    assert len(cuda.calls) == 1
    assert cuda.open == {}


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000])
def test_parallel_copy(monkeypatch, count):
    monkeypatch.setattr(memory, "COPY_PIECE", 64)
    source = np.arange(count, dtype=np.uint64)
    target = np.full(count, 77, np.uint64)
    copy_parallel(source, target)
    np.testing.assert_array_equal(source, target)


def test_what_the_pool_keeps_does_not_use_up_the_budget():
    """A pool counts what it keeps of arrays that are gone to its limit, and refuses rather than to give it up."""

    class Pool:
        kept, used = 80, 10

        def malloc(self, nbytes):
            if self.kept + self.used + nbytes > 100:
                raise MemoryError
            self.used += nbytes
            return nbytes

        def free_all_blocks(self):
            self.kept = 0

    cupy, pool = SimpleNamespace(cuda=SimpleNamespace(memory=SimpleNamespace(OutOfMemoryError=MemoryError))), Pool()
    assert from_pool(cupy, pool, 10) == 10 and pool.kept == 80
    assert from_pool(cupy, pool, 50) == 50 and pool.kept == 0
    with pytest.raises(MemoryError):
        from_pool(cupy, pool, 50)
