"""Write a result array to a .npy file, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bigbfs.errors import UsageError, naming
from bigbfs.formats.atomic import replacing, require_writable


def check_writable(path: Path | None, argument: str) -> None:
    """Refuse, before any work is done, an output path, that of ``argument``, that cannot be meant or written.

    Raises
    ------
    UsageError
        The name does not end in .npy.
    FileAccessError
        It cannot be written.
    """
    if path is None:
        return
    if path.suffix != ".npy":
        raise UsageError(f"a result array is written as NumPy .npy; name it {path.name}.npy", about=((argument, path),))
    with naming(output=argument):
        require_writable(path)


def write_npy(path: Path, values: np.ndarray, argument: str) -> None:
    """Write ``values`` to ``path``, which ``argument`` names, atomically.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    with naming(output=argument), replacing(path) as stream:
        array = np.ascontiguousarray(values)
        np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(array))
        stream.write(array.view(np.uint8).data)  # NumPy's own write forgets why a disk takes no more
