"""Header and section table: packing, and refusal of values that cannot be true, with their checksums made right."""

import struct
import zlib
from dataclasses import replace

import pytest

from bigbfs.errors import FormatError
from bigbfs.formats.container import layout
from bigbfs.formats.container.layout import Header, Section

FLAGS = frozenset({"symmetric", "sorted", "deduplicated", "loops_removed"})
PLAIN = Header(n=3, m=4, flags=FLAGS, id_bytes=4, codec="plain", block_ids=0, first_id=0, file_bytes=3 * 4096)
SECTIONS = [Section("indptr", "<u8", 4, 4096, 32, 1), Section("indices", "<u4", 4, 8192, 16, 2)]
VARINT = replace(PLAIN, codec="varint", block_ids=1024, file_bytes=7 * 4096)
PACKED = [
    Section("indptr", "<u8", 4, 4096, 32, 1),
    Section("degree", "<u4", 3, 8192, 12, 2),
    Section("blob", "|u1", 4, 12288, 4, 3),
    Section("hubs", "<u4", 0, 16384, 0, 0),
    Section("hub_ptr", "<u8", 1, 20480, 8, 4),
    Section("block_ptr", "<u8", 0, 24576, 0, 0),
]


def changed(section, **fields):
    return [replace(s, **fields) if s.name == section else s for s in SECTIONS]


def unpack(header=PLAIN, sections=SECTIONS, size=None):
    return layout.unpack(layout.pack(header, sections), header.file_bytes if size is None else size, "g.csrbin")


@pytest.mark.parametrize(("header", "sections"), [(PLAIN, SECTIONS), (VARINT, PACKED)])
def test_round_trip(header, sections):
    read, table = unpack(header, sections)
    assert read == header
    assert table == {section.name: section for section in sections}


def test_order_of_the_table_is_free_and_unknown_sections_are_kept():
    extra = Section("later", "|u1", 5, 12288, 5, 9)
    _, table = unpack(replace(PLAIN, file_bytes=4 * 4096), [extra, *reversed(SECTIONS)])
    assert set(table) == {"indptr", "indices", "later"}


@pytest.mark.parametrize(
    ("header", "sections", "says"),
    [
        ({"n": 4}, SECTIONS, "section indptr holds 4 items"),
        ({"n": 2**62}, SECTIONS, "ids for"),
        ({"n": 2**32}, SECTIONS, "4-byte ids"),
        ({"m": 5}, SECTIONS, "section indices holds 4 items"),
        ({"m": 2**64 - 1}, SECTIONS, "section indices"),
        ({"id_bytes": 2}, SECTIONS, "2-byte ids"),
        ({"id_bytes": 8}, SECTIONS, "section indices"),
        ({"block_ids": 512}, SECTIONS, "blocks of 512"),
        ({"first_id": -1}, SECTIONS, "from id -1"),
        ({"first_id": 2**63 - 1}, SECTIONS, "ids go up to"),
        ({"flags": frozenset({"sorted"})}, SECTIONS, "contradict"),
        ({"flags": frozenset({"symmetric"})}, SECTIONS, "contradict"),
        ({"flags": FLAGS | {"relabelled"}}, SECTIONS, "section labels is missing"),
        ({"codec": "varint", "block_ids": 1024}, SECTIONS, "section degree is missing"),
        ({}, SECTIONS[:1], "section indices is missing"),
        ({}, [], "section indptr is missing"),
        ({}, changed("indices", offset=4096), "inside what comes before"),
        ({}, changed("indices", offset=0), "inside what comes before"),
        ({}, changed("indptr", offset=8192), "inside what comes before"),
        ({}, changed("indices", offset=8200), "multiple of 4096"),
        ({}, changed("indices", offset=12288), "past the end"),
        ({}, changed("indices", offset=2**63), "past the end"),
        ({}, changed("indices", offset=2**64 - 4096), "past the end"),
        ({}, changed("indices", count=2**63 + 4), "cannot take"),
        ({}, changed("indices", count=2**62 + 4, length=16), "cannot take"),
        ({}, changed("indices", count=2**61, length=2**63), "past the end"),
        ({}, changed("indices", dtype="<f4"), "cannot take"),
        ({}, changed("indices", dtype="|O"), "cannot take"),
        ({}, changed("indices", dtype="<i8", count=2), "need 4 of <u4"),
        ({}, changed("indices", name="indptr"), "occurs twice"),
        ({"first_id": 3}, [*SECTIONS, Section("labels", "<i8", 3, 12288, 24, 0)], "both labels"),
        ({}, [*SECTIONS, Section("labels", "<i8", 2, 12288, 16, 0)], "section labels"),
        ({}, [*SECTIONS, Section("in_indptr", "<u8", 4, 12288, 32, 0)], "symmetric graph"),
        ({}, [*SECTIONS, Section("provenance", "<u8", 4, 12288, 32, 0)], "section provenance"),
        (
            {"flags": frozenset({"sorted", "directed"})},
            [*SECTIONS, Section("in_indptr", "<u8", 4, 12288, 32, 0)],
            "in_indices is missing",
        ),
    ],
)
def test_values_that_cannot_be_true_are_refused(header, sections, says):
    header = replace(PLAIN, file_bytes=PLAIN.file_bytes if len(sections) < 3 else 4 * 4096, **header)
    with pytest.raises(FormatError, match=f"g.csrbin: .*{says}"):
        unpack(header, sections)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("hub_ptr", {"count": 2, "length": 16}),
        ("hubs", {"count": 4, "length": 16}),
        ("blob", {"count": 3, "length": 3}),
        ("degree", {"count": 2, "length": 8}),
    ],
)
def test_compressed_sections_have_to_fit_each_other(name, fields):
    sections = [replace(s, **fields) if s.name == name else s for s in PACKED]
    with pytest.raises(FormatError, match=r"section"):
        unpack(VARINT, sections)


