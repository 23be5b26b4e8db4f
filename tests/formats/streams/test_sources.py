"""Sources and blocks: every compression, cut and damaged streams, block borders anywhere, files that cannot be read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import threading
import time
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bigbfs.errors import FileAccessError, InputError
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.read import read_edges
from bigbfs.formats.streams import decompress
from bigbfs.formats.streams.sources import Source

CODECS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}
TEXT = b"".join(b"%d\t%d\n" % (i, i * 7919 % 10007) for i in range(20000))


GZIP_LIBRARIES = ["zlib", *(["isal.isal_zlib"] if find_spec("isal") else [])]


@pytest.fixture(params=GZIP_LIBRARIES, autouse=True)
def gzip_library(request, monkeypatch):
    """What unpacks .gz: everything here holds for both (isal is optional)."""
    library = import_module(request.param)
    monkeypatch.setattr(decompress, "_gzip_library", lambda: library)


def content(path) -> bytes:
    with Source(path) as source:
        return source.read(1 << 30)


def blocks(path, size) -> list[bytes]:
    found = []
    with Source(path) as source, BlockReader(source, size) as reader:
        while (block := reader.current()) is not None:
            lines = block.buffer[block.start : block.stop].tobytes()
            found.append(lines)
            reader.used(block, lines.count(b"\n"))
    return found


@pytest.mark.parametrize("suffix", CODECS)
def test_compressed_streams_of_one_and_of_several_members(tmp_path, suffix):
    pack = CODECS[suffix]
    cases = {
        "one": pack(TEXT),
        "several": pack(TEXT[:5000]) + pack(b"") + pack(TEXT[5000:]),
        "padded": pack(TEXT) + bytes(512),
    }
    for name, packed in cases.items():
        file = tmp_path / f"{name}.{suffix}"
        file.write_bytes(packed)
        assert content(file) == TEXT, name
        with Source(file) as source:
            source.read(1 << 30)
            assert source.consumed == len(packed)


def test_a_stream_without_line_ends_is_refused_soon():
    """Of /dev/zero no end would ever come; the same bytes without a NUL are held up to the longest line."""
    with Source("/dev/zero") as source, BlockReader(source) as reader:
        with pytest.raises(InputError, match=r"looks binary .byte 0 is NUL"):
            reader.current()
        assert source.consumed < 20 << 20


def test_a_line_that_does_not_end_is_refused(tmp_path):
    file = tmp_path / "g.txt"
    file.write_bytes(b"1 2\n" + b"7" * 3000)
    with Source(file) as source, BlockReader(source, 100, longest_line=3001) as reader:
        while (block := reader.current()) is not None:
            reader.used(block, 1)
    with Source(file) as source, BlockReader(source, 100, longest_line=1000) as reader:
        reader.used(reader.current(), 1)
        with pytest.raises(InputError, match=r"line that begins at byte 4 does not end within .* KiB"):
            reader.current()


@pytest.mark.parametrize("suffix", CODECS)
def test_compression_is_told_by_content_not_by_name(tmp_path, suffix):
    file = tmp_path / "graph.txt"
    file.write_bytes(CODECS[suffix](TEXT))
    assert content(file) == TEXT
    plain = tmp_path / f"graph.txt.{suffix}"
    plain.write_bytes(TEXT)
    assert content(plain) == TEXT


@pytest.mark.covered
@pytest.mark.parametrize("suffix", CODECS)
def test_a_stream_cut_anywhere_is_refused_with_its_name_and_good_bytes(tmp_path, suffix):
    packed = CODECS[suffix](TEXT)
    file = tmp_path / f"cut.txt.{suffix}"
    random.seed(suffix)
    for length in {20, len(packed) - 1, len(packed) - 5, *random.sample(range(20, len(packed)), 12)}:
        file.write_bytes(packed[:length])
        with pytest.raises(InputError, match=rf"cut\.txt\.{suffix}.*bytes could be unpacked before"):
            read_edges(file)


@pytest.mark.parametrize("suffix", CODECS)
def test_damaged_bytes_never_pass_as_other_text(tmp_path, suffix):
    pack = zstandard.ZstdCompressor(write_checksum=True).compress if suffix == "zst" else CODECS[suffix]
    packed = pack(TEXT)
    file = tmp_path / f"damaged.{suffix}"
    random.seed(suffix)
    for position in random.sample(range(12, len(packed)), 15):
        bad = bytearray(packed)
        bad[position] ^= 1 << random.randrange(8)
        file.write_bytes(bad)
        try:
            assert content(file) == TEXT  # a header field that does not matter, or padding bits
        except InputError as error:
            assert str(file) in str(error)


@pytest.mark.parametrize("suffix", CODECS)
def test_something_else_after_the_stream_is_refused(tmp_path, suffix):
    file = tmp_path / f"joined.{suffix}"
    file.write_bytes(CODECS[suffix](TEXT) + b"1 2\n3 4\n5 6\n7 8\n")
    with pytest.raises(InputError, match="something else after the end"):
        content(file)


def test_gzip_headers_with_everything(tmp_path):
    """isal took those with an extra field and a name, as dictzip writes them, for damaged when they came in pieces."""
    file = tmp_path / "graph.txt.gz"
    fields = {4: b"\x04\x00abcd", 8: b"a name\0", 16: b"a comment\0"}
    body = gzip.compress(TEXT)[10:]
    for flags in range(0, 32, 4):
        header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + b"".join(fields[bit] for bit in fields if flags & bit)
        file.write_bytes(2 * (header + body))
        assert content(file) == 2 * TEXT, flags


def test_zstd_skippable_frames(tmp_path):
    file = tmp_path / "skippable.zst"
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    file.write_bytes(skippable + zstandard.compress(TEXT) + skippable)
    assert content(file) == TEXT


def test_output_far_larger_than_input_comes_in_bounded_pieces(tmp_path):
    for suffix, pack in CODECS.items():
        file = tmp_path / f"large.{suffix}"
        file.write_bytes(pack(bytes(50_000_000)))
        with Source(file) as source:
            target = bytearray(1000)
            assert source.readinto(memoryview(target)) == 1000
            # zstd cannot bound what 4 KiB of input become; the others hand out a piece of 1 MiB
            assert source._decompressor.produced <= (1 << 20 if suffix != "zst" else 1 << 27)


@pytest.mark.parametrize(("head", "kind"), [(b"\x1f\x9d\x90abc", "compress"), (b"\x04\x22\x4d\x18abc", "LZ4")])
def test_compressions_that_are_not_read_are_named(tmp_path, head, kind):
    file = tmp_path / "graph.txt"
    file.write_bytes(head * 10)
    with pytest.raises(InputError, match=f"graph.txt is compressed with {kind}"):
        Source(file)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileAccessError, match=r"no\.txt: cannot read: No such file"):
        Source(tmp_path / "no.txt")
    with pytest.raises(FileAccessError, match="it is a folder"):
        Source(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(FileAccessError, match="symbolic links"):
        Source(loop)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission(tmp_path):
    file = tmp_path / "secret.txt"
    file.write_text("1 2\n")
    file.chmod(0)
    with pytest.raises(FileAccessError, match="you may not read it"):
        Source(file)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch, pack):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pack(b"1 2\n3 4\n"))))
    edges = read_edges("-")
    assert edges.src.tolist() == [1, 3]
    assert edges.dst.tolist() == [2, 4]


def test_an_error_on_standard_input_says_so(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 2\nx\n")))
    with pytest.raises(InputError, match=r"^standard input: line 2: 'x'"):
        read_edges("-")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(FileAccessError, match="standard input"):
        read_edges("-")


def test_a_non_blocking_standard_input_is_waited_for(monkeypatch):
    end, start = os.pipe()
    os.set_blocking(end, False)

    def write():
        for part in (b"1 2\n3", b" 4\n" + b"5 6\n" * 10000):
            time.sleep(0.05)
            os.write(start, part)
        os.close(start)

    writer = threading.Thread(target=write)
    with os.fdopen(end, "r") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        writer.start()
        edges = read_edges("-")
        writer.join()
    assert edges.src[:3].tolist() == [1, 3, 5]
    assert len(edges.src) == 10_002


def test_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(TEXT,))
    writer.start()
    edges = read_edges(pipe)
    writer.join()
    assert len(edges.src) == 20000


def test_peek_takes_nothing(tmp_path):
    file = tmp_path / "graph.txt.gz"
    file.write_bytes(gzip.compress(TEXT))
    with Source(file) as source:
        assert source.peek(10) == TEXT[:10]
        assert source.peek(5000) == TEXT[:5000]
        assert source.read(3) + source.read(len(TEXT)) == TEXT
        assert source.peek(1) == b""


def test_seekable_is_the_file_itself_or_a_copy_that_goes_away(tmp_path):
    file = tmp_path / "plain"
    file.write_bytes(TEXT)
    with Source(file) as source, source.seekable() as (stream, path):
        assert (stream.read(), path) == (TEXT, file)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(TEXT))
    with Source(packed) as source, source.seekable() as (stream, path):
        assert stream.read() == path.read_bytes() == TEXT
    assert not path.exists()


@given(
    lines=st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"").replace(b"\0", b"")), max_size=30),
    size=st.integers(1, 40),
    ended=st.booleans(),
)
def test_blocks_are_whole_lines_that_add_up_to_the_text(tmp_path, lines, size, ended):
    text = b"a" + b"\n".join(lines) + (b"\n" if ended else b"")
    file = tmp_path / "graph"
    file.write_bytes(text)
    found = blocks(file, size)
    assert all(block.endswith(b"\n") for block in found)
    assert b"".join(found) == (text if text.endswith(b"\n") else text + b"\n")


def test_lines_are_numbered_across_blocks(tmp_path):
    file = tmp_path / "graph"
    file.write_bytes(b"one\ntwo\n\nfour\nfive")
    for size in (1, 5, 100):
        with Source(file) as source, BlockReader(source, size) as reader:
            assert reader.next_line() == (1, b"one")
            assert reader.next_line() == (2, b"two")
            block = reader.current()
            assert block.line_number(block.start) == 3
            assert [reader.next_line() for _ in range(4)] == [(3, b""), (4, b"four"), (5, b"five"), None]


def test_progress_adds_up_to_the_file(tmp_path):
    file = tmp_path / "graph.txt.gz"
    file.write_bytes(gzip.compress(TEXT))
    seen = []
    read_edges(file, progress=seen.append)
    assert sum(seen) == file.stat().st_size


def test_no_thread_is_left_after_an_error(tmp_path):
    file = tmp_path / "graph.txt"
    file.write_bytes(b"x\n" + TEXT * 200)
    before = threading.active_count()
    for _ in range(5):
        with pytest.raises(InputError, match="line 1"):
            read_edges(file)
    assert threading.active_count() == before


def test_byte_order_marks(tmp_path):
    file = tmp_path / "graph.txt"
    file.write_bytes(b"\xef\xbb\xbf1 2\n")
    assert read_edges(file).src.tolist() == [1]
    for encoding in ("utf-16-le", "utf-16-be"):
        file.write_bytes(("\ufeff" + "1 2\n" * 9).encode(encoding))
        with pytest.raises(InputError, match="UTF-16"):
            read_edges(file)


def test_a_line_longer_than_the_block(tmp_path):
    file = tmp_path / "graph.txt"
    file.write_bytes(b"1 2 " + b"x" * 100_000 + b"\n3 4\n")
    assert b"".join(blocks(file, 64)) == file.read_bytes()
    assert np.array_equal(read_edges(file).dst, [2, 4])
