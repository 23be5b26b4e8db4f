"""docs/formats.md: its worked example is what the writer writes, its tables are what the code says."""

import re
from pathlib import Path

import numpy as np

from bigbfs.formats.container import layout
from bigbfs.graph import varint
from bigbfs.graph.adjacency import BLOCK_IDS, PlainAdjacency
from bigbfs.graph.graph import Graph

DOC = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()


def test_the_worked_example_is_what_is_written(tmp_path):
    Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1], labels=[10, 300, 70000]).compress().save(tmp_path / "g.ccsr")
    size = int(re.search(r"The file has ([\d,]+) bytes", DOC)[1].replace(",", ""))
    shown = bytearray(size)
    lines = re.findall(r"^    ([0-9a-f]{6})  ((?:[0-9a-f]{2} ?){16})$", DOC, re.MULTILINE)
    assert len(lines) > 30
    for at, line in lines:
        shown[int(at, 16) : int(at, 16) + 16] = bytes.fromhex(line)
    assert bytes(shown) == (tmp_path / "g.ccsr").read_bytes()


def test_the_worked_row_is_what_is_encoded():
    row = [int(number) for number in re.search(r"The row ([\d, ]+) is", DOC)[1].split(",")]
    shown = "".join(re.findall(r"^    ((?:[0-9a-f]{2} )+) {2,}\d", DOC, re.MULTILINE))
    plain = PlainAdjacency(np.array([0, len(row)], np.uint64), np.array(row, np.uint32))
    assert varint.encode(plain).blob.tobytes() == bytes.fromhex(shown)


def test_the_tables_are_what_the_code_says():
    for bit, name in enumerate(layout.FLAGS):
        assert f"| {bit} | {name} |" in DOC
    for number, name in enumerate(layout.CODECS):
        assert f"{number} {name}" in DOC
    assert layout.MAGIC.hex(" ") in DOC and f"blocks of {BLOCK_IDS} ids" in DOC
    assert f"at most {layout.MAX_SECTIONS}" in DOC and layout.HUGE_FROM == 32 << 20 and layout.HUGE_PAGE == 2 << 20
