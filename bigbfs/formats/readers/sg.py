"""GAP's serialized graph as input: opened like every graph file, known by its suffix alone."""

from __future__ import annotations

import struct

from bigbfs.formats.readers.csrbin import estimate, read
from bigbfs.formats.readers.format import Format

FORMAT = Format(
    "sg",
    "GAP's serialized graph",
    read,
    estimate,
    struct.pack("<B6q4i", 0, 4, 3, 0, 1, 3, 4, 1, 0, 2, 1),
    suffixes=(".sg",),
)
