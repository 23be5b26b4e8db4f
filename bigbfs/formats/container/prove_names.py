"""The part of ``bigbfs check`` that proves a names section: every page, every name, their order, their UTF-8."""

from __future__ import annotations

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.formats.container.passed import Passed
from bigbfs.graph import name_kernels
from bigbfs.graph.names import Names, Stretch
from bigbfs.sizes import counted


def prove(names: Names, labels: np.ndarray | None) -> Passed:
    """Check that a graph's names are different, ascend in byte order and are UTF-8, each of some bytes.

    Raises
    ------
    FormatError
        Names the page, or the name by its rank, that is wrong; or the labels are not the ranks of all names.
    """
    total, before = 0, None
    for stretch in names.stretches():
        _ascending(names, stretch, before)
        _utf8(names, stretch)
        before = stretch.name(stretch.first + len(stretch) - 1)
        total += len(stretch.data)
    if labels is not None and len(labels) and int(labels.max()) >= len(names):
        raise FormatError(f"{names.where}: labels: {int(labels.max())} is the rank of none of {len(names)} names")
    share = f", {len(names.blob) / total:.2f} of their bytes" if total else ""
    return Passed("names", f"{len(names):,} in {counted(names.pages, 'page')}{share}: different, in byte order, UTF-8")


def _ascending(names: Names, stretch: Stretch, before: bytes | None) -> None:
    place = int(name_kernels.first_descent(stretch.data, stretch.offsets, len(stretch)))
    if place < 0 and before is not None and stretch.name(stretch.first) <= before:
        place = 0
    if place >= 0:
        raise FormatError(f"{names.where}: name {stretch.first + place} does not stand behind the one before it")
    if before is None and len(stretch) and int(stretch.offsets[1]) == 0:
        raise FormatError(f"{names.where}: name 0 is empty")


def _utf8(names: Names, stretch: Stretch) -> None:
    try:
        whole = stretch.data.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        rank = stretch.first + int(np.searchsorted(stretch.offsets, error.start, side="right")) - 1
        raise FormatError(f"{names.where}: name {rank} is no UTF-8 ({error.reason})") from error
    begins = stretch.offsets[:-1][np.diff(stretch.offsets) > 0]
    if len(whole) < len(stretch.data) and bool(((stretch.data[begins] & 0xC0) == 0x80).any()):
        raise FormatError(f"{names.where}: a name of page {stretch.first} on begins inside a character")
