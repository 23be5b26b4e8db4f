"""Files that commands write beside what they print: refused before any work, written whole, and said."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from bigbfs.cli.wording import printable
from bigbfs.errors import UsageError, naming
from bigbfs.formats.atomic import replacing, require_writable
from bigbfs.formats.ours import array_header, require_ours
from bigbfs.sizes import format_size

force_option = click.option("--force", is_flag=True, help="Replace files that bigbfs did not write.")


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written: its path, bytes, and of an array dtype and count (None of other files)."""

    path: str
    bytes: int
    dtype: str | None = None
    count: int | None = None

    def line(self) -> str:
        """Return what people are told."""
        what = format_size(self.bytes) if self.dtype is None else f"{self.dtype}, {self.count:,}"
        return f"wrote       {printable(self.path)}: {what}"


def check_output(path: Path | None, argument: str, force: bool) -> None:
    """Refuse, before any work is done, an output path, that of ``argument``, that cannot or may not be written.

    Raises
    ------
    UsageError
        There is a file of somebody else's, and no ``force``.
    FileAccessError
        It cannot be written.
    """
    if path is not None:
        with naming(output=argument):
            require_writable(path)
            require_ours(path, force)


def check_array(path: Path | None, argument: str, force: bool) -> None:
    """Do what :func:`check_output` does for an array; its name ends in .npy.

    Raises
    ------
    UsageError, FileAccessError
        As there, or it has another name.
    """
    if path is not None and path.suffix != ".npy":
        raise UsageError(f"a result array is written as NumPy .npy; name it {path.name}.npy", about=((argument, path),))
    check_output(path, argument, force)


def write_array(path: Path, values: np.ndarray, argument: str) -> Written:
    """Write ``values`` to ``path``, which ``argument`` names, whole or not at all.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    array = np.ascontiguousarray(values)
    with naming(output=argument), replacing(path) as stream:
        stream.write(array_header(array))
        stream.write(array.view(np.uint8).data)  # NumPy's own write forgets why a disk takes no more
    return Written(str(path), path.stat().st_size, array.dtype.name, len(array))


def written(path: Path) -> Written:
    """Return what there is to say of a file that is not an array."""
    return Written(str(path), path.stat().st_size)


def as_json(files: list[Written]) -> list[dict[str, Any]]:
    """Return the files as ``wrote`` of a JSON object has them."""
    return [asdict(file) for file in files]
