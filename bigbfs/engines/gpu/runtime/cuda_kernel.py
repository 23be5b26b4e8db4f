"""A kernel on a CUDA device, launched by the driver's own call."""

from __future__ import annotations

from typing import Any

from bigbfs.engines.gpu.runtime.clock import LaunchClock
from bigbfs.engines.gpu.runtime.parameters import parameters
from bigbfs.errors import DeviceError


class CudaKernel:
    """A compiled kernel of a module (see ``runtime.Kernel``)."""

    def __init__(self, raw: Any, name: str, cuda: Any, clock: LaunchClock, cooperative: bool) -> None:
        self.name = name
        self.raw = raw
        self._cuda = cuda
        self._clock = clock
        self._cooperative = cooperative
        self._function = raw.kernel.ptr

    def __call__(self, grid: int, block: int, args: tuple[Any, ...], shared: int = 0) -> None:
        """Launch on the current stream.

        Raises
        ------
        DeviceError
            The launch is refused, or a kernel before it failed.
        """
        driver, stream = self._cuda.driver, self._cuda.get_current_stream().ptr
        places, _values = parameters(args)
        shape = (self._function, grid, 1, 1, block, 1, 1, shared, stream, places.ctypes.data)

        def start() -> None:
            if self._cooperative:
                driver.launchCooperativeKernel(*shape)
            else:
                driver.launchKernel(*shape, 0)

        try:
            if self._clock.pairs is None:
                start()
            else:
                self._clock.launch(start)
        except driver.CUDADriverError as error:
            raise DeviceError(f"kernel {self.name} cannot be launched: {error}") from error
