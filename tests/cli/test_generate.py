import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import zstandard

import bigbfs
from bigbfs import generate
from bigbfs.formats.streams import units
from bigbfs.generate import text
from bigbfs.generate.output import write_graph
from bigbfs.generate.text import write_text

SIZE = ("--scale", 8)


def edges_of(content):
    lines = [line for line in content.splitlines() if not line.startswith("#")]
    return np.array([line.split(" ") for line in lines], np.uint64).reshape(len(lines), 2)


def as_rows(edges):
    return np.stack([edges.src, edges.dst], axis=1)


def test_a_graph_of_other_inputs_is_replaced_aloud(run, folder):
    """As ``convert`` does; again the same is not told, nor is a graph that says nothing of its making."""
    (folder / "g.txt").write_text("1 2\n2 3\n")
    assert run("convert", "g.txt")[0] == 0
    code, out, err = run("generate", "uniform", *SIZE, "-o", "g.csrbin")
    assert code == 0, err
    told = " ".join(out.split())
    assert f"note g.csrbin is replaced: it was made of {folder / 'g.txt'}, and is generated now" in told
    found = json.loads(run("generate", "uniform", *SIZE, "-o", "g.csrbin", "--json")[1])
    assert found["notes"] == []


# --- text -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", generate.KINDS)
def test_text_holds_the_edges_as_drawn(run, folder, kind):
    code, out, err = run("generate", kind, *SIZE, "--seed", 5, "-o", "g.txt", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    edges = generate.generate(kind, scale=8, seed=5)
    assert np.array_equal(edges_of((folder / "g.txt").read_text()), as_rows(edges))
    assert result["schema"] == 1 and result["command"] == "generate"
    assert (result["kind"], result["seed"], result["parameters"]["scale"]) == (kind, 5, 8)
    assert (result["vertices"], result["edges"]) == (256, len(edges.src))
    assert result["output"] == "g.txt" and result["output_bytes"] == (folder / "g.txt").stat().st_size
    assert result["self_loops"] is None and result["seconds"] > 0 and result["peak_rss_bytes"] > 10**6
    assert list(folder.iterdir()) == [folder / "g.txt"]


def test_comments_say_how_it_was_made(run, folder):
    assert run("generate", "dag", "--vertices", 9, "--edges", 4, "--span", 2, "-o", "g.el")[0] == 0
    head = (folder / "g.el").read_text().splitlines()[:3]
    assert head[0] == "# bigbfs generate dag: vertices 9, edges 4, span 2, permute True, seed 1"
    assert head[1:] == ["# directed: say so when it is converted", "# Nodes: 9 Edges: 4"]


def test_packed_text_is_the_same_text(run, folder):
    for name in ("g.txt", "g.txt.gz", "g.el.zst"):
        assert run("generate", "kronecker", "--scale", 14, "-o", name)[0] == 0
    plain = (folder / "g.txt").read_bytes()
    assert gzip.decompress((folder / "g.txt.gz").read_bytes()) == plain
    # one frame: many readers stop after the first
    assert zstandard.ZstdDecompressor().decompressobj().decompress((folder / "g.el.zst").read_bytes()) == plain


def test_packed_text_can_be_unpacked_by_several_threads(run, folder):
    assert run("generate", "kronecker", "--scale", 14, "-o", "g.txt.gz")[0] == 0
    packed, parts = bytearray((folder / "g.txt.gz").read_bytes()), 0
    while packed:
        unit = units.CUTTERS["gzip"](packed, 1 << 24)
        parts += len(unit.members)
        del packed[: unit.length]
    assert parts >= 40


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".txt.zst"])
def test_bytes_do_not_depend_on_threads(folder, monkeypatch, suffix):
    monkeypatch.setattr(text, "STRETCH", 1_000)
    edges = generate.generate("uniform", scale=12, edges=25_500)
    for threads in (1, 2, 5):
        write_text(folder / f"{threads}{suffix}", (edges.src, edges.dst), ["x"], threads)
    contents = {path.read_bytes() for path in folder.iterdir()}
    assert len(contents) == 1


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_every_number_of_digits(folder, dtype):
    top = np.iinfo(dtype).max
    values = [0, *(value for power in range(20) for value in (10**power - 1, 10**power, 10**power + 1)), 2**31, top]
    values = np.array([value for value in values if value <= top], dtype)
    write_text(folder / "x.txt", (values, values[::-1].copy()), [], 2)
    expected = "".join(f"{u} {v}\n" for u, v in zip(values.tolist(), values[::-1].tolist(), strict=True))
    assert (folder / "x.txt").read_text() == expected


