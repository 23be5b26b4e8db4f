"""The conversion on disk writes the bytes that the one in memory writes, whatever the graph, in bounded memory."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from wide import split

from bigbfs.conversion import ConvertOptions, convert, pipeline
from bigbfs.conversion.on_disk import convert as external
from bigbfs.conversion.on_disk import plan as planning
from bigbfs.conversion.on_disk import spill
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.conversion.on_disk.stream import EdgeStream
from bigbfs.errors import DoesNotFitError, FileAccessError, InputError, UsageError
from bigbfs.formats.container import layout, sections
from bigbfs.formats.writers.export import export
from bigbfs.graph.graph import Graph

SMALL = Plan(room=1 << 28, pairs=200, block_bytes=1 << 12, present_bytes=1 << 20, parts=7)
"""Sorts 200 pairs at once, where real ones sort millions."""
FILES = ("g.csrbin", "g.ccsr")


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Convert in memory and on disk (by a plan); return the reports after comparing the files."""
    folders = [tmp_path / "memory", tmp_path / "disk"]
    for folder in folders:
        folder.mkdir()

    def run(inputs, plan=SMALL, **options):
        chosen = ConvertOptions(force=True, compressed=True, **options)
        monkeypatch.setattr(pipeline, "finished_graph", lambda *_: None)  # a graph file is built again here
        monkeypatch.setattr(pipeline, "must_spill", lambda *_: False)
        expected = convert(inputs, folders[0] / "g.csrbin", chosen)
        monkeypatch.setattr(pipeline, "must_spill", lambda *_: True)
        monkeypatch.setattr(external, "make_plan", lambda *_: plan)
        found = convert(inputs, folders[1] / "g.csrbin", chosen)
        assert (expected.method, found.method) == ("in memory", "external")
        for name in FILES:
            assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
        counts = ("vertices", "edges", "lines", "self_loops", "duplicates", "reversed")
        counts += ("comment_lines", "skipped_lines")
        assert [getattr(found, name) for name in counts] == [getattr(expected, name) for name in counts]
        assert sorted(path.name for path in folders[1].iterdir()) == sorted(FILES)
        return expected, found

    return run


def write_lines(path, sources, targets):
    path.write_text("# lines\n" + "".join(f"{u} {v}\n" for u, v in zip(sources, targets, strict=True)))
    return path


def make(folder, name):
    """Return the inputs of a case."""
    rng = np.random.default_rng(1)
    path = folder / f"{name}.txt"
    if name == "dense":
        return [write_lines(path, *rng.integers(0, 300, (2, 3000)))]
    if name == "gaps":
        return [write_lines(path, *(rng.integers(0, 400, (2, 1000)) * 17 + 5))]
    if name == "star":  # one row of more ids than are sorted at once, and of several blocks
        return [write_lines(path, np.full(5000, 7), rng.integers(0, 4000, 5000))]
    if name == "one edge":  # more often than memory holds
        targets = np.full(2000, 9)
        targets[3:6] = [7, 8, 7]
        return [write_lines(path, np.full(2000, 7), targets)]
    if name == "consecutive":
        return [write_lines(path, range(3, 900), range(4, 901))]
    if name == "hashes":
        ids = rng.integers(0, 2**63 - 1, 500)
        return [write_lines(path, rng.choice(ids, 2000), rng.choice(ids, 2000))]
    if name == "clusters":  # which the first partitions cannot tell apart
        ids = np.concatenate([np.arange(300), 2**40 + np.arange(300)])
        return [write_lines(path, rng.choice(ids, 2000), rng.choice(ids, 2000))]
    pairs = sorted({(max(pair), min(pair)) for pair in rng.integers(1, 200, (900, 2)).tolist()})
    matrix = folder / "matrix.mtx"
    body = "".join(f"{u} {v}\n" for u, v in pairs)
    matrix.write_text(f"%%MatrixMarket matrix coordinate pattern symmetric\n400 400 {len(pairs)}\n{body}")
    others = {"matrix": [], "matrix and text": make(folder, "dense"), "matrix and hashes": make(folder, "hashes")}
    return [matrix, *others[name]]


