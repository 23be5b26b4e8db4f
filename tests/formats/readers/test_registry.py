"""The registry of formats: every list that names formats is made of it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from bigbfs.conversion.targets import base_name
from bigbfs.errors import UsageError
from bigbfs.formats import readers
from bigbfs.formats.readers import NAMES, formats
from bigbfs.formats.readers.detect import checked_format, detect_format, format_of_suffix
from bigbfs.formats.readers.format import of_lines
from bigbfs.formats.readers.read import estimate, read_edges, sample_ids
from bigbfs.graph.edges import EdgeList


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_is_named_after_its_module_and_reads_its_example(name, tmp_path):
    entry = formats()[name]
    assert entry.name == name
    path = tmp_path / f"example{(*entry.suffixes, '')[0]}"
    path.write_bytes(entry.example)
    for suffix, content in entry.beside.items():
        path.with_suffix(suffix).write_bytes(content)
    edges = read_edges(path)
    assert len(edges.src) > 0
    assert len(read_edges(path, format=name.upper()).src) == len(edges.src)
    guess = estimate(path)
    assert guess.streams == entry.streams and guess.bytes_in == len(entry.example)
    assert sample_ids(path).dtype == np.uint64 and int(sample_ids(path).max(initial=0)) < 2**63
    if entry.recognize is not None and not entry.suffixes[0].startswith(".csr"):
        assert detect_format("no.suffix", entry.example) == name


def test_no_two_formats_share_a_name_or_a_suffix():
    words = [word for entry in formats().values() for word in (entry.name, *entry.aliases)]
    endings = [ending for entry in formats().values() for ending in entry.suffixes]
    assert len(set(words)) == len(words) and len(set(endings)) == len(endings)
    for entry in formats().values():
        assert all(checked_format(word) == entry.name for word in (entry.name, *entry.aliases))
        assert all(format_of_suffix(f"g{ending}.gz") == entry.name for ending in entry.suffixes)


def test_no_example_is_taken_for_another_format():
    for entry in formats().values():
        assert [f.name for f in formats().values() if f.recognize and f.recognize(entry.example)] in ([], [entry.name])


def test_a_format_added_at_run_time_is_known_everywhere(tmp_path, monkeypatch):
    def read(reader, rules):
        reader.edges.space(1)
        return EdgeList(np.array([1], np.uint32), np.array([2], np.uint32))

    made = of_lines("made", "one edge", read, b"made\n", suffixes=(".made",), aliases=("m",))
    made = replace(made, recognize=lambda head: head.startswith(b"made"))
    known = formats() | {"made": made}
    for module in ("read", "detect"):
        monkeypatch.setattr(sys.modules[f"bigbfs.formats.readers.{module}"], "formats", lambda: known)
    monkeypatch.setattr("bigbfs.conversion.targets.formats", lambda: known)
    (tmp_path / "g").write_bytes(made.example)
    assert read_edges(tmp_path / "g").dst.tolist() == [2]
    assert checked_format("M") == "made" and format_of_suffix("x.made.zst") == "made"
    assert base_name("x.made.zst") == "x"
    with pytest.raises(UsageError, match="sg, bvgraph, made"):
        checked_format("none")


def test_the_names_cost_no_import():
    code = "import sys, bigbfs.formats.readers, bigbfs.formats.writers; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert tuple(formats()) == readers.NAMES
