"""The communicator door in both forms: the same calls with threads of one process and with processes under MPI."""

from __future__ import annotations

import errno
import json
import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shm

from bigbfs.engines.ranks import launch, mpi, threads
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.mpi import in_place, piece_for
from bigbfs.engines.ranks.threads import GroupBroken


def every_call(group: Group) -> dict[str, object]:
    """Make every call of ``group`` with arrays that tell who sent them; return what came and what was sent."""
    rank, size = group.rank, group.size
    total = group.sum([1, rank, 2**40]).tolist()
    gathered = [part.tolist() for part in group.gather(np.arange(rank * 700, dtype=np.uint64) + rank)]
    later = group.start_gather(np.full(5, rank, np.uint16), [5] * size)
    begun = [part.tolist() for part in later()]
    parts = [np.full(1000 * (rank + 1) * (to % 3), 10 * rank + to, np.uint8) for to in range(size)]
    swapped = [(len(part), sorted(set(part.tolist()))) for part in group.exchange(parts)]
    slots = np.repeat(np.arange(size, dtype=np.uint8)[:, None] + np.uint8(100 + 10 * rank), 2500, axis=1)
    slotted = [sorted(set(part.tolist())) for part in group.exchange_slots(slots)]
    window = group.window(64 * size)
    if window is not None:
        window[64 * rank : 64 * rank + 64] = rank + 1
        group.barrier()
        assert window.reshape(size, 64).tolist() == [[other + 1] * 64 for other in range(size)]
    large = group.window((5 << 20) + 8 * size, large=True)
    assert (large is None) is (window is None)
    if large is not None:
        assert not large.any()
        group.barrier()
        large[rank::size] = rank + 1  # every page, and the last bytes
        group.barrier()
        assert all((large[other::size] == other + 1).all() for other in range(size))
        group.barrier()
        if rank == size - 1:
            group.forget(large)
        group.barrier()
    names = group.objects(f"rank {rank}")
    group.barrier()
    return {
        "total": total, "gathered": gathered, "begun": begun, "swapped": swapped, "slotted": slotted,
        "names": names, "machines": list(group.machines), "window": window is not None, "sent": group.traffic.sent,
    }  # fmt: skip


def require_right(found: dict[str, object], rank: int, size: int) -> None:
    everyone = range(size)
    assert found["total"] == [size, sum(everyone), size * 2**40]
    assert found["gathered"] == [[number + other for number in range(other * 700)] for other in everyone]
    assert found["begun"] == [[other] * 5 for other in everyone]
    lengths = [1000 * (other + 1) * (rank % 3) for other in everyone]
    assert found["swapped"] == [
        (length, [10 * other + rank] if length else []) for other, length in zip(everyone, lengths, strict=True)
    ]
    assert found["slotted"] == [[100 + 10 * other + rank] for other in everyone]
    assert found["names"] == [f"rank {other}" for other in everyone]
    others = size - 1
    lengths_told = 8 * others + 8 * size * others
    parts = sum(1000 * (rank + 1) * (to % 3) for to in everyone if to != rank)
    assert found["sent"] == (24 + 8 * 700 * rank + 10) * others + lengths_told + parts + 2500 * others


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("piece", [1000, 2**30])
def test_thread_groups(size: int, piece: int) -> None:
    for rank, found in enumerate(threads.run(size, every_call, piece=piece)):
        assert found["window"] is True
        require_right(found, rank, size)


def test_ranks_of_two_hosts_share_no_memory() -> None:
    def places(group: Group) -> tuple[object, ...]:
        return group.host_rank, group.host_size, group.beside, group.machines, group.window(8)

    found = threads.run(3, places, hosts=("a", "b", "a"))
    machines = (0, 1, 0)
    assert found == [(0, 2, (0, 2), machines, None), (0, 1, (1,), machines, None), (1, 2, (0, 2), machines, None)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000, 150_000])
