"""A kernel on a CUDA device, launched by the driver's own call."""

from __future__ import annotations

from typing import Any

from bigbfs.engines.gpu.runtime.clock import LaunchClock
from bigbfs.engines.gpu.runtime.parameters import parameters
from bigbfs.engines.gpu.runtime.runtime import Start
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
        self.ready(grid, block, args, shared)()

    def ready(self, grid: int, block: int, args: tuple[Any, ...], shared: int = 0) -> Start:
        """Return what launches it so, each time on the current stream, with the arguments laid out once."""
        driver, current = self._cuda.driver, self._cuda.get_current_stream
        places, values = parameters(args)
        shape, at = (self._function, grid, 1, 1, block, 1, 1, shared), places.ctypes.data

        def launch() -> None:
            if self._cooperative:
                driver.launchCooperativeKernel(*shape, current().ptr, at)
            else:
                driver.launchKernel(*shape, current().ptr, at, 0)

        def start(_alive: tuple[Any, ...] = (args, places, values)) -> None:
            try:
                if self._clock.pairs is None:
                    launch()
                else:
                    self._clock.launch(launch)
            except driver.CUDADriverError as error:
                raise DeviceError(f"kernel {self.name} cannot be launched: {error}") from error

        return start
