"""A source cut into blocks of whole lines, the next one read and decompressed while the last is being tokenized.

Two buffers take turns, so that memory is bounded by the block size whatever the file is (and by its longest line).
Lines end in LF or CRLF, or in CR alone where the first 64 KiB know no other end.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from types import TracebackType

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.tokenizer import PADDING
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.tables.csvfile import refuse_utf16
from bigbfs.sizes import format_size

BLOCK_BYTES = 8 << 20

LONGEST_LINE = 16 << 20
"""Bytes of a line, at least, that is taken for no line at all; a row of METIS may be longer."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 1 << 16


def _ends_in_returns(head: bytes) -> bool:
    """Return whether lines end in a carriage return alone, as on old Macs, as far as the beginning of a text goes."""
    inside = head if len(head) < _HEAD_BYTES else head[:-1]  # a line feed may come right behind the last byte
    return b"\r" in inside and b"\n" not in head


class Block:
    """Whole lines, ``buffer[start:stop]`` (uint8), each ended by a line feed, and ``PADDING`` bytes after them.

    Attributes
    ----------
    lines_before
        Lines of the file before ``start``.
    bytes_before
        Decompressed bytes of the file before ``buffer[0]``.
    """

    def __init__(self, buffer: np.ndarray, stop: int, bytes_before: int) -> None:
        self.buffer, self.start, self.stop = buffer, 0, stop
        self.lines_before = 0
        self.bytes_before = bytes_before

    def line_number(self, position: int) -> int:
        """Return the number (1-based, in the file) of the line that ``buffer[position]`` is in."""
        return self.lines_before + int(np.count_nonzero(self.buffer[self.start : position] == 10)) + 1

    def line(self, position: int) -> bytes:
        """Return the line that starts at ``buffer[position]``, its end included."""
        width = 256
        while (end := self.buffer[position : position + width].tobytes().find(b"\n")) < 0:
            width *= 8
        return self.buffer[position : position + end + 1].tobytes()


class _Stopped(Exception):
    """Nobody takes the blocks any more."""


