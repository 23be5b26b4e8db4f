"""Random changes to a good input: for the test run, and where there is no fuzzer that is guided by coverage."""

from __future__ import annotations

import random

WORDS = (
    *(b"\n", b"\r", b"\r\n", b" ", b"\t", b",", b";", b"-", b"#", b"%", b"\0", b"\xff", b"\xef\xbb\xbf", b"."),
    *(b"0", b"9" * 15, b"9" * 16, b"4294967295", b"4294967296", b"9223372036854775807", b"9223372036854775808"),
    *(b"p sp 3 3\n", b"a 1 2 3\n", b"%%MatrixMarket matrix coordinate pattern general\n", b"symmetric", b"1 2\n"),
    *(b"\0" * 8, b"\xff" * 8, b"\x01\0\0\0\0\0\0\0", b"\0\x10\0\0\0\0\0\0", b"\x80" * 9, b"\x80", b"\x7f"),
)


def mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Return ``data`` with one to five changes, one of which may be a piece of ``other``."""
    content = bytearray(data or b"0")
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(content) + 1)
        action = chance.randrange(7)
        if action == 0 and at < len(content):
            content[at] ^= 1 << chance.randrange(8)
        elif action == 1 and at < len(content):
            content[at] = chance.randrange(256)
        elif action == 2:
            del content[at : at + chance.randint(1, 9)]
        elif action == 3:
            content[at:at] = chance.choice(WORDS)
        elif action == 4:
            word = chance.choice(WORDS)
            content[at : at + len(word)] = word
        elif action == 5:
            content[at:at] = content[at : at + chance.randint(1, 40)]
        else:
            start = chance.randrange(len(other) + 1)
            content[at : at + chance.randint(0, 20)] = other[start : start + chance.randint(1, 20)]
    return bytes(content[:20_000])
