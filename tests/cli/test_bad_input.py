"""Bad input to ``bigbfs convert``: one clear line on standard error, the right exit code, nothing left behind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zstandard

from bigbfs.formats.container import csrbin, layout

LINES = "".join(f"{i} {i + 1}\n" for i in range(50_000)).encode()
MTX = b"%%MatrixMarket matrix coordinate pattern general\n"


def refused(run, folder, *arguments, code=1, says=()):
    """Run convert, require one error line that says all of ``says`` and a folder as it was; return the line."""
    before = listing(folder)
    found, out, err = run("convert", *arguments)
    assert (found, out) == (code, "")
    assert err.startswith("bigbfs: error: ") and err.count("\n") == 1 and err.endswith("\n")
    for text in says:
        assert text in err, f"{text!r} is not in {err!r}"
    assert listing(folder) == before
    return err


def listing(folder):
    """Every file of the folder with its size and time, hidden ones too."""
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}


TEXTS = {
    "a word where a number belongs": (b"1 2\n2 three\n", ["line 2", "'2 three'", "--skip-bad-lines", "--names"]),
    "names and numbers": (b"source,target\n1,2\n3,abc\n", ["line 3", "'3,abc'", "--names"]),
    "one column": (b"1 2\n# c\n7\n", ["line 3", "'7'", "one column", "--skip-bad-lines"]),
    "negative id": (b"1 2\n3 -4\n", ["line 2", "'3 -4'", "negative", "--skip-bad-lines", "--names"]),
    "id over 2^63-1": (b"1 9223372036854775808\n", ["line 1", "9223372036854775808", "2^63-1", "--names"]),
    "id of many digits": (b"1 2\n1 " + b"9" * 40 + b"\n", ["line 2", "9" * 40, "2^63-1"]),
    "floating point": (b"1 2\n1.5 2\n", ["line 2", "'1.5 2'"]),
    "header line": (b"one,other,third\n1,2,3\n", ["line 1", "'one,other,third'", "'other' (2)"]),
    "empty file": (b"", ["empty"]),
    "only comments": (b"# one\n% two\n\n", ["no edge", "3 comment and blank lines"]),
    "binary file": (bytes(range(256)) * 20, ["binary"]),
    "UTF-16": ("1 2\n".encode("utf-16"), ["UTF-16", "iconv"]),
    "bad line far in the file": (LINES + b"x y\n", ["line 50001", "'x y'"]),
    "last line cut short": (LINES + b"17", ["line 50001", "'17'", "one column"]),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_bad_text(run, folder, kind):
    content, says = TEXTS[kind]
    Path("bad.txt").write_bytes(content)
    refused(run, folder, "bad.txt", "--compressed", says=["bad.txt", *says])


def test_bad_second_input_is_the_one_named(run, folder):
    Path("good.txt").write_bytes(b"1 2\n")
    Path("bad.txt").write_bytes(b"1 2\n1 x\n")
    refused(run, folder, "good.txt", "bad.txt", says=["bad.txt: line 2", "'1 x'"])


def test_more_bad_lines_than_may_be_skipped(run, folder):
    Path("bad.txt").write_bytes(b"a\n1 2\nb\n1 3\nc\n")
    refused(run, folder, "bad.txt", "--skip-bad-lines", "2", says=["bad.txt: line 5", "'c'", "--skip-bad-lines"])


def test_the_published_bad_file(run, folder, data):
    path = data / "bad-comment-as-caida.txt"
    refused(run, folder, path, "-o", "bad.csrbin", says=[str(path), "line 4", "FromNodeId", "--skip-bad-lines"])
    code, out, _ = run("convert", path, "-o", "bad.csrbin", "--skip-bad-lines", "1")
    assert code == 0 and "1 bad line" in out


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}


@pytest.mark.parametrize("ending", PACKERS)
def test_truncated_compressed_file(run, folder, ending):
    packed = PACKERS[ending](LINES)
    Path(f"cut.txt.{ending}").write_bytes(packed[: len(packed) // 2])
    refused(run, folder, f"cut.txt.{ending}", says=[f"cut.txt.{ending}", "cut short"])


@pytest.mark.parametrize("ending", PACKERS)
def test_damaged_compressed_file(run, folder, ending):
    packed = bytearray(PACKERS[ending](LINES))
    for place in range(len(packed) // 3, len(packed) // 3 + 40):
        packed[place] ^= 0x55
    Path(f"damaged.txt.{ending}").write_bytes(packed)
    refused(run, folder, f"damaged.txt.{ending}", says=[f"damaged.txt.{ending}"])


@pytest.mark.parametrize("ending", PACKERS)
def test_a_compressed_file_of_nothing(run, folder, ending):
    for name in ("empty.txt", "empty.npy"):
        Path(f"{name}.{ending}").write_bytes(PACKERS[ending](b""))
        refused(run, folder, f"{name}.{ending}", says=[f"{name}.{ending}: its ", "stream unpacks to nothing"])
    Path(f"blank.txt.{ending}").write_bytes(PACKERS[ending](b"\n# x\n"))
    refused(run, folder, f"blank.txt.{ending}", says=["no edge in it, only 2 comment and blank lines"])


def test_a_folder_for_temporary_files_that_is_none(run, folder):
    """Although this graph needs none."""
    Path("g.txt").write_text("1 2\n")
    refused(run, folder, "g.txt", "--tmp", "nowhere", code=2, says=["--tmp nowhere: there is no such folder"])
    refused(run, folder, "g.txt", "--tmp", "g.txt", code=2, says=["--tmp g.txt: is no folder"])


MATRICES = {
    "too few entries": (MTX + b"3 3 5\n1 2\n2 3\n", ["5 entries", "2"]),
    "too many entries": (MTX + b"3 3 1\n1 2\n2 3\n", ["1 entries", "holds 2"]),
    "entry outside": (MTX + b"3 3 2\n1 2\n2 4\n", ["line 4", "'2 4'"]),
    "zero in a 1-based format": (MTX + b"3 3 1\n0 2\n", ["line 3", "'0 2'"]),
    "not square": (MTX + b"3 4 1\n1 2\n", ["3", "4"]),
    "unknown field": (b"%%MatrixMarket matrix coordinate quaternion general\n1 1 1\n1 1\n", ["line 1", "quaternion"]),
    "dense": (b"%%MatrixMarket matrix array real general\n1 1\n1\n", ["line 1", "array"]),
    "no size line": (MTX, []),
    "size line that is none": (MTX + b"three 3 1\n1 2\n", ["line 2", "three"]),
    "no banner": (b"%MatrixMarked\n3 3 1\n1 2\n", []),
}


@pytest.mark.parametrize("kind", MATRICES)
def test_bad_matrix_market(run, folder, kind):
    content, says = MATRICES[kind]
    Path("bad.mtx").write_bytes(content)
    refused(run, folder, "bad.mtx", says=["bad.mtx", *says])


OTHERS = {
    "metis: wrong number of edges": ("bad.graph", b"3 3\n2\n1 3\n2\n"),
    "metis: too few vertex lines": ("bad.graph", b"4 3\n2\n1 3\n2 4\n"),
    "metis: neighbour outside": ("bad.graph", b"2 1\n2\n3\n"),
    "dimacs: no problem line": ("bad.gr", b"c nothing\na 1 2 1\n"),
    "dimacs: wrong count": ("bad.gr", b"p sp 3 5\na 1 2 1\n"),
    "dimacs: node outside": ("bad.gr", b"p sp 3 1\na 1 4 1\n"),
    "npy: cut short": ("bad.npy", None),
    "npz: no zip file": ("bad.npz", b"PK\x03\x04 and no more"),
    "sg: size does not fit": ("bad.sg", b"\0" * 100),
    "csrbin: neither ours nor raw": ("bad.csrbin", b"1 2\n2 3\n" * 9),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_bad_file_of_another_format(run, folder, kind):
    name, content = OTHERS[kind]
    if content is None:
        stream = io.BytesIO()
        np.save(stream, np.zeros((100, 2), np.int64))
        content = stream.getvalue()[:-10]
    Path(name).write_bytes(content)
    refused(run, folder, name, "-o", "out.csrbin", says=[name])


def test_raw_csrbin_with_an_index_out_of_range(run, folder):
    parts = (np.array([2, 2], np.uint64), np.array([0, 1, 2], np.int64), np.array([1, 2], np.int32))
    Path("raw.csrbin").write_bytes(b"".join(part.tobytes() for part in parts))
    refused(run, folder, "raw.csrbin", "-o", "out.csrbin", says=["raw.csrbin", "2"])


@pytest.fixture
def graph_file(run, folder):
    """A small container as input."""
    Path("graph.txt").write_text("1 2\n2 3\n3 4\n")
    assert run("convert", "graph.txt")[0] == 0
    return Path("graph.csrbin")


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.3, 0.9, 0.9999])
def test_graph_file_cut_short(run, folder, graph_file, share):
    whole = graph_file.read_bytes()
    graph_file.write_bytes(whole[: int(len(whole) * share)])
    refused(run, folder, "graph.csrbin", "-o", "out.csrbin", says=["graph.csrbin"])


def test_graph_file_with_any_header_byte_changed(run, folder, graph_file):
    whole = graph_file.read_bytes()
    container = csrbin.open_container(graph_file)
    table_end = 128 + 64 * len(container.sections)
    container.mapped.close()
    for place in [*range(0, 128, 5), *range(128, table_end, 31)]:
        graph_file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        refused(run, folder, "graph.csrbin", "-o", "out.csrbin", says=["graph.csrbin"])


def test_graph_file_with_overlapping_sections(run, folder, graph_file):
    container = csrbin.open_container(graph_file)
    header, sections = container.header, container.sections
    container.mapped.close()
    moved = replace(sections["indices"], offset=sections["indptr"].offset)
    with graph_file.open("r+b") as stream:
        stream.write(layout.pack(header, [*(s for s in sections.values() if s.name != "indices"), moved]))
    refused(run, folder, "graph.csrbin", "-o", "out.csrbin", says=["graph.csrbin", "section ind", "inside what comes"])


def test_graph_file_with_an_index_out_of_range(run, folder, graph_file):
    container = csrbin.open_container(graph_file)
    offset = container.sections["indices"].offset
    container.mapped.close()
    with graph_file.open("r+b") as stream:
        stream.seek(offset)
        stream.write(struct.pack("<I", 4_000_000_000))
    refused(run, folder, "graph.csrbin", "-o", "out.csrbin", says=["graph.csrbin: section indices", "is damaged"])


@pytest.mark.parametrize("command", ["convert", "bfs", "cc", "bench cc", "generate star -o g.txt"])
@pytest.mark.parametrize("more", [1, 10**9])
def test_more_threads_than_make_sense(run, folder, graph_file, command, more):
    """One rule for all commands. Buffers and ranges are made for each: the system ran out of memory."""
    have = len(os.sched_getaffinity(0))
    name = [] if command.startswith("generate") else [graph_file.name]
    code, out, err = run(*command.split(), *name, "--threads", have + more)
    assert code == 2 and out == ""
    assert err.startswith(
        f"bigbfs: error: invalid value for '--threads': {have + more:,} threads, and this process may"
    )


def test_an_empty_name_is_no_folder(run, folder):
    for command in (["info"], ["check"], ["export", "--to", "el"], ["bfs", "--source", "0"]):
        code, out, err = run(*command, "")
        assert (code, out) == (2, "") and "it is empty; name a file; see `bigbfs" in err, err
    code, _, err = run("convert", "")
    assert code == 2 and "is empty; name a file" in err, err


def test_missing_file(run, folder):
    refused(run, folder, "nowhere.txt", says=["nowhere.txt", "No such file", "check the path"])


def test_a_folder(run, folder):
    Path("a-folder").mkdir()
    refused(run, folder, "a-folder", says=["a-folder", "is a folder without a table", "name the files in it"])


def test_output_is_a_folder(run, folder):
    Path("graph.txt").write_text("1 2\n")
    Path("taken.csrbin").mkdir()
    refused(run, folder, "graph.txt", "-o", "taken.csrbin", says=["taken.csrbin", "it is a folder"])


def test_missing_output_folder(run, folder):
    Path("graph.txt").write_text("1 2\n")
    refused(run, folder, "graph.txt", "-o", "no/such.csrbin", says=["no/such.csrbin", "does not exist; create it"])


@pytest.mark.parametrize(("name", "says"), [(".", "is a folder; name the files in it"), ("", "is empty; name a file")])
def test_an_input_without_a_name(run, folder, name, says):
    refused(run, folder, name, says=[says], code=2)


def test_a_number_of_thousands_of_digits(run, folder):
    Path("graph.txt").write_text("1 2\n3 " + "1" * 5000 + "\n")
    refused(run, folder, "graph.txt", says=["graph.txt", "line 2", "over 2^63-1"])
