"""What carries words between GPUs: which is chosen, what is refused, and what a NCCL that threads play is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated.nccl import Library, NcclError, NcclOfThreads, Stream, Wire
from emulated.runtime import SimtPinned
from one_communicator import OneCommunicator

from bigbfs.engines.gpu.ranks import devices, nccl
from bigbfs.engines.gpu.ranks.nccl import NcclTransport
from bigbfs.engines.gpu.ranks.transport import HostTransport, choose, form_of, made
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import DeviceError, DoesNotFitError, FormatError, UsageError

HOSTS = ("h1", "h2")


class Device:
    """As much of a runtime as a transport asks for, on NumPy arrays."""

    name = "a GPU"

    def __init__(self, place: str = "0000:01:00.0") -> None:
        self.place = place
        self.closed = False

    def close(self) -> None:
        self.closed = True

    def pointer(self, array: np.ndarray) -> int:
        return int(array.ctypes.data)

    def read(self, array: np.ndarray, values: np.ndarray) -> None:
        assert len(values) == len(array) and values.dtype == array.dtype
        values[...] = array

    def write(self, array: np.ndarray, values: np.ndarray) -> None:
        assert len(values) == len(array) and values.dtype == array.dtype
        array[...] = values

    def pinned(self, nbytes: int) -> SimtPinned:
        return SimtPinned(nbytes)

    def zeros(self, count: int, dtype: Any) -> np.ndarray:
        return np.zeros(count, dtype)


def chosen(asked: str, hosts: tuple[str, ...] = HOSTS, places: tuple[str, ...] = ("a", "a")) -> set[str]:
    """Return what two ranks choose."""

    def rank(group: Any) -> str:
        form_of(asked, "auto", group)
        return choose(asked, group, Device(places[group.rank]))  # type: ignore[arg-type]  # no more is asked for

    return set(run(len(hosts), rank, hosts=hosts))


def test_what_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl, "lack", lambda: None)
    one = ("h1", "h1")
    assert chosen("auto", one, ("a", "b")) == {"peers"}
    assert chosen("auto") == {"nccl"}  # GPUs of two machines may have one bus id
    assert chosen("nccl", one, ("a", "b")) == {"nccl"}
    assert chosen("mpi") == chosen("mpi", one) == {"mpi"}
    monkeypatch.setattr(nccl, "lack", lambda: "libnccl.so.2 is not there")
    assert chosen("auto") == {"mpi"}
    with pytest.raises(UsageError, match=r"rank 0 \(host h1\) has no NCCL: libnccl.so.2 is not there"):
        chosen("nccl")


def test_one_rank_without_nccl_decides_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter([None, "none"])
    monkeypatch.setattr(nccl, "lack", lambda: next(found))
    assert chosen("auto") == {"mpi"}


def test_ranks_that_share_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl, "lack", lambda: None)
    one = ("h1", "h1")
    with pytest.raises(UsageError, match="ranks 0 and 1 share GPU a, and NCCL wants one for each"):
        chosen("nccl", one)
    assert chosen("mpi", one) == {"mpi"}


def test_ranks_that_see_one_gpu_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a launcher has bound to a rank is its own, unless it is another's too; peers have to see all."""
    monkeypatch.setattr(devices, "cuda_runtime_at", lambda index, limit: Device(f"number {index} of {limit}"))
    monkeypatch.setattr(device, "count", lambda: 2)
    one = ("h1", "h1")
    own = run(2, lambda group: devices.own_gpu(group, 7, "hosts").place, hosts=one)
    assert own == ["number 0 of 7", "number 1 of 7"]
    monkeypatch.setattr(device, "count", lambda: 1)
    apart = run(2, lambda group: devices.own_gpu(group, 7, "hosts").place, hosts=HOSTS)
    assert apart == ["number 0 of 7"] * 2
    for form in ("hosts", "peers"):
        with pytest.raises(UsageError, match="2 GPUs asked for, and this process sees 1"):
            run(2, lambda group, form=form: devices.own_gpu(group, 7, form), hosts=one)
    with pytest.raises(UsageError, match="2 GPUs asked for"):  # on the one machine of two that has two ranks
        run(3, lambda group: devices.own_gpu(group, 7, "hosts"), hosts=("h1", "h2", "h2"))
    names = iter(["a", "b"])
    monkeypatch.setattr(devices, "cuda_runtime_at", lambda index, limit: Device(next(names)))
    assert sorted(run(2, lambda group: devices.own_gpu(group, 7, "hosts").place, hosts=one)) == ["a", "b"]
    with pytest.raises(UsageError, match="2 GPUs asked for"):
        run(2, lambda group: devices.own_gpu(group, 7, "peers"), hosts=one)


