"""Write a result array to a .npy file, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bigbfs.errors import UsageError
from bigbfs.formats.atomic import replacing, require_writable


def check_writable(path: Path | None, option: str) -> None:
    """Refuse, before any work is done, an output path, that of ``option``, that cannot be meant or written.

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
        raise UsageError(f"{option} {path}: a result array is written as NumPy .npy; name it {path.name}.npy")
    require_writable(path, option)


def write_npy(path: Path, values: np.ndarray, option: str) -> None:
    """Write ``values`` to ``path``, which ``option`` names, atomically.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    with replacing(path, option) as stream:
        array = np.ascontiguousarray(values)
        np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(array))
        stream.write(array.view(np.uint8).data)  # NumPy's own write forgets why a disk takes no more
