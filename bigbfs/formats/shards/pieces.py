"""A shard as memory: mapped at an address of our choice, into a stretch of addresses that was set aside."""

from __future__ import annotations

import ctypes
import mmap
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bigbfs.errors import FileAccessError, FormatError
from bigbfs.formats.atomic import access_error
from bigbfs.formats.container.checksum import checksum
from bigbfs.formats.container.layout import Section
from bigbfs.formats.shards.files import Shard, damaged
from bigbfs.formats.shards.layout import ShardHeader
from bigbfs.formats.shards.manifest import NAME
from bigbfs.graph import rows, structure, varint
from bigbfs.graph.adjacency import CompressedAdjacency

_FIXED = 0x10
"""MAP_FIXED: at this address and no other; Python has no name for it."""

ADVICE = "; fetch this shard again, or split the graph again"


@dataclass(frozen=True)
class Piece:
    """A shard that is mapped.

    Attributes
    ----------
    path, header, sections
        Its file, its header and its sections.
    addresses, place
        Where it lies: its first byte is byte ``place`` there.
    """

    path: Path
    header: ShardHeader
    sections: dict[str, Section]
    addresses: mmap.mmap
    place: int

    def array(self, name: str) -> np.ndarray:
        """Return a section, in place and read-only."""
        section = self.sections[name]
        if section.count == 0:
            return np.zeros(0, section.dtype)
        return np.frombuffer(self.addresses, section.dtype, section.count, self.place + section.offset)

    def item(self, name: str) -> int:
        """Return with which item a section begins in an array that begins where the addresses do."""
        return (self.place + self.sections[name].offset) // np.dtype(self.sections[name].dtype).itemsize

    def require_checksum(self, name: str) -> None:
        """Hold a section against its checksum.

        Raises
        ------
        FormatError
            Names the shard, the section and its bytes.
        """
        section = self.sections[name]
        if checksum(self.array(name)) != section.checksum:
            raise damaged(self.path, self.header, name, section)

    def require_offsets(self, prefix: str) -> int:
        """Check offsets and tables of these rows, not the rows; return the edges.

        Raises
        ------
        FormatError
            Names the shard and the first place that is wrong.
        """
        name = self._name(prefix)
        indptr = self.array(prefix + "indptr")
        if self.header.graph.codec != "plain":
            adjacency = self._compressed(prefix)
            structure.checked_edge_offsets(adjacency, name)
            return adjacency.m
        edges = self.sections[prefix + "indices"].count
        place = structure.first_descent(indptr)
        if place is not None or (int(indptr[0]), int(indptr[-1])) != (0, edges):
            raise FormatError(f"{name}: corrupted: indptr does not ascend from 0 to {edges}{ADVICE}")
        return edges

    def require_valid(self, prefix: str, n: int) -> int:
        """Check that no kernel can leave the arrays of these rows, and that every id is one of ``n``; return the edges.

        Raises
        ------
        FormatError
            Names the shard and the first place that is wrong.
        """
        name, edges = self._name(prefix), self.require_offsets(prefix)
        if self.header.graph.codec == "plain":
            indices = self.array(prefix + "indices")
            found = rows.scan(self.array(prefix + "indptr"), indices, n)
            if found.bad_edge >= 0:
                bad = f"indices[{found.bad_edge}] = {int(indices[found.bad_edge])} is no vertex"
                raise FormatError(f"{name}: corrupted: {bad} (they are 0 to {n - 1}){ADVICE}")
            if found.unsorted_row >= 0:
                row = self.header.first_row + found.unsorted_row
                raise FormatError(f"{name}: corrupted: row {row} does not ascend{ADVICE}")
        else:
            varint.require_ids(self._compressed(prefix), name, n)
        return edges

    def _name(self, prefix: str) -> str:
        return f"{self.path}{' (in-neighbours)' if prefix else ''}"

    def _compressed(self, prefix: str) -> CompressedAdjacency:
        """Return these rows as a graph of their own."""
        hubs = self.array(prefix + "hubs")
        local = hubs - hubs.dtype.type(self.header.first_row)
        names = ("indptr", "degree", "blob", "hub_ptr", "block_ptr")
        indptr, degree, blob, hub_ptr, block_ptr = (self.array(prefix + each) for each in names)
        return CompressedAdjacency(indptr, degree, blob, local, hub_ptr, block_ptr)


def map_shard(addresses: mmap.mmap, place: int, size: int, shard: Shard) -> Piece:
    """Map a whole shard from byte ``place`` of ``addresses`` on, where there are ``size`` bytes for it.

    Raises
    ------
    FormatError
        The manifest has another length.
    FileAccessError
        It cannot be mapped.
    """
    length = shard.header.graph.file_bytes
    if whole_pages(length) != size:
        raise FormatError(f"{shard.path}: has {length} bytes, and {NAME} says otherwise{ADVICE}")
    wanted = np.frombuffer(addresses, np.uint8).__array_interface__["data"][0] + place
    map_fixed(shard.path, shard.handle, wanted, length, 0)
    return Piece(shard.path, shard.header, shard.sections, addresses, place)


def map_fixed(path: Path, handle: int, address: int, length: int, offset: int) -> None:
    """Map ``length`` bytes of an open file, from byte ``offset`` on, at ``address``, over what is there.

    Raises
    ------
    FileAccessError
        It cannot be mapped.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    if libc.mmap(address, length, mmap.PROT_READ, mmap.MAP_SHARED | _FIXED, handle, offset) != address:
        raise access_error(path, OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno())), "map")


def whole_pages(length: int) -> int:
    """Return the bytes of the pages that ``length`` bytes take."""
    return -(-length // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY


def empty(count: int, dtype: np.dtype) -> np.ndarray:
    """Return ``count`` zeros that take memory where they are written to, and nowhere else."""
    return np.frombuffer(addresses_for(count * dtype.itemsize, mmap.PROT_READ | mmap.PROT_WRITE), dtype, count)


def addresses_for(nbytes: int, access: int = mmap.PROT_READ) -> mmap.mmap:
    """Return addresses without memory; what is mapped over them goes when they go.

    Raises
    ------
    FileAccessError
        The process may not have so many.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    try:
        return mmap.mmap(-1, max(nbytes, 1), flags=flags, prot=access)
    except OSError as error:
        raise FileAccessError(f"cannot set aside {nbytes:,} bytes of addresses for shards: {error.strerror}") from error