CASES = ("dense", "gaps", "star", "one edge", "hashes", "clusters", "matrix", "matrix and text", "matrix and hashes")
CHOICES = (
    {},
    {"order": "degree", "keep_self_loops": True},
    {"keep_duplicates": True, "keep_self_loops": True},
    {"directed": True},
    {"directed": True, "keep_duplicates": True, "order": "degree"},
    {"directed": True, "in_edges": False, "keep_self_loops": True},
)
FEW = ("gaps", "one edge", "clusters", "matrix and hashes")
CHOSEN = split(
    [(case, choice) for case in CASES for choice in CHOICES],
    lambda case, choice: case in FEW and (FEW.index(case) + CHOICES.index(choice)) % 2 == 0,
)


@pytest.mark.covered
@pytest.mark.parametrize(("case", "choice"), CHOSEN, ids=lambda each: str(each) if each else "default")
def test_same_bytes_as_in_memory(tmp_path, both, case, choice):
    _, found = both(make(tmp_path, case), **choice)
    assert found.partitions > 1 and found.spilled_bytes >= 16 * found.lines


@pytest.mark.parametrize("choice", [{"keep_ids": True}, {"keep_ids": True, "directed": True, "order": "degree"}, {}])
def test_same_bytes_where_ids_are_kept_or_consecutive(tmp_path, both, choice):
    both(make(tmp_path, "consecutive"), **choice)
    both(make(tmp_path, "gaps"), **choice)


def test_ids_that_no_table_has_room_for_are_joined(tmp_path, both):
    """Also ids of 32 bits, consecutive ones, and more distinct ones in a partition than are handled at once."""
    no_table = replace(SMALL, present_bytes=0, parts=2)
    for case in ("gaps", "consecutive", "star"):
        both(make(tmp_path, case), no_table)
        both(make(tmp_path, case), no_table, directed=True, order="degree")


def test_ids_that_widen_half_way(tmp_path, both):
    sources = np.concatenate([np.arange(2000) % 97, 2**33 + np.arange(2000) % 89])
    both([write_lines(tmp_path / "wide.txt", sources, np.roll(sources, 1))])


def test_a_directed_graph_that_is_symmetric_has_no_twins(tmp_path, both):
    u, v = np.random.default_rng(3).integers(0, 90, (2, 700))
    path = write_lines(tmp_path / "sym.txt", np.concatenate([u, v]), np.concatenate([v, u]))
    for choice in ({}, {"order": "degree", "in_edges": False}):
        both([path], directed=True, **choice)
        with Graph.open(tmp_path / "disk" / "g.csrbin") as graph:
            assert graph.flags.symmetric and graph.flags.directed


def test_many_isolated_vertices(tmp_path, both):
    """More rows than are handled at once without a single pair."""
    path = tmp_path / "lonely.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n9000 9000 2\n1 9000\n4000 4001\n")
    report, _ = both([path], directed=True)
    assert report.vertices == 9000


@pytest.mark.parametrize(("directed", "wide"), split([(0, 0), (0, 1), (1, 0), (1, 1)], int.__ne__))
def test_a_numpy_file_is_spilled_block_by_block(tmp_path, both, monkeypatch, wide, directed):
    pairs = np.random.default_rng(5).integers(0, 999, (9000, 2))
    pairs[5000, 1] = 2**40 if wide else 1
    np.save(tmp_path / "pairs.npy", pairs)
    kept = []
    keep = EdgeStream.keep
    monkeypatch.setattr(EdgeStream, "keep", lambda self, count: (kept.append(count), keep(self, count)))
    both([tmp_path / "pairs.npy"], directed=bool(directed))
    assert sum(kept) == 9000 and max(kept) * 16 <= SMALL.block_bytes < 9000 * 16


@pytest.mark.parametrize("suffix", [".graph", ".csrbin", ".sg", ".npy", ".gz"])
def test_other_formats(tmp_path, both, suffix):
    rng = np.random.default_rng(5)
    text = make(tmp_path, "gaps")[0]
    path = tmp_path / f"input{suffix}"
    if suffix == ".graph":
        path.write_text("3 2\n2\n1 3\n2\n")
    elif suffix == ".npy":
        np.save(path, rng.integers(0, 99, (500, 2)))
    elif suffix == ".gz":
        import gzip

        path.write_bytes(gzip.compress(text.read_bytes()))
    else:
        convert([text], tmp_path / "made.csrbin")
        with Graph.open(tmp_path / "made.csrbin") as graph:
            if suffix == ".sg":
                export(graph, "sg", path)
            else:
                graph.save(path)
    both([path])


