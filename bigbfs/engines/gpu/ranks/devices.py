"""Which GPU is a rank's: that with its number on its machine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from bigbfs.engines.gpu.engine import cuda_runtime_at
from bigbfs.engines.gpu.ranks.telling import Tell
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DeviceError, NoDeviceError, UsageError
from bigbfs.sizes import format_size


def own_gpu(
    group: Group, limit: int | None, form: str = "peers", meanwhile: Callable[[], object] | None = None
) -> Runtime:
    """Return the runtime of this rank's GPU, which may allocate ``limit`` bytes; all ranks make this call.

    A thread does what is to be done ``meanwhile``.

    Raises
    ------
    NoDeviceError
        There is no usable GPU.
    UsageError
        There are fewer GPUs than ranks.
    """
    require_own(group, form)
    number = group.host_rank if device.count() >= group.host_size else 0
    with ExitStack() as undoing:
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(meanwhile) if meanwhile else None
            runtime = cuda_runtime_at(number, limit)
            undoing.callback(runtime.close)
            if done is not None:
                done.result()
        mine = (group.machines[group.rank], runtime.place)
        if group.objects(mine).count(mine) > 1:
            require_count(group.host_size)
        undoing.pop_all()
    return runtime


def require_own(group: Group, form: str) -> None:
    """Refuse fewer GPUs than this machine has ranks; all ranks make this call.

    Who stores into others' memory (``form`` is ``"peers"``) has to see all GPUs. Where hosts run the levels each rank
    may see but one, as launchers have it that bind a GPU to a rank.

    Raises
    ------
    NoDeviceError, UsageError
        As :func:`require_count`.
    """
    if form == "peers" or set(group.objects(device.count())) != {1}:
        require_count(group.host_size)


def require_count(asked: int) -> None:
    """Refuse more GPUs than this machine has.

    Raises
    ------
    NoDeviceError
        It has none.
    UsageError
        It has some.
    """
    there = device.count()
    if there == 0:
        device.probe()  # says what is missing
        raise NoDeviceError("the driver sees no GPU", remedies=(("backend", "cpu"),))
    if asked > there:
        raise UsageError(
            f"{asked} GPUs asked for, and this process sees {there}: take one process for each GPU, of which it sees "
            "all (CUDA_VISIBLE_DEVICES)",
            about=(("gpus", asked),),
            remedies=(("gpus", there, "use {}"),),
        )


def require_reach(group: Group, runtime: Runtime) -> None:
    """Refuse GPUs that cannot reach one another's memory; all ranks make this call, all of one machine.

    Raises
    ------
    DeviceError
        Names two ranks, their GPUs, and why.
    """
    mine = [
        f"GPU {runtime.place} (rank {group.rank}) cannot reach the memory of GPU {place} (rank {rank}): {why}"
        for rank, place in enumerate(group.objects(runtime.place))
        if rank != group.rank and (why := runtime.reaches(place)) is not None
    ]
    for said in group.objects(mine):
        if said:
            raise DeviceError(said[0])


def meet_others(group: Group, runtime: Runtime, transport: str, tell: Tell) -> str:
    """Tell what this GPU is, and return what all are, for people. Refuse GPUs that cannot reach one another's memory,
    where they are to store there.

    Raises
    ------
    DeviceError
        Names two ranks, their GPUs, and why.
    """
    tell(f"{runtime.name} in {runtime.place}, {format_size(runtime.free_bytes())} free; transport {transport}")
    ranks, hosts = f"{group.size} rank{'s' if group.size > 1 else ''}", len(set(group.machines))
    if transport == "peers":
        require_reach(group, runtime)
    return f"{runtime.name} on each of {ranks}" + (f" of {hosts} hosts" if hosts > 1 else "")