def reseal(data, at, fmt, value):
    """Change a field of the header and make its checksum right again."""
    data = bytearray(data)
    struct.pack_into(fmt, data, at, value)
    struct.pack_into("<I", data, 124, zlib.crc32(bytes(data[:124])))
    return bytes(data)


@pytest.mark.parametrize(
    ("at", "fmt", "value", "says"),
    [
        (8, "<I", 2, "version 2, but this bigbfs reads version 1"),
        (8, "<I", 0, "version 0"),
        (12, "<I", 256, "reserved"),
        (32, "<I", 1 << 6 | 14, "unknown flags"),
        (38, "<H", 2, "codec 2"),
        (64, "<I", 63, "63 sections"),
        (64, "<I", 2**32 - 1, "sections"),
        (64, "<I", 3, "section table"),
        (68, "<I", 5, "section table"),
        (72, "<Q", 2**64 - 1, "reserved"),
        (100, "<I", 1, "reserved"),
    ],
)
def test_header_fields_with_a_right_checksum(at, fmt, value, says):
    data = reseal(layout.pack(PLAIN, SECTIONS), at, fmt, value)
    with pytest.raises(FormatError, match=says):
        layout.unpack(data, PLAIN.file_bytes, "g")


def test_every_changed_byte_and_every_cut_is_refused():
    data = layout.pack(PLAIN, SECTIONS)
    for at in range(8, len(data)):
        for bit in (0x01, 0x80, 0xFF):
            with pytest.raises(FormatError):
                layout.unpack(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :], PLAIN.file_bytes, "g")
    for size in range(8, len(data)):
        with pytest.raises(FormatError, match=r"cut short|damaged"):
            layout.unpack(data[:size], size, "g")
    for size in (PLAIN.file_bytes - 1, PLAIN.file_bytes + 1):
        with pytest.raises(FormatError, match=f"{size}"):
            layout.unpack(data, size, "g")


def test_sections_are_aligned_and_padded():
    assert layout.aligned(4096, 10) == 4096
    assert layout.aligned(4097, 10) == 8192
    assert layout.aligned(4097, layout.HUGE_FROM - 1) == 8192
    assert layout.aligned(4097, layout.HUGE_FROM) == layout.HUGE_PAGE
    for end in (4096, 8192 - 128, 8192 - 127, 8192):
        total = layout.file_bytes([Section("a", "|u1", end - 4096, 4096, end - 4096, 0)])
        assert total % 4096 == 0 and total >= end + 128 and total - end < 128 + 4096


def test_sections_that_just_fit():
    full = 4096 - layout.PADDING
    tight = [
        Section("indptr", "<u8", 4, 4096 * 2, 32, 1),
        Section("indices", "<u4", 4, 4096 * 3, 16, 2),
        Section("before", "|u1", full, 4096, full, 3),
        Section("after", "|u1", full, 4096 * 4, full, 3),
    ]
    header = replace(PLAIN, file_bytes=5 * 4096)
    assert len(unpack(header, tight)[1]) == 4
    for name, says in (("before", "section indptr starts .* inside"), ("after", "past the end")):
        longer = [replace(s, count=full + 1, length=full + 1) if s.name == name else s for s in tight]
        with pytest.raises(FormatError, match=says):
            unpack(header, longer)


def test_as_many_sections_as_the_first_page_holds():
    many = [Section(f"x{i}", "|u1", 0, 4096 * (3 + i), 0, 0) for i in range(layout.MAX_SECTIONS - 2)]
    header = replace(PLAIN, file_bytes=4096 * 70)
    assert len(unpack(header, SECTIONS + many)[1]) == layout.MAX_SECTIONS
    with pytest.raises(FormatError, match=f"{layout.MAX_SECTIONS} are the most"):
        unpack(header, [*SECTIONS, *many, Section("y", "|u1", 0, 4096 * 69, 0, 0)])


def test_a_name_that_is_not_ascii():
    data = bytearray(layout.pack(PLAIN, SECTIONS))
    data[128] = 0xFF
    data = reseal(data, 68, "<I", zlib.crc32(bytes(data[128:])))
    with pytest.raises(FormatError, match="is not ASCII"):
        layout.unpack(data, PLAIN.file_bytes, "g")


def test_a_wrong_length_is_told_either_way():
    data = layout.pack(PLAIN, SECTIONS)
    with pytest.raises(FormatError, match="cut short: 12287 of 12288 bytes"):
        layout.unpack(data, 12287, "g")
    with pytest.raises(FormatError, match="12289 bytes long instead of 12288"):
        layout.unpack(data, 12289, "g")
