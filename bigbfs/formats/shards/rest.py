"""What is of no row of a graph in shards, mapped: names, origin, and the header of the whole graph file."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from bigbfs.errors import FormatError
from bigbfs.formats.container import layout
from bigbfs.formats.container.named import require_names
from bigbfs.formats.shards.files import PAGE
from bigbfs.formats.shards.layout import identity
from bigbfs.formats.shards.manifest import Manifest, open_shard
from bigbfs.formats.shards.pieces import ADVICE, addresses_for, map_shard, whole_pages
from bigbfs.graph.names import Names


class Rest:
    """The rest of a graph's shards, mapped: what is of no row.

    Attributes
    ----------
    names
        Names of the vertices, in place; None where they have none.
    header, sections
        Of the whole graph file.
    provenance
        What the file says of its origin; None: nothing.

    Raises
    ------
    FormatError
        It is missing, damaged or of another graph. Names the file.
    FileAccessError
        It cannot be read or mapped.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        size = whole_pages(manifest.rest.bytes)
        self._addresses = addresses_for(size)
        self.names: Names | None = None
        self.provenance: Any = None
        try:
            with open_shard(folder, manifest, len(manifest.shards)) as shard:
                page, path = shard.whole(PAGE).tobytes(), shard.path
                if identity(page).hex() != manifest.graph["identity"]:
                    raise FormatError(f"{path}: its section {PAGE} is of another graph{ADVICE}")
                self.header, self.sections = layout.unpack(page, manifest.graph["file_bytes"], path)
                piece = map_shard(self._addresses, 0, size, shard)
                content = shard.whole("provenance").tobytes() if "provenance" in shard.sections else b"null"
            with suppress(ValueError):  # of another program
                self.provenance = json.loads(content)
            for name in (each for each in layout.NAMES if each in self.sections):
                here, there = self.sections[name], piece.sections.get(name)
                if there is None or (there.dtype, there.count) != (here.dtype, here.count):
                    raise FormatError(f"{path}: section {name} is missing, or not as long as it was{ADVICE}")
            if layout.NAMES[0] in self.sections:
                blob, ptr, firsts = (piece.array(name) for name in layout.NAMES)
                require_names(blob, ptr, firsts, self.header.n, path)
                self.names = Names(blob, ptr, firsts, str(path))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Unmap the file, now or when the last array is gone."""
        with suppress(BufferError):
            self._addresses.close()