def test_a_gpu_is_given_back_where_what_was_done_meanwhile_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Device] = []
    monkeypatch.setattr(devices, "cuda_runtime_at", lambda *_: made.append(Device("a")) or made[-1])
    monkeypatch.setattr(device, "count", lambda: 1)

    def fail() -> None:
        raise FormatError("no graph")

    with pytest.raises(FormatError, match="no graph"):
        run(1, lambda group: devices.own_gpu(group, None, "hosts", fail))
    assert [each.closed for each in made] == [True]
    assert run(1, lambda group: devices.own_gpu(group, None, "hosts").closed) == [False]


def test_what_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="'ucx' is unknown: choose one of auto, peers, nccl, mpi"):
        chosen("ucx")
    with pytest.raises(UsageError, match=r"GPUs of several machines \(h1, h2\) cannot store into one another's memory"):
        chosen("peers")
    for asked, exchange, said in (("auto", "list", "choose for themselves"), ("mpi", "hubs", "by list or bitmap")):
        with pytest.raises(UsageError, match=said):
            run(1, lambda group, asked=asked, exchange=exchange: form_of(asked, exchange, group))


def test_without_the_library() -> None:
    """This machine has no NCCL, or it has: what is said is one or the other."""
    said = nccl.lack()
    assert said is None or "no library" in said or "cupy" in said.lower()


@pytest.mark.parametrize("carry", [HostTransport, NcclOfThreads])
@pytest.mark.parametrize("piece", [2**30, 24])
def test_what_is_sent_arrives_where_it_belongs(carry: Any, piece: int) -> None:
    """Parts that lie one behind the other, parts of other lengths, none at all, and two arrays for each rank."""
    counts = np.array([[0, 3, 0], [5, 0, 1], [2, 0, 0]])

    def rank(group: Any) -> int:
        made = carry(Device(), group, 1000)
        even = np.zeros((3, 10), np.uint64)
        even[group.rank] = group.rank + 1
        made.gather(list(even))
        assert (even == np.array([1, 2, 3])[:, None]).all()
        sizes = [2, 0, 7]
        parts = [np.full(size, 255, np.uint32) for size in sizes]
        parts[group.rank][:] = group.rank
        made.gather(parts)
        assert all((part == number).all() for number, part in enumerate(parts))
        out = [[np.full(count, 10 * group.rank + to, np.uint32), np.full(count, 7, np.uint32)]
               for to, count in enumerate(counts[group.rank])]  # fmt: skip
        into = [[np.zeros(count, np.uint32), np.zeros(count, np.uint32)] for count in counts[:, group.rank]]
        made.exchange(out, into, 2 * 4 * int(counts.max()))
        for number, (vertices, parents) in enumerate(into):
            assert (vertices == 10 * number + group.rank).all() and (parents == 7).all()
        made.close()
        return int(group.traffic.sent)

    sent = [80 * 2 + 4 * size * 2 + 8 * int(counts[number].sum()) for number, size in enumerate([2, 0, 7])]
    assert run(3, rank, piece=piece) == sent


