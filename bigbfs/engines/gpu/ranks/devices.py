"""Which GPU is a rank's: that with its number on its machine."""

from __future__ import annotations

from bigbfs.engines.gpu.engine import cuda_runtime_at
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import NoDeviceError, UsageError


def own_gpu(group: Group, limit: int | None) -> Runtime:
    """Return the runtime of this rank's GPU, which may allocate ``limit`` bytes.

    Raises
    ------
    NoDeviceError
        There is no usable GPU.
    UsageError
        There are fewer GPUs than ranks.
    """
    require_count(group.host_size)
    return cuda_runtime_at(group.host_rank, limit)


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
