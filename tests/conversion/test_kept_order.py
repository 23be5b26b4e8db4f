"""The order of a graph file stays when it is converted, unless another is asked for or it cannot be, which is said."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zoo

from bigbfs.conversion import ConvertOptions, convert, ensure_compressed, moving, pipeline
from bigbfs.conversion.in_memory import direct
from bigbfs.errors import UsageError
from bigbfs.formats.container import csrbin
from bigbfs.formats.container.check import check
from bigbfs.graph.graph import Graph

PAIRS = zoo.random(300, 900, seed=4)
NAMES = ["who,whom\n"] + [f"n{a},n{b}\n" for a, b in zip(*(side.tolist() for side in PAIRS), strict=True)]
LINES = [f"{a * a + 5} {b * b + 5}\n" for a, b in zip(*(side.tolist() for side in PAIRS), strict=True)]
KINDS = {
    "undirected": (LINES, {}),
    "directed": (LINES, {"directed": True}),
    "directed, out-rows alone": (LINES, {"directed": True, "in_edges": False}),
    "names": (NAMES, {}),
    "names, directed": (NAMES, {"directed": True}),
}
SAME = ("directed", "in_edges")
ENOUGH = 1 << 34
"""Also for a process that other tests have filled."""


def made(folder, kind="undirected", order="degree", **options):
    """A graph file in ``order``, and the options that say what its edges are."""
    lines, edges = KINDS[kind]
    text = folder / ("edges.csv" if lines is NAMES else "edges.txt")
    text.write_text("".join(lines))
    convert([text], folder / "by.csrbin", ConvertOptions(order=order, memory=ENOUGH, **edges | options))
    return folder / "by.csrbin", edges


def sections(path):
    """Every section but the provenance, and the flags."""
    container = csrbin.open_container(path)
    try:
        found = {name: container.array(name).tobytes() for name in container.sections if name != "provenance"}
        return found, container.header.flags, container.header.first_id
    finally:
        container.mapped.close()


def labels(path):
    with Graph.open(path) as graph:
        return graph.original_ids().tolist(), graph.flags.relabelled


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["degree", "bfs", "rcm"])
def test_the_order_stays(kind, order, tmp_path):
    path, edges = made(tmp_path, kind, order)
    report = convert([path], tmp_path / "out.ccsr", ConvertOptions(memory=ENOUGH, **edges))
    assert (report.method, report.order, report.notes) == ("direct", order, ())
    with Graph.open(path) as graph:
        graph.compress().save(tmp_path / "saved.ccsr")
    assert sections(tmp_path / "out.ccsr") == sections(tmp_path / "saved.ccsr")
    back = convert([tmp_path / "out.ccsr"], tmp_path / "back.csrbin", ConvertOptions(memory=ENOUGH, **edges))
    assert back.order == order, "a copy of a copy"
    assert sections(tmp_path / "back.csrbin") == sections(path)
    assert convert([path], tmp_path / "out.ccsr", ConvertOptions(**edges)).cached


@pytest.mark.parametrize("kind", KINDS)
def test_the_original_order_is_asked_for(kind, tmp_path):
    path, edges = made(tmp_path, kind)
    text = next(tmp_path.glob("edges.*"))
    convert([text], tmp_path / "original.csrbin", ConvertOptions(**edges))
    report = convert([path], tmp_path / "undone.csrbin", ConvertOptions(order="original", **edges))
    assert (report.order, report.notes) == ("original", ())
    assert sections(tmp_path / "undone.csrbin") == sections(tmp_path / "original.csrbin")


def test_one_order_after_another_is_that_of_the_source(tmp_path):
    path, _ = made(tmp_path, order="bfs")
    convert([tmp_path / "edges.txt"], tmp_path / "a.csrbin", ConvertOptions(order="degree"))
    assert convert([path], tmp_path / "b.csrbin", ConvertOptions(order="degree")).order == "degree"
    assert sections(tmp_path / "a.csrbin") == sections(tmp_path / "b.csrbin")


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("undirected", {"keep_duplicates": True}),
        ("undirected", {"directed": True, "in_edges": False}),
        ("directed", {"directed": False}),
        ("directed", {"in_edges": False, "keep_duplicates": True}),
        ("directed, out-rows alone", {"in_edges": True}),
        ("names, directed", {"directed": False}),
    ],
)
def test_rows_that_are_built_anew_keep_it_too(kind, options, tmp_path):
    path, edges = made(tmp_path, kind)
    report = convert([path], tmp_path / "out.csrbin", ConvertOptions(memory=ENOUGH, **edges | options))
    assert (report.method, report.order, report.notes) == ("in memory", "degree", ())
    assert labels(tmp_path / "out.csrbin") == labels(path)
    assert list(check(tmp_path / "out.csrbin"))
    text = next(tmp_path.glob("edges.*"))
    chosen = ConvertOptions(order="original", memory=ENOUGH, **edges | options)
    back = ConvertOptions(order="original", **edges | options)
    convert([path], tmp_path / "first.csrbin", chosen)
    convert([tmp_path / "out.csrbin"], tmp_path / "second.csrbin", back)
    assert sections(tmp_path / "first.csrbin") == sections(tmp_path / "second.csrbin"), text


def test_a_packed_graph_file(tmp_path):
    path, _ = made(tmp_path)
    with path.open("rb") as plain, gzip.open(tmp_path / "packed.csrbin.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    report = convert([tmp_path / "packed.csrbin.gz"], tmp_path / "out.csrbin")
    assert (report.order, report.notes) == ("kept", ()), "nobody says which"
    assert sections(tmp_path / "out.csrbin") == sections(path)


@pytest.mark.parametrize("kind", ["undirected", "directed", "names"])
@pytest.mark.parametrize("target", ["out.csrbin", "out.ccsr"])
def test_what_does_not_fit_as_a_whole_is_written_row_by_row(kind, target, tmp_path, monkeypatch):
    path, edges = made(tmp_path, kind)
    convert([path], tmp_path / target, ConvertOptions(**edges))
    whole = sections(tmp_path / target)
    monkeypatch.setattr(direct, "_fits", lambda *_: False)
    report = convert([path], tmp_path / target, ConvertOptions(force=True, **edges))
    assert (report.method, report.order) == ("direct", "degree")
    assert sections(tmp_path / target) == whole


def test_what_does_not_fit_at_all_is_in_the_original_order_and_says_so(tmp_path, monkeypatch):
    path, _ = made(tmp_path)
    convert([tmp_path / "edges.txt"], tmp_path / "original.csrbin")
    for module, name, answer in (
        (direct, "_fits", False),
        (moving, "can_be_moved", False),
        (pipeline, "must_spill", True),
    ):
        monkeypatch.setattr(module, name, lambda *_, answer=answer: answer)
    for _ in range(2):
        report = convert([path], tmp_path / "out.csrbin", ConvertOptions(memory=ENOUGH))
        assert (report.method, report.order, report.cached) == ("external", "original", False)
        assert "its order is not kept" in report.notes[-1] and "more memory" in report.notes[-1]
    assert sections(tmp_path / "out.csrbin") == sections(tmp_path / "original.csrbin")
    asked = convert([path], tmp_path / "out.csrbin", ConvertOptions(order="original"))
    assert asked.cached and asked.notes == ()


def test_several_inputs_and_ids_that_are_kept_say_so(tmp_path):
    path, _ = made(tmp_path)
    (tmp_path / "more.txt").write_text("5 6\n")
    for inputs, options, why in (
        ([path, tmp_path / "more.txt"], {}, "several inputs"),
        ([path], {"keep_ids": True}, "keep_ids=True"),
    ):
        for cached in (False, True):
            report = convert(inputs, tmp_path / "out.csrbin", ConvertOptions(**options))
            told = [note for note in report.notes if "is replaced" not in note]
            assert told == [f"{path}: its order is not kept, and the vertices are in the original one ({why})"]
            assert (report.order, report.cached) == ("original", cached)
        assert labels(tmp_path / "out.csrbin")[1] is False
        asked = convert(inputs, tmp_path / "out.csrbin", ConvertOptions(order="original", **options))
        assert asked.cached and asked.notes == ()


def test_texts_are_in_the_original_order(tmp_path):
    (tmp_path / "a.txt").write_text("3 1\n1 2\n")
    report = convert([tmp_path / "a.txt"])
    assert (report.order, report.notes) == ("original", ())
    with pytest.raises(UsageError):
        ConvertOptions(order="random")


def test_a_file_of_the_old_default_is_not_up_to_date(tmp_path):
    path, _ = made(tmp_path)
    convert([path], tmp_path / "out.ccsr", ConvertOptions(order="original"))  # what no order came to
    report = convert([path], tmp_path / "out.ccsr")
    assert not report.cached and report.order == "degree"
    assert any("other options (order)" in note for note in report.notes)
    convert([tmp_path / "edges.txt"], tmp_path / "plain.csrbin", ConvertOptions(order="original"))
    assert convert([tmp_path / "edges.txt"], tmp_path / "plain.csrbin").cached
    convert([tmp_path / "plain.csrbin"], tmp_path / "copy.csrbin", ConvertOptions(order="original"))
    assert convert([tmp_path / "plain.csrbin"], tmp_path / "copy.csrbin").cached


def test_the_compressed_twin_has_the_order_of_its_plain_file(tmp_path):
    path, _ = made(tmp_path)
    report = convert([path], tmp_path / "out.csrbin", ConvertOptions(compressed=True))
    assert report.order == "degree"
    assert labels(tmp_path / "out.csrbin") == labels(tmp_path / "out.ccsr") == labels(path)
    before = (tmp_path / "out.ccsr").stat().st_mtime_ns
    ensure_compressed(tmp_path / "out.csrbin")
    assert (tmp_path / "out.ccsr").stat().st_mtime_ns == before
    assert sections(ensure_compressed(path)) == sections(tmp_path / "out.ccsr")


def test_shards_keep_it(tmp_path):
    path, _ = made(tmp_path)
    for cached in (False, True):
        report = convert([path], tmp_path / "out.shards", ConvertOptions(shards=3))
        assert (report.order, report.cached, report.notes) == ("degree", cached, ())
    from bigbfs.formats.shards.join import join

    join(tmp_path / "out.shards", tmp_path / "joined.csrbin")
    assert sections(tmp_path / "joined.csrbin") == sections(path)


def run(*line, stdin=None):
    done = subprocess.run([sys.executable, "-m", "bigbfs", *map(str, line)], capture_output=True, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def test_the_command_says_the_order(tmp_path):
    path, _ = made(tmp_path)
    out, err = run("convert", path, "-o", tmp_path / "out.ccsr")
    assert "order       degree\n" in out and "order" not in err
    out, err = run("convert", path, "-o", tmp_path / "ids.ccsr", "--keep-ids", "--json")
    said = [line for line in err.splitlines() if "order" in line]
    assert len(said) == 1 and said[0].startswith("note: ") and said[0].endswith("(--keep-ids)")
    found = json.loads(out)
    assert found["order"] == "original" and "keep_ids=True" in found["notes"][0]


def test_ranks_take_no_graph_file_and_texts_in_the_original_order(tmp_path):
    path, _ = made(tmp_path)
    line = ["convert", str(path), "-o", str(tmp_path / "out.csrbin"), "--ranks", "2", "--threads", "1"]
    done = subprocess.run([sys.executable, "-m", "bigbfs", *line], capture_output=True)
    assert done.returncode == 2 and b"one process" in done.stderr
    out, err = run("convert", tmp_path / "edges.txt", *line[2:], "--json")
    assert json.loads(out)["order"] == "original" and "order" not in err
    assert convert([tmp_path / "edges.txt"], tmp_path / "out.csrbin").cached


def test_standard_input(tmp_path):
    path, _ = made(tmp_path)
    with path.open("rb") as stream:
        out, err = run("convert", "-", "-o", tmp_path / "out.csrbin", "--json", stdin=stream)
    kept = labels(tmp_path / "out.csrbin") == labels(path)
    assert kept or "its order is not kept" in err
    assert json.loads(out)["order"] == ("kept" if kept else "original")
    with (tmp_path / "edges.txt").open("rb") as stream:
        out, err = run("convert", "-", "-o", tmp_path / "text.csrbin", "--json", stdin=stream)
    assert json.loads(out)["order"] == "original" and "order" not in err
    assert Path(tmp_path / "text.csrbin").exists() and np.all(np.diff(labels(tmp_path / "text.csrbin")[0]) > 0)
