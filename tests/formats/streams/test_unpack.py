"""One compressed file unpacked by several threads: the same bytes and the same errors as by one, and bounded memory."""

from __future__ import annotations

import gzip
import random
import re
import threading
import zlib
from importlib import import_module
from importlib.util import find_spec

import pytest
import zstandard

from bigbfs.errors import InputError
from bigbfs.formats.readers.read import read_edges
from bigbfs.formats.streams import bgzf, decompress, units
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.streams.unpack import UnpackAhead

TEXT = b"".join(b"%d\t%d\n" % (i, i * 7919 % 10007) for i in range(30000))
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
NOISE = random.Random(1).randbytes(300_000)
MOST = 1 << 20


@pytest.fixture(params=["zlib", *(["isal.isal_zlib"] if find_spec("isal") else [])], autouse=True)
def gzip_library(request, monkeypatch):
    """What unpacks .gz: everything here holds for both (isal is optional)."""
    library = import_module(request.param)
    monkeypatch.setattr(decompress, "_gzip_library", lambda: library)


def pieces(size=50_000):
    return [TEXT[first : first + size] for first in range(0, len(TEXT), size)]


def zstd_frame(text):
    """A frame with its size and a checksum."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(text)


def unsized(text):
    """A frame that does not say how much it becomes, as pzstd writes."""
    return zstandard.ZstdCompressor(write_content_size=False).compress(text)


FILES = {
    "zst": b"".join(map(zstd_frame, pieces())),
    "pzstd": b"".join(SKIPPABLE + unsized(piece) for piece in pieces()),
    "blocks.zst": zstd_frame(TEXT) + zstd_frame(NOISE),
    "small.zst": b"".join(map(zstd_frame, pieces(300))) + zstd_frame(b""),
    "bgzf.gz": bgzf.members(TEXT) + bgzf.end(),
    "ended.gz": bgzf.members(TEXT[:70_000]) + bgzf.end() + bgzf.members(TEXT[70_000:]),
    "mixed.gz": bgzf.members(TEXT) + gzip.compress(TEXT) + bgzf.members(TEXT),
    "padded.gz": bgzf.members(TEXT) + bytes(100),
}
WHOLE = dict.fromkeys(FILES, TEXT)
WHOLE["blocks.zst"] = TEXT + NOISE
WHOLE["mixed.gz"] = 3 * TEXT


def content(path, threads, most=MOST):
    """Return (bytes, message of the error or None); ``threads`` 1 is the serial way, which the others must match."""
    found = bytearray()
    try:
        with Source(path) as source:
            source.peek(100)
            source.unpack_ahead(threads, most)
            while piece := source.read(1000):
                found += piece
    except InputError as error:
        return bytes(found), str(error)
    return bytes(found), None


def without_count(message):
    return message and re.sub(r"[0-9,]+ bytes could", "", message)


@pytest.fixture
def unpacked(monkeypatch):
    """Counts the units that threads unpacked."""
    count = []
    finish = UnpackAhead.next

    def counting(self, read):
        output = finish(self, read)
        count.append(output is not None)
        return output

    monkeypatch.setattr(UnpackAhead, "next", counting)
    return count


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("name", FILES)
def test_the_same_bytes_as_by_one_thread(tmp_path, unpacked, name, threads):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    assert content(path, 1) == (WHOLE[name], None)
    assert not unpacked
    assert content(path, threads) == (WHOLE[name], None)
    assert sum(unpacked) >= 1


def test_ordinary_files_stay_on_one_thread(tmp_path, unpacked):
    for name, data in {"a.gz": gzip.compress(TEXT), "b.gz": gzip.compress(TEXT) * 3}.items():
        (tmp_path / name).write_bytes(data)
        assert content(tmp_path / name, 4) == content(tmp_path / name, 1)
    assert not any(unpacked)


@pytest.mark.covered
@pytest.mark.parametrize("name", FILES)
def test_cut_and_damaged_files_give_the_same_bytes_and_errors(tmp_path, name):
    data = FILES[name]
    chance = random.Random(name)
    path = tmp_path / name
    seen = set()
    for _ in range(25):
        changed = bytearray(data[: chance.randrange(20, len(data))] if chance.random() < 0.4 else data)
        for _ in range(chance.randrange(1, 3)):
            changed[chance.randrange(4, len(changed))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        (expected, error), (found, other) = content(path, 1), content(path, 3)
        # how much comes before an error depends on how the bytes were fed to the library
        assert without_count(other) == without_count(error)
        assert found.startswith(expected) or expected.startswith(found)
        assert error or found == expected
        seen.add(error is None)
    assert False in seen


def test_sizes_that_lie_are_not_believed(tmp_path):
    """A frame is bounded by its blocks, a member by what BGZF allows, whatever they declare."""
    frame = bytearray(zstandard.ZstdCompressor().compress(bytes(1000)))
    room, unpack = memoryview(bytearray(1 << 18)), units.ZstdUnpacker(2**31)
    assert frame[4] >> 6 == 1 and unpack(bytes(frame), units.zstd_unit(frame + bytes(18), MOST), room) == 1000
    frame[5:7] = b"\xff\xff"
    with pytest.raises((ValueError, zstandard.ZstdError)):
        unpack(bytes(frame), units.zstd_unit(frame + bytes(18), MOST), room)
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = squeezer.compress(bytes(5_000_000)) + squeezer.flush()
    head = bytes.fromhex("1f8b08040000000000ff060042430200")
    member = head + (len(body) + 25).to_bytes(2, "little") + body
    member += zlib.crc32(bytes(5_000_000)).to_bytes(4, "little") + (5_000_000).to_bytes(4, "little")
    with pytest.raises(ValueError, match="does not end"):
        units.unpack_bgzf(member, units.bgzf_unit(bytearray(member), MOST), memoryview(bytearray(1 << 20)), zlib)
    path = tmp_path / "large.gz"
    path.write_bytes(bgzf.members(TEXT) + member)
    assert content(path, 3) == (TEXT + bytes(5_000_000), None)


def test_a_frame_that_is_too_large_or_has_too_many_blocks_is_no_unit():
    large = bytearray(zstd_frame(random.Random(2).randbytes(400_000)))
    assert units.zstd_unit(large, 1 << 19).bound <= 1 << 19
    assert units.zstd_unit(large, 1 << 18) is None
    empty_blocks = bytearray(b"\x28\xb5\x2f\xfd\x00\x58" + bytes(3) * 100_000)
    assert units.zstd_unit(empty_blocks, MOST) is None
    with pytest.raises(units.Incomplete):
        units.zstd_unit(large[:-1], 1 << 19)


def test_no_more_is_held_than_allowed():
    """Also of skippable and empty frames, which become nothing."""
    frames = [zstd_frame(bytes(50_000)), zstd_frame(b""), SKIPPABLE]
    for frame in frames:
        release = threading.Event()

        def unpack(data, unit, target, release=release):
            release.wait(10)
            return units.ZstdUnpacker(2**31)(data, unit, target)

        stream = bytearray(frame * 5000)

        def read(count, stream=stream):
            data = bytes(stream[:count])
            del stream[:count]
            return data

        ahead = UnpackAhead(units.zstd_unit, unpack, 2, 1 << 20)
        threading.Timer(0.05, release.set).start()
        ahead.next(read)
        assert len(ahead._running) <= 1 + (1 << 20) // (1 << 12)
        assert sum(len(running.buffer) for running in ahead._running) <= 1 << 20
        ahead.close()


def test_without_threads_the_stream_is_read_serially(tmp_path, monkeypatch, unpacked):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    path = tmp_path / "a.zst"
    path.write_bytes(FILES["zst"])
    assert content(path, 3) == (TEXT, None)
    assert unpacked == [False]


def test_small_units_need_no_thread(tmp_path, monkeypatch, unpacked):
    monkeypatch.setattr(threading.Thread, "start", None)
    path = tmp_path / "a.zst"
    path.write_bytes(FILES["small.zst"])
    assert content(path, 3) == (TEXT, None)
    assert sum(unpacked) > 1000


def test_threads_end_with_the_source(tmp_path):
    path = tmp_path / "graph.txt.zst"
    path.write_bytes(FILES["zst"] + b"something else")
    before = threading.active_count()
    for _ in range(3):
        with pytest.raises(InputError, match="something else after the end"):
            read_edges(path, threads=3)
    path.write_bytes(zstd_frame(b"1 2\n" * 9) + b"".join(map(zstd_frame, pieces())))
    with Source(path) as source:
        source.unpack_ahead(3, MOST)
        source.read(100_000)
    assert threading.active_count() == before


def test_bgzf_is_what_its_readers_expect():
    assert bgzf.end().hex() == "1f8b08040000000000ff0600424302001b0003000000000000000000"
    noise = random.Random(3).randbytes(200_000)
    packed = bgzf.members(noise)
    assert gzip.decompress(packed) == noise
    assert units.bgzf_unit(bytearray(packed), 1 << 30).length == len(packed)