def test_isolated_vertices_of_a_labelled_graph(tmp_path, both):
    Graph.from_csr([0, 1, 2, 2, 3], [1, 0, 3], labels=[5, 9, 2**40, 2**41]).save(tmp_path / "a.csrbin")
    both([tmp_path / "a.csrbin"], keep_self_loops=True)
    both([tmp_path / "a.csrbin"], replace(SMALL, present_bytes=0))


def test_sections_move_where_guesses_were_wrong(tmp_path, both, monkeypatch):
    """Provenance guessed a page too long or too short moves everything behind it."""
    inputs = make(tmp_path, "dense")
    for wrong in (-5000, 9000):
        opened = sections.SectionFile.open

        def open_wrongly(self, name, dtype, expected, opened=opened, wrong=wrong):
            opened(self, name, dtype, max(0, expected + wrong) if name in ("provenance", "blob") else expected)

        with monkeypatch.context() as patch:
            patch.setattr(sections.SectionFile, "open", open_wrongly)
            both(inputs, directed=True)


def test_bad_lines_are_reported_as_ever(tmp_path, both, monkeypatch):
    path = tmp_path / "bad.txt"
    path.write_text("1 2\n" * 3000 + "x y\n" + "2 3\n" * 3000)
    with pytest.raises(InputError, match="line 3001"):
        both([path])
    monkeypatch.setattr(pipeline, "must_spill", lambda *_: True)
    monkeypatch.setattr(external, "make_plan", lambda *_: SMALL)
    with pytest.raises(InputError, match=r"line 3001: 'x y'"):
        convert([path], tmp_path / "disk" / "g.csrbin")
    assert not list((tmp_path / "disk").iterdir())
    both([path], skip_bad_lines=1)


def test_underestimated_inputs_end_on_disk(tmp_path, monkeypatch):
    """A compressed text whose beginning promised less than what came."""
    path = write_lines(tmp_path / "g.txt", *np.random.default_rng(2).integers(0, 9000, (2, 200_000)))
    expected = convert([path], tmp_path / "expected.csrbin")
    monkeypatch.setattr(pipeline, "must_spill", lambda *_: False)
    monkeypatch.setattr(external, "make_plan", lambda *_: replace(SMALL, pairs=50_000))
    report = convert([path], tmp_path / "g.csrbin", ConvertOptions(memory=1 << 20))
    assert (report.method, report.edges) == ("external", expected.edges)


def test_partitions_follow_the_sample():
    ids = np.random.default_rng(4).integers(0, 10**6, 20_000).astype(np.uint64)
    places = planning.first_map(np.sort(ids), 32)
    part = places.parts[np.minimum(ids >> np.uint64(places.shift), np.uint64(len(places.parts) - 1)).astype(np.int64)]
    assert 30 <= places.count <= 34
    assert np.bincount(part).max() < 1.3 * len(ids) / 32
    assert places.bounds[0] == 0 and places.bounds[-1] == 2**63


def test_the_table_of_ids_takes_what_the_sample_asks_for():
    """The rest of its third of the memory goes to the pairs, and all of it where no table is large enough."""
    memory = (1 << 30) + planning.resident_bytes()  # whatever this process holds already
    small, hashes, unknown = (planning.make_plan(memory, 10**8, largest) for largest in (10**6, 2**62, 0))
    assert 16 * 10**6 // 64 < small.present_bytes < small.room // 100
    assert hashes.present_bytes == 0 and unknown.present_bytes == unknown.room // 3
    for plan, width in ((small, planning.BYTES_PER_PAIR), (hashes, planning.BYTES_PER_WIDE_PAIR)):
        assert 0.98 * plan.room < plan.pairs * width + plan.present_bytes <= plan.room
    assert unknown.pairs < small.pairs


def test_space_grows_while_somebody_still_looks_at_the_old_one():
    """A kernel compiled a moment ago may; a memory map could not be resized then, and the conversion ended."""
    stream = EdgeStream("g.txt", None)
    old = stream.space(100)
    new = stream.space(100_000)
    assert len(old[0]) == 100 and len(new[1]) == 100_000
    stream.widen()
    assert stream.space(10)[0].dtype == np.uint64


