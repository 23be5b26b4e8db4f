"""A graph file that is written section by section, in several runs if need be, and gets its name when it is whole.

It lies beside its target under the name ``.TARGET.joining``, locked while its process lives. Behind its last byte
stands a journal: of which graph it is, which shards are in it, and how far each section has come. It is written when
those bytes are on the disk; one that is torn or of another graph counts for nothing. An error removes the file; a kill
or an interrupt leaves it, for the next run.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from contextlib import suppress
from pathlib import Path

from bigbfs.errors import UsageError
from bigbfs.formats.atomic import access_error, behind_link, publish
from bigbfs.formats.container.checksum import RunningChecksum

NOTE_EVERY = 256 << 20
"""Bytes after which the journal is written again."""

_JOURNAL = 1 << 16
"""Bytes that a journal has at most: 62 sections and 100 bytes for each would do."""


class UnderWay:
    """The file under way; a context manager.

    Parameters
    ----------
    target
        The name that it gets.
    identity
        Of the graph.
    names
        Sections, of which those that begin with rows come first and in step.
    total
        Bytes of the whole file.

    Attributes
    ----------
    parts
        Shards that an earlier run has written.

    Raises
    ------
    UsageError
        Another process writes this file.
    FileAccessError
        It cannot be made.
    """

    def __init__(self, target: Path, identity: str, names: list[str], total: int) -> None:
        self._target = behind_link(target)
        self.path = self._target.with_name(f".{self._target.name}.joining")
        self._identity, self._total = identity, total
        self.parts, self._noted = 0, 0
        self._sums = {name: RunningChecksum() for name in names}
        try:
            self._handle = self._locked()
        except OSError as error:
            if isinstance(error, UsageError):
                raise
            raise access_error(self.path, error, "write") from error
        self._take_up()
        self._noted = self.reached

    def _locked(self) -> int:
        """Open and lock the file; one that loses its name between the two is another's that has come to its end."""
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                raise UsageError(f"{self._target}: another process joins shards to it; wait for it") from None
            except OSError:
                return handle  # a file system without locks
            with suppress(OSError):
                if os.path.samestat(self.path.stat(), os.fstat(handle)):
                    return handle
            os.close(handle)

    def _take_up(self) -> None:
        """Go on where the journal says, or from the beginning."""
        raw = os.pread(self._handle, _JOURNAL, self._total)
        try:
            crc, _, text = raw.rstrip(b"\0").partition(b" ")
            known = json.loads(text)
            good = int(crc, 16) == zlib.crc32(text) and known["identity"] == self._identity
            sums = {name: RunningChecksum(*known["sums"][name]) for name in self._sums} if good else {}
        except (ValueError, KeyError, TypeError):
            good, sums = False, {}
        if good:
            self._sums, self.parts = sums, int(known["parts"])
        else:
            os.ftruncate(self._handle, 0)

    @property
    def reached(self) -> int:
        """Bytes of all sections so far."""
        return sum(sums.length for sums in self._sums.values())

    def bytes_there(self) -> int:
        """Return the bytes that the file takes on the disk already."""
        return min(self._total, os.fstat(self._handle).st_blocks * 512)

    def length(self, name: str) -> int:
        """Return the bytes of a section so far."""
        return self._sums[name].length

    def value(self, name: str) -> int:
        """Return the checksum of a section so far."""
        return self._sums[name].value()

    def append(self, name: str, data: memoryview, offset: int) -> None:
        """Append bytes to a section that begins at the byte ``offset`` of the file.

        Raises
        ------
        FileAccessError
            They cannot be written.
        """
        sums = self._sums[name]
        place = offset + sums.length
        sums.add(data)
        try:
            self._write(data, place)
        except OSError as error:
            raise access_error(self._target, error, "write") from error

    def note(self, parts: int) -> None:
        """Say that so many shards are in the file: a later run begins behind them. Not after every small one.

        Raises
        ------
        FileAccessError
            The disk does not take it.
        """
        if self.reached - self._noted < NOTE_EVERY:
            return
        sums = {name: each.state for name, each in self._sums.items()}
        text = json.dumps({"identity": self._identity, "parts": parts, "sums": sums}).encode()
        try:
            os.fdatasync(self._handle)
            self._write(memoryview(f"{zlib.crc32(text):08x} ".encode() + text.ljust(_JOURNAL // 2, b"\0")), self._total)
            os.fdatasync(self._handle)
        except OSError as error:
            raise access_error(self._target, error, "write") from error
        self._noted = self.reached

    def finish(self, page: bytes) -> None:
        """Write the first page, and give the file its name.

        Raises
        ------
        FileAccessError
            It cannot be written or renamed.
        """
        try:
            os.ftruncate(self._handle, self._total)
            self._write(memoryview(page), 0)
            publish(self._handle, self.path, self._target)
        except OSError as error:
            raise access_error(self._target, error, "write") from error

    def _write(self, data: memoryview, place: int) -> None:
        while data:
            done = os.pwrite(self._handle, data, place)
            data, place = data[done:], place + done

    def __enter__(self) -> UnderWay:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None and issubclass(kind, Exception):
            with suppress(OSError):
                self.path.unlink()
        os.close(self._handle)