def test_calls_of_nccl() -> None:
    """One all-gather for parts in a row; else a group of sends and receives, of bytes, none of no bytes."""

    def rank(group: Any) -> Any:
        made = NcclOfThreads(Device(), group, 0)
        row = np.zeros(24, np.uint64)
        made.gather([row[:12], row[12:]])
        apart = [np.zeros(3, np.uint32), np.zeros(5, np.uint32)]
        made.gather(apart)
        nothing: list[Any] = [[], []]
        made.exchange(nothing, nothing, 0)
        mine, theirs = group.rank, 1 - group.rank
        calls = made.library.calls
        assert calls == [
            ("allGather", row.ctypes.data, 96, 1, -1, 77),
            ("send", apart[mine].ctypes.data, apart[mine].nbytes, 1, theirs, 77),
            ("recv", apart[theirs].ctypes.data, apart[theirs].nbytes, 1, theirs, 77),
        ]
        comm = made.library.comm
        made.close()
        made.close()
        return comm is not None and comm.open

    assert run(2, rank) == [False, False]


def test_nccl_connects_all_ranks_before_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library connects at the first call of a kind, for a second or more, which is no search's."""
    monkeypatch.setattr(nccl, "NcclTransport", lambda *how: NcclOfThreads(*how[:2], 0, patience=how[2]))

    def rank(group: Any) -> list[tuple[str, int, int]]:
        transport: Any = made("nccl", Device(), group, 0, 5.0)
        calls = [(name, count, peer) for name, _, count, _, peer, _ in transport.library.calls]
        transport.close()
        return calls

    for mine, calls in enumerate(run(3, rank)):
        others = [other for other in range(3) if other != mine]
        assert calls == [("allGather", 8, -1), *(("send", 8, r) for r in others), *(("recv", 8, r) for r in others)]


def test_cases_on_gpus_share_a_communicator() -> None:
    """One that tests/gpu/rank_cases.py keeps: a transport that is closed leaves it to the next."""

    def rank(group: Any) -> list[bool]:
        first = NcclOfThreads(Device(), group, 0)
        library, stream = OneCommunicator(first.library), Stream(first.library)
        seen = []
        for _ in range(2):
            transport = NcclTransport(Device(), group, 5.0, stream, library)
            transport.connect()
            transport.close()
            assert first.library.comm is not None
            seen.append(first.library.comm.open)
        return seen

    assert run(2, rank) == [[True, True], [True, True]]


def test_a_rank_that_does_not_answer_and_one_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl, "SPINS", 2)

    def rank(group: Any, fault: str) -> None:
        made = NcclOfThreads(Device(), group, 0, patience=0.05)
        made.library.deaf, made.library.fault = True, fault
        made.gather(list(np.zeros((1, 4), np.uint64)))

    with pytest.raises(DeviceError, match=r"rank 0 \(host here\): a call of NCCL has not ended for 0.05 s: another"):
        run(1, lambda group: rank(group, ""))
    with pytest.raises(DeviceError, match=r"NCCL failed on rank 0 \(host here\): remote process has exited"):
        run(1, lambda group: rank(group, "remote process has exited"))


def test_nccl_that_does_not_start() -> None:
    class Broken(Library):
        def NcclCommunicator(self, size: int, unique: tuple[int, ...], rank: int) -> Any:
            raise NcclError("unhandled system error")

    def rank(group: Any) -> None:
        library = Broken(Wire())
        NcclTransport(Device(), group, 1.0, Stream(library), library)  # type: ignore[arg-type]

    with pytest.raises(DeviceError, match="NCCL does not start on a GPU: unhandled system error"):
        run(1, rank)


def test_pinned_memory_that_cannot_be_had() -> None:
    class Full(Device):
        def pinned(self, nbytes: int) -> SimtPinned:
            raise DoesNotFitError(f"{nbytes} bytes")

    with pytest.raises(DoesNotFitError):
        run(1, lambda group: HostTransport(Full(), group, 10))  # type: ignore[arg-type]