def test_a_heavy_range_becomes_a_part_of_its_own():
    """Or cutting a partition would never end."""
    weights = np.zeros(8)
    weights[3] = 100
    assert spill.map_by_weight(0, 80, 3, weights, 1000).bounds == [0, 24, 32, 80]


def test_too_little_memory_is_refused_with_what_is_needed(tmp_path):
    path = write_lines(tmp_path / "g.txt", range(1000), range(1, 1001))
    with pytest.raises(DoesNotFitError, match=r"9\.76 KiB may be used, but Python.*allow at least .* with memory="):
        convert([path], None, ConvertOptions(memory=10_000))
    assert [file.name for file in tmp_path.iterdir()] == ["g.txt"]


class _Full:
    f_blocks, f_bavail, f_frsize = 9, 1, 4096


def test_missing_temporary_space_is_refused_before_the_start(tmp_path, both, monkeypatch):
    inputs = make(tmp_path, "dense")
    monkeypatch.setattr(planning.os, "statvfs", lambda _: _Full)
    with pytest.raises(DoesNotFitError, match=r"/g\.csrbin: .*temporary files .*4 KiB are free; .*tmp="):
        both(inputs)
    monkeypatch.undo()
    with pytest.raises(UsageError, match=r'tmp=".*nowhere": there is no such folder'):
        convert(inputs, tmp_path / "g.csrbin", ConvertOptions(tmp=tmp_path / "nowhere"))


def test_the_space_for_temporary_files_is_that_of_both_sides_of_a_directed_graph(tmp_path, monkeypatch):
    """They are read twice, and all of them are there still when the out-neighbours have been written."""
    monkeypatch.setattr(planning.os, "statvfs", lambda _: _Full)
    planning.require_space(tmp_path, 3000, tmp_path / "g.csrbin", 3000, 1000)
    with pytest.raises(DoesNotFitError, match=r"needs about 4\.89 KiB there"):
        planning.require_space(tmp_path, 3000, tmp_path / "g.csrbin", 3000, 2000)


@pytest.mark.parametrize("call", ["write", "pwrite"])
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, call):
    """``write`` fills the temporary folder, ``pwrite`` the output's; the old output stays."""
    inputs = make(tmp_path, "dense")
    output, scratch = tmp_path / "out" / "g.csrbin", tmp_path / "scratch"
    output.parent.mkdir()
    scratch.mkdir()
    output.write_bytes(layout.MAGIC + b"old")
    monkeypatch.setattr(pipeline, "must_spill", lambda *_: True)
    monkeypatch.setattr(external, "make_plan", lambda *_: SMALL)
    real, calls = getattr(os, call), []

    def full(*arguments):
        calls.append(arguments)
        if len(calls) > 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments)

    monkeypatch.setattr(os, call, full)
    with pytest.raises(FileAccessError, match="No space left") as caught:
        convert(inputs, output, ConvertOptions(tmp=scratch, compressed=True))
    assert ("tmp=" in str(caught.value)) == (call == "write")
    assert list(scratch.iterdir()) == [] and [file.name for file in output.parent.iterdir()] == ["g.csrbin"]
    assert output.read_bytes() == layout.MAGIC + b"old"


def run_cli(*arguments):
    command = [sys.executable, "-m", "bigbfs", "convert", *map(str, arguments), "--json", "--force"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def test_peak_memory_of_the_process(tmp_path):
    """5 M lines take 107 MB beside the program where they are sorted in memory; 240 MiB for all of it are enough."""
    from bigbfs.generate.text import write_text

    rng = np.random.default_rng(6)
    ends = rng.integers(0, 1 << 19, (2, 5_000_000), dtype=np.uint32)
    write_text(tmp_path / "g.txt", (ends[0], ends[1]), [], 2)
    arguments = (tmp_path / "g.txt", "--memory", "240MiB", "--compressed", "--tmp", tmp_path)
    run_cli(*arguments)  # compiles what is not in the cache, which takes memory of its own
    report = run_cli(*arguments)
    assert report["method"] == "external" and report["partitions"] > 4
    assert report["peak_rss_bytes"] < 240 << 20
    assert set(report["phases"]) == {"compile", "read", "build", "write", "compress", "other"}
    with Graph.open(Path(report["output"])) as graph:
        assert (graph.n, graph.m) == (report["vertices"], report["edges"])
        graph.require_valid()