def test_displacements_stay_below_two_to_the_31(size: int) -> None:
    assert size * piece_for(size) < 2**31
    assert piece_for(size) % 8 == 0 and piece_for(size) > 8
    assert piece_for(size, 1000) == 1000


def test_a_rank_that_fails_ends_the_others() -> None:
    def work(group: Group) -> None:
        group.barrier()
        if group.rank == 1:
            raise KeyError("mine")
        group.sum([1])

    with pytest.raises(KeyError, match="mine"):
        threads.run(3, work)


def test_a_call_that_one_rank_leaves_out_is_noticed() -> None:
    def work(group: Group) -> None:
        if group.rank:
            group.barrier()

    with pytest.raises(GroupBroken, match="waits elsewhere"):
        threads.run(2, work, limit=0.2)


HERE = Path(__file__).resolve().parent

MPI = """
import json, sys
sys.path[:0] = {folders!r}
from test_ranks_group import every_call
from bigbfs.engines.ranks.mpi import MpiGroup
group = MpiGroup(piece={piece})
found = group.objects([group.rank, every_call(group)])
if group.rank == 0:
    print(json.dumps(found), flush=True)
group.close()
"""


@pytest.mark.parametrize(("size", "piece"), [(3, 1000), pytest.param(2, 2**30, marks=pytest.mark.wide)])
def test_mpi_groups(size: int, piece: int, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    script = tmp_path / "ranks.py"
    script.write_text(MPI.format(folders=[str(HERE), str(HERE.parents[1])], piece=piece))
    before = shm.files()
    command = [str(launch.mpiexec()), "-n", str(size), sys.executable, str(script)]
    environment = launch.environment(size, 4)
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert [rank for rank, _ in found] == list(range(size))
    for rank, each in found:
        require_right(each | {"swapped": [tuple(pair) for pair in each["swapped"]]}, rank, size)
        assert each["window"] is True
        assert each["machines"] == [0] * size
    assert not shm.left_since(before)


def test_parts_of_one_array_are_sent_from_where_they_lie():
    """In any order, empty ones among them; parts of several arrays, or none at all, are not."""
    whole = np.arange(20, dtype=np.uint64)
    raw = whole.view(np.uint8)
    parts = [raw[40:64], raw[:0], raw[8:16]]
    array, lengths, starts, _ = in_place(parts)
    assert np.shares_memory(array, whole) and array.dtype == np.uint8
    assert [array[a : a + b].tolist() for a, b in zip(starts, lengths, strict=True)] == [p.tolist() for p in parts]
    assert in_place([raw[:8], np.arange(8, dtype=np.uint8)[2:]]) is None
    assert in_place([raw[:0], raw[8:8]]) is None


def test_the_file_of_another_process_is_no_window(tmp_path: Path) -> None:
    """Where process numbers are others, the path that rank 0 has told leads to whatever file stands there."""
    with (tmp_path / "window").open("w+b") as window, (tmp_path / "graph").open("w+b") as graph:
        place = f"/proc/{os.getpid()}/fd/"
        identity = mpi._identity(window.fileno())
        handle = mpi._opened(f"{place}{window.fileno()}", identity)
        assert mpi._identity(handle) == identity
        os.close(handle)
        with pytest.raises(OSError, match="another process"):
            mpi._opened(f"{place}{graph.fileno()}", identity)


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOMEM])
def test_a_share_of_large_windows_is_there_or_cannot_be(number: int) -> None:
    """An old kernel has no such call; one that has it may say that there is no memory."""

    class Refusing(mmap.mmap):
        def madvise(self, option: int, *place: int) -> None:
            raise OSError(number, "no")

    handle, size = os.memfd_create("test"), 5 << 20
    try:
        os.ftruncate(handle, size)
        memory = Refusing(handle, size)
        if number == errno.EINVAL:
            for rank in range(3):
                mpi._fill(memory, handle, size, rank, 3)
            assert os.fstat(handle).st_blocks * 512 == size
        else:
            with pytest.raises(OSError, match="no"):
                mpi._fill(memory, handle, size, 2, 3)
    finally:
        os.close(handle)