class BlockReader:
    """Iterates over the blocks of a source; a context manager (it owns a thread).

    Parameters
    ----------
    source
        What to read.
    block_bytes
        Bytes of a block; a longer line makes its block longer.
    progress
        Called with the bytes newly read from the file (compressed ones where it is compressed).
    memory
        Bytes that the edges read may take; None: any.
    threads
        Threads that tokenize; None: one for each CPU that this process may use.
    edges
        Where the edges read go; None: to a new buffer.
    longest_line
        Bytes after which a line without an end is refused: it would have to be held whole.

    Raises
    ------
    InputError
        The text is UTF-16, looks binary (a NUL in the first 64 KiB), or has a line that is too long.
    """

    def __init__(
        self,
        source: Source,
        block_bytes: int | None = None,
        progress: Callable[[int], object] | None = None,
        *,
        memory: int | None = None,
        threads: int | None = None,
        edges: EdgeBuffer | None = None,
        longest_line: int = LONGEST_LINE,
    ) -> None:
        self.source = source
        self._longest = longest_line
        self.edges = EdgeBuffer(source.name, memory) if edges is None else edges
        self.threads = threads
        self._block_bytes = block_bytes or BLOCK_BYTES
        self._progress = progress
        self._reported = 0
        self._lines = 0
        self._current: Block | None = None
        self._blocks: queue.Queue[Block | BaseException | None] = queue.Queue()
        self._wanted = threading.Semaphore(1)
        self._stopping = self._ended = False
        # a daemon: a thread that waits for standard input must not keep an interrupted process alive
        self._thread = threading.Thread(target=self._produce, name="bigbfs-input", daemon=True)
        self._thread.start()

    @property
    def name(self) -> str:
        """Name of the source for messages."""
        return self.source.name

    def _produce(self) -> None:
        try:
            for block in self._cut():
                self._blocks.put(block)
                self._wanted.acquire()
                if self._stopping:
                    return
            self._blocks.put(None)
        except BaseException as error:
            self._blocks.put(error)

    def _cut(self) -> Iterator[Block]:
        """Read blocks and cut them after their last line end."""
        buffers = [bytearray(self._block_bytes + PADDING), bytearray(self._block_bytes + PADDING)]
        head = self.source.peek(_HEAD_BYTES)
        self._check_head(head)
        returns = _ends_in_returns(head)
        carry = b""
        offset = turn = 0
        while True:
            buffer = buffers[turn]
            if len(buffer) - PADDING - len(carry) < max(1, self._block_bytes // 2):
                buffer = buffers[turn] = bytearray(2 * len(carry) + self._block_bytes + PADDING)
            buffer[: len(carry)] = carry
            room = len(buffer) - PADDING
            stop = len(carry) + self.source.readinto(memoryview(buffer)[len(carry) : room])
            ended = stop < room
            if returns:
                view = np.frombuffer(buffer, np.uint8)[len(carry) : stop]
                view[view == 13] = 10
            if ended and stop and buffer[stop - 1] != 10:
                buffer[stop] = 10
                stop += 1
            cut = stop if ended else buffer.rfind(b"\n", 0, stop) + 1
            if stop - cut > max(self._longest, self._block_bytes):
                raise InputError(
                    f"{self.name}: the line that begins at byte {offset + cut} does not end within "
                    f"{format_size(stop - cut)}",
                    remedies=(("format", None), "unpack the file first"),
                )
            carry = bytes(memoryview(buffer)[cut:stop])
            if cut:
                yield Block(np.frombuffer(buffer, np.uint8), cut, offset)
                offset += cut
                turn = 1 - turn
            if ended:
                return

    def current(self) -> Block | None:
        """Return the block in hand, taking the next one where it is used up; None at the end of the file."""
        while self._current is None or self._current.start >= self._current.stop:
            block = None if self._ended else self._take()
            if block is None:
                self._ended = True
                return None
            self._current = block
        return self._current

    def _take(self) -> Block | None:
        first = self._current is None
        if not first:
            self._wanted.release()
        found = self._blocks.get()
        if isinstance(found, BaseException):
            raise found
        if self._progress is not None:
            self._progress(self.source.consumed - self._reported)
            self._reported = self.source.consumed
        if found is not None:
            found.lines_before = self._lines
            if first and found.buffer[:3].tobytes() == _BYTE_ORDER_MARK:
                found.start = len(_BYTE_ORDER_MARK)
        return found

    def _check_head(self, head: bytes) -> None:
        refuse_utf16(self.source, head)
        if (byte := head.find(0)) >= 0:
            beside = ["put its .properties beside it if it is a web graph"] if self.name.endswith(".graph") else []
            raise InputError(
                f"{self.name}: looks binary (byte {byte} is NUL) where text is expected",
                remedies=(("format", None), "unpack it first", *beside),
            )

    def lines_passed(self, lines: int) -> None:
        """Say that ``lines`` lines of the file come before the source begins."""
        self._lines = lines

    def used(self, block: Block, lines: int) -> None:
        """Mark all ``lines`` lines of the block as read."""
        self._lines = block.lines_before + lines
        block.lines_before = self._lines
        block.start = block.stop

    def next_line(self) -> tuple[int, bytes] | None:
        """Take one line: return its number and its text without the line end; None at the end of the file."""
        block = self.current()
        if block is None:
            return None
        line = block.line(block.start)
        block.start += len(line)
        block.lines_before += 1
        self._lines = block.lines_before
        return block.lines_before, line.rstrip(b"\r\n")

    def __enter__(self) -> BlockReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping = True
        self._wanted.release()
        if self.source.size is not None:
            self._thread.join()  # so that nobody closes the file under it; a pipe may keep it waiting for ever
