"""What `hops` and `path` write to files. `small` is the path 10-20-30, and 40-50."""

from __future__ import annotations

import json
import shutil
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from bigbfs.algorithms.many import gathered
from bigbfs.cli import hops
from bigbfs.formats.tables import results
from bigbfs.measures import hops_room


def test_counts_of_hops_are_written(run, small):
    """Of all vertices the pairs, of given ones those of each."""
    code, out, err = run("hops", "-o", "h.npy", "--top", 1, "--max-depth", 5)
    assert code == 0 and "... and 2 more" in out and "wrote       h.npy: int64, 3" in out, out + err
    assert np.load("h.npy").tolist() == [5, 11, 13]
    assert run("hops", "-o", "h.csv")[0] == 0
    assert (small / "h.csv").read_text().split() == ["hops,pairs", "0,5", "1,11", "2,13"]
    code, out, err = run("hops", "--sources", "50,10", "-o", "e.csv", "--json")
    assert code == 0 and [each["path"] for each in json.loads(out)["wrote"]] == ["e.csv"], err
    lines = ["source,hops,vertices", "50,0,1", "50,1,2", "50,2,2", "10,0,1", "10,1,2", "10,2,3"]
    assert (small / "e.csv").read_text().split() == lines
    code, out, err = run("hops", "--sources", "50,10", "-o", "e.npy")
    assert code == 0 and "wrote       e.npy: int64, 6 values" in out, out + err
    assert np.load("e.npy").tolist() == [[1, 2, 2], [1, 2, 3]]
    code, out, err = run("hops", "-o", "-")
    assert (code, out.split()) == (0, ["hops,pairs", "0,5", "1,11", "2,13"]) and "effective diameter" in err
    code, out, err = run("hops", "--top", 0)
    assert code == 0 and "hops  pairs" not in out and "more" not in out


def test_counts_of_hops_that_cannot_be_written(run, small, monkeypatch):
    monkeypatch.setattr(hops, "KEPT", 1)
    code, _, err = run("hops", "--sources", "50,10", "-o", "e.csv")
    assert code == 2 and "1 sources at most, and 2 are given" in err
    monkeypatch.setattr(hops, "KEPT", 2)
    monkeypatch.setattr(gathered, "MOST_COUNTS", 5)
    code, _, err = run("hops", "--sources", "50,10", "-o", "e.csv")
    assert code == 2 and "--max-depth" in err and not (small / "e.csv").exists()
    assert "2 sources with 3 counts each are too many to keep" in err
    assert run("hops", "--sources", "50,10", "-o", "e.txt")[0] == 2
    assert run("hops", "-o", "-", "--json")[0] == 2


def test_counts_of_hops_that_do_not_fit_are_refused_before_the_search(run, folder, monkeypatch):
    """A path of 100 vertices: any of them is 50 from another at least."""
    (folder / "path.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(99)))
    assert run("convert", "path.txt")[0] == 0

    def never(*arguments, **options):
        raise AssertionError("searched")

    words = ("hops", "path.csrbin", "--sources", "random:80")
    with monkeypatch.context() as patched:
        patched.setattr(hops, "hops", never)
        for name, value, said in (
            ("most", 80 * 50, "80 sources with at least"),
            ("memory", 2 * 8 * 80 * 50 - 1, "are free in memory"),
            ("disk", 8 * 80 * 50 - 1, "are free in the disk of e.npy"),
        ):
            with patched.context() as less:
                if name == "most":
                    less.setattr(gathered, "MOST_COUNTS", value)
                elif name == "memory":
                    less.setattr(hops_room, "free_memory", lambda value=value: value)
                else:
                    less.setattr(shutil, "disk_usage", lambda path, value=value: SimpleNamespace(free=value))
                code, _, err = run(*words, "-o", "e.npy")
                assert code == (2 if name == "most" else 5) and said in err and "--max-depth" in err, err
        assert not (folder / "e.npy").exists()
    assert run(*words, "-o", "e.npy", "--max-depth", 9)[0] == 0


def test_distances_of_pairs_are_written(run, small):
    (small / "pairs.txt").write_text("10 30\n50 50\n40 10\n")
    code, out, err = run("path", "--pairs", "@pairs.txt", "-o", "p.csv")
    assert code == 0 and "wrote       p.csv" in out and "3 rows" in out, err
    assert (small / "p.csv").read_text().split() == ["source,target,distance", "10,30,2", "50,50,0", "40,10,-1"]
    assert json.loads(run("path", "--pairs", "@pairs.txt", "-o", "p.npy", "--json")[1])["wrote"][0]["count"] == 3
    assert np.load("p.npy").tolist() == [2, 0, -1]
    assert run("path", 10, 30, "-o", "-")[1].split() == ["source,target,distance", "10,30,2"]
    assert run("path", 10, 30, "-o", "p.txt")[0] == 2
    assert run("path", 10, 30, "-o", "-", "--json")[0] == 2


def test_rows_written_are_told_apart_from_the_searches_of_a_batch(run, folder, monkeypatch):
    """Ctrl-C in the first row: the batch has searched from all sources, and read edges for all of them."""
    (folder / "g.txt").write_text("".join(f"{v} {v + 1}\n" for v in range(99)))
    assert run("convert", "g.txt")[0] == 0
    words = ("distances", "g.csrbin", "--sources", "random:40", "--threads", 1, "--top", 0)
    whole = json.loads(run(*words, "-o", "F.csv", "--json")[1])
    assert (whole["asked"], whole["searches"], whole["rows"], whole["stopped"]) == (40, 40, 40, False)
    add = results.add_lines

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        add(*arguments)

    monkeypatch.setattr(results, "add_lines", interrupted)
    code, out, err = run(*words, "-o", "F.csv", "--json")
    found = json.loads(out)
    assert (code, found["searches"], found["rows"], found["stopped"]) == (130, 40, 1, True), err
    assert (found["edges_read"], found["pairs"]) == (whole["edges_read"], whole["pairs"])
    assert len(found["sources"]) == 1 and len((folder / "F.csv").read_text().split()) == 1 + 100
    code, out, err = run(*words, "-o", "F.csv")
    said = " ".join(out.split())
    assert code == 130 and "searches 40 in 1 batch" in said, err
    assert "stopped 40 of 40 sources searched from, 1 row of these written; F.csv has these alone" in said


@pytest.mark.parametrize("words", [("eccentricity",), ("hops",), ("distances", "--sources", "all", "-o", "D.npy")])
def test_no_lines_asked_for_are_none_left_out(run, small, words):
    code, out, err = run(*words, "--top", 0)
    assert code == 0 and "searches " in out and "more" not in out, err
    assert "... and " in run(*words, "--top", 1)[1]


@pytest.mark.parametrize("more", [(), ("-o", "D.npy")], ids=["shown", "written"])
@pytest.mark.parametrize("command", ["closeness", "distances", "eccentricity", "hops"])
def test_no_two_empty_lines_follow_each_other(run, small, command, more):
    sources = ("--sources", "all") if command == "distances" else ()
    for top in (0, 1):
        code, out, err = run(command, *sources, *more, "--top", top)
        assert code == 0 and "\n\nsearches " in out and "\n\n\n" not in out, err or out
