"""Kernels of two checkouts side by side: sections are found in an image, and every difference has its line."""

import struct

import same_machine_code as tool


def image(sections):
    """Return an ELF image of 64 bits with ``sections`` (name, content), the names last."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _ in sections)
    body, headers, at = b"", b"", 64
    for name, content in [*sections, ("", names)]:
        where = names.index(name.encode() + b"\0") if name else 0
        headers += struct.pack("<IIQQQQ", where, 1, 0, 0, at, len(content)).ljust(64, b"\0")
        body, at = body + content, at + len(content)
    head = bytearray(64)
    struct.pack_into("<Q", head, 0x28, at)
    struct.pack_into("<HHH", head, 0x3A, 64, len(sections) + 1, len(sections))
    return bytes(head) + body + headers


def test_the_code_of_every_kernel_is_found():
    cubin = image([(".nv.info", b"xyz"), (".text.bfs", b"code"), (".text.cc", b"more code")])
    assert list(tool.text_sections(cubin)) == [("bfs", b"code"), ("cc", b"more code")]


def test_what_differs_is_named_with_its_variant():
    here = {"a": {"uint32 plain": ["4 aa"]}, "b": {"uint32 plain": ["4 bb"], "uint64 plain": ["5 cc"]}, "c": {}}
    there = {"a": {"uint32 plain": ["4 aa"]}, "b": {"uint32 plain": ["4 bb"], "uint64 plain": ["6 dd"]}, "d": {}}
    same, differ, alone = tool.compared(here, there)
    assert same == ["a: 1 variants"]
    assert differ == ["b, uint64 plain: ['5 cc'] here, ['6 dd'] there"]
    assert alone == ["c: only here", "d: only there"]