@pytest.mark.parametrize("kind", ["kronecker", "geometric"])
def test_text_that_is_drawn_as_it_is_written_is_that_of_all_edges_at_once(folder, monkeypatch, kind):
    monkeypatch.setattr(text, "STRETCH", 1_000)
    edges = generate.generate(kind, scale=10, seed=3)
    write_graph(kind, folder / "g.txt", scale=10, seed=3, threads=3)
    lines = [line for line in (folder / "g.txt").read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 3_000
    assert lines == [f"{u} {v}" for u, v in zip(edges.src.tolist(), edges.dst.tolist(), strict=True)]


def test_text_holds_a_stretch_at_a_time_and_small_files_ask_for_what_they_take(folder):
    """A list of all edges takes 128 MiB; the last line is for a graph of which nearly all is the program."""

    def peak(*arguments):
        line = [sys.executable, "-m", "bigbfs", "generate", *arguments, "--json", "--threads", "2", "--force"]
        # a shell between, or the peak of this process would count as that of the other
        done = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", *line], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["peak_rss_bytes"]

    # the first run may have to compile
    many = ("uniform", "--scale", "15", "--edge-factor", "512", "--memory", "130MiB", "-o", "g.txt")
    assert any(peak(*many) <= 130 << 20 for _ in range(2))
    few = ("uniform", "--scale", "8", "--memory", "102MiB", "-o", "g.csrbin")
    assert any(peak(*few) <= 102 << 20 for _ in range(2))


def test_no_edges(run, folder):
    assert run("generate", "uniform", "--vertices", 3, "--edges", 0, "-o", "g.txt")[0] == 0
    assert edges_of((folder / "g.txt").read_text()).size == 0


# --- graph files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csrbin", ".ccsr"])
def test_graph_files_are_the_graph(run, folder, suffix):
    code, out, err = run("generate", "kronecker", "--scale", 9, "--seed", 3, "-o", f"g{suffix}", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    expected = generate.graph("kronecker", scale=9, seed=3)
    with bigbfs.open(folder / f"g{suffix}") as graph:
        assert graph.codec == ("plain" if suffix == ".csrbin" else "varint")
        rows = graph.decompress().adjacency
        assert np.array_equal(rows.indptr, expected.adjacency.indptr)
        assert np.array_equal(rows.indices, expected.adjacency.indices)
        assert (result["vertices"], result["edges"]) == (512, graph.m)
    assert result["self_loops"] > 0 and result["duplicates"] > 0


def test_text_converts_to_the_same_graph_but_for_isolated_vertices(run, folder):
    assert run("generate", "kronecker", "--scale", 9, "-o", "text.txt.gz")[0] == 0
    assert run("generate", "kronecker", "--scale", 9, "-o", "direct.csrbin")[0] == 0
    assert run("convert", "text.txt.gz", "-o", "text.csrbin")[0] == 0
    with bigbfs.open("text.csrbin") as text_graph, bigbfs.open("direct.csrbin") as direct:
        assert text_graph.n == (direct.degrees() > 0).sum()
        degrees = direct.degrees()
        assert np.array_equal(text_graph.degrees(), degrees[degrees > 0])
        assert text_graph.m == direct.m


def test_dag_is_directed_and_order_is_by_degree(run, folder):
    assert run("generate", "dag", "--scale", 7, "-o", "dag.csrbin")[0] == 0
    assert run("generate", "star", "--scale", 7, "--order", "degree", "-o", "star.csrbin")[0] == 0
    with bigbfs.open("dag.csrbin") as dag, bigbfs.open("star.csrbin") as star:
        assert dag.flags.directed and dag.in_adjacency is not None
        assert star.degrees().argmax() == 0 and star.flags.relabelled


# --- what cannot be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("uniform", *SIZE), "-o"),
        (("uniform", "-o", "g.txt"), "the size is missing: give --scale (2^scale vertices), or --vertices\n"),
        (("kronecker", "-o", "g.txt"), "the size is missing: give --scale (2^scale vertices)\n"),
        (("uniform", *SIZE, "--vertices", 9, "-o", "g.txt"), "--vertices 9: give one of them, and not both"),
        (("uniform", *SIZE, "--max-degree", 9, "-o", "g.txt"), "no such option"),
        (("kronecker", "--vertices", 9, "-o", "g.txt"), "no such option"),
        (("kronecker", "--scale", "x", "-o", "g.txt"), "'x' is not a valid integer"),
        (("kronecker", "--scale", 99, "-o", "g.txt"), "between 0 and 40"),
        (("kronecker", *SIZE, "--seed", -1, "-o", "g.txt"), "seed"),
        (("kronecker", *SIZE, "-o", "g.doc"), "the suffix says what"),
        (("kronecker", *SIZE, "-o", "g.txt.bz2"), "the suffix says what"),
        (("kronecker", *SIZE, "-o", "g"), "the suffix says what"),
        (("kronecker", *SIZE, "--order", "degree", "-o", "g.txt"), "--order"),
        (("kroneker", *SIZE, "-o", "g.txt"), "kroneker"),
    ],
)
def test_usage_errors_end_with_2_and_no_file(run, folder, arguments, message):
    code, out, err = run("generate", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert list(folder.iterdir()) == []


def test_a_missing_folder_and_a_folder_for_a_file(run, folder):
    code, _, err = run("generate", "kronecker", *SIZE, "-o", "nowhere/g.txt")
    assert code == 1 and "nowhere/g.txt" in err and "create it first" in err
    (folder / "g.txt").mkdir()
    code, _, err = run("generate", "kronecker", *SIZE, "-o", "g.txt")
    assert code == 1 and "it is a folder" in err


def test_what_does_not_fit_ends_with_5(run, folder):
    code, _, err = run("generate", "kronecker", "--scale", 40, "-o", "g.txt")
    assert code == 5 and "error: g.txt: it takes at least 64 TiB" in err
    code, _, err = run("generate", "kronecker", "--scale", 16, "--memory", "1MB", "-o", "g.txt")
    assert code == 5 and "text of a kronecker graph of 65,536 vertices takes about 1" in err and "--memory" in err
    assert list(folder.iterdir()) == []


def test_a_full_disk_leaves_the_old_file(run, folder, monkeypatch):
    (folder / "g.txt").write_text("# bigbfs generate old")

    def full(*arguments):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(text, "_write", full)
    code, _, err = run("generate", "kronecker", *SIZE, "-o", "g.txt")
    assert code == 5 and "No space left on device" in err
    assert (folder / "g.txt").read_text() == "# bigbfs generate old" and len(list(folder.iterdir())) == 1


def test_a_value_out_of_range_is_that_of_an_option(run, folder):
    code, _, err = run("generate", "kronecker", "--scale", 8, "--edge-factor", "-1", "-o", "g.txt")
    assert (code, err) == (2, "bigbfs: error: --edge-factor -1.0: must be between 0 and 1,048,576 for kronecker\n")


def test_a_grid_without_a_size(run, folder):
    code, _, err = run("generate", "grid2d", "-o", "g.txt")
    assert code == 2 and err.endswith("give --scale (2^scale vertices), --vertices, or --rows and the other side\n")


def test_an_interrupt_leaves_nothing(folder):
    arguments = ["generate", "uniform", "--scale", "22", "--edge-factor", "8", "-o", "g.txt.gz", "--threads", "1"]
    child = subprocess.Popen([sys.executable, "-m", "bigbfs", *arguments], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130 and "interrupted" in err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["x.txt", "x.csrbin"])
def test_one_line_is_said_as_one(run, folder, name):
    code, out, err = run("generate", "grid2d", "--rows", 1, "--columns", 2, "-o", name)
    assert code == 0, err
    assert ("2 vertices, 1 line\n" in out) == (name == "x.txt")
    code, out, err = run("generate", "grid2d", "--rows", 1, "--columns", 1, "-o", name)
    assert (code and "1 vertices" not in err) or "1 vertex, 0 " in out, (out, err)
