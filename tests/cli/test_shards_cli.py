"""``bigbfs split``, ``join`` and ``convert --shards`` as commands, and killed at any moment."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from folders import names
from wide import split

import bigbfs
from bigbfs.conversion import cache
from bigbfs.conversion.on_disk import scratch
from bigbfs.formats.container import csrbin

KILLS = int(os.environ.get("BIGBFS_KILLS", "30")) // 3
"""Of each command, in the wide run; else two."""


def object_of(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "") and out.count("\n") == 1
    return json.loads(out)


def test_there_and_back(run, small):
    assert run("split", "graph.csrbin", "--shards", 2)[0] == 0
    code, out, _ = run("join", "graph.shards", "-o", "back.csrbin")
    assert code == 0 and "5 vertices, 6 directed edges" in out
    assert Path("back.csrbin").read_bytes() == Path("graph.csrbin").read_bytes()
    code, out, _ = run("split", "graph.csrbin", "--shards", 2)
    assert code == 0 and "2 shards, of which 2 were there already" in out


@pytest.mark.parametrize("ranks", [(), ("--ranks", 2)])
def test_joined_shards_are_the_file_that_convert_writes(ranks, run, small):
    """Also in what they were made of; only a .ccsr beside a .csrbin names that, which a joined one has not."""
    if ranks:
        pytest.importorskip("mpi4py")
    for suffix, kind in ((".csrbin", ()), (".ccsr", ("--compressed",))):
        assert run("convert", "graph.txt", "-o", f"alone{suffix}")[0] == 0
        assert run("convert", "graph.txt", "-o", f"parts{suffix}s", "--shards", 2, *kind, *ranks)[0] == 0
        assert run("join", f"parts{suffix}s", "-o", f"joined{suffix}")[0] == 0
        assert Path(f"joined{suffix}").read_bytes() == Path(f"alone{suffix}").read_bytes()
    assert run("convert", "graph.txt", "--compressed", "-o", "both.csrbin")[0] == 0
    beside = csrbin.read_provenance(Path("both.ccsr"))
    assert beside.pop("plain") == cache.identify_graph(Path("both.csrbin"))
    assert beside == csrbin.read_provenance(Path("joined.ccsr"))


def test_check_looks_at_the_shards_that_are_there(run, small):
    assert run("split", "graph.csrbin", "--shards", 3)[0] == 0
    code, out, _ = run("check", "graph.shards")
    assert code == 0 and "ok  00002.shard: 0 rows" in out and "ok  here: 3 of 3 shards" in out
    Path("graph.shards/00001.shard").rename("elsewhere")
    assert "ok  here: 2 of 3 shards" in run("check", "graph.shards", "--here")[1]
    code, out, err = run("check", "graph.shards")
    assert code == 1 and "ok  00002.shard" in out and "checks hold" not in out
    assert "graph.shards: 00001.shard: missing, of 4 files that manifest.json names" in err and "fetch it" in err
    found = json.loads(run("check", "graph.shards", "--json")[1])
    assert not found["ok"] and "00001.shard: missing" in found["error"]
    assert run("check", "graph.csrbin", "--here")[0] == 2
    Path("elsewhere").rename("graph.shards/copy.shard")
    assert run("check", "graph.shards")[0] == 1
    Path("graph.shards/copy.shard").unlink()
    for name in ("00000.shard", "rest.shard"):
        path = Path("graph.shards") / name
        whole = path.read_bytes()
        path.write_bytes(whole[:4100] + bytes([whole[4100] ^ 1]) + whole[4101:])
        found = run("check", "graph.shards")
        assert found[0] == 1 and f"{name}: section" in found[2]
        path.write_bytes(whole)
    found = object_of(run, "check", "graph.shards", "--here")
    assert found["ok"] and found["graph"] == {"path": "graph.shards"}
    for path in Path("graph.shards").glob("*.shard"):
        path.unlink()
    assert "holds manifest.json and no shard" in run("check", "graph.shards")[2]


def test_json(run, small):
    found = object_of(run, "split", "graph.csrbin", "--shards", 3)
    size = sum(path.stat().st_size for path in Path("graph.shards").glob("*.shard"))
    expected = {"output": "graph.shards", "shards": 3, "vertices": 5, "edges": 6, "output_bytes": size, "kept": 0}
    assert found.items() >= (expected | {"command": "split", "graph": {"path": "graph.csrbin"}}).items()
    found = object_of(run, "join", "graph.shards")
    expected |= {"output": "graph.csrbin", "output_bytes": Path("graph.csrbin").stat().st_size}
    assert found.items() >= (expected | {"command": "join", "from": "graph.shards"}).items()


def test_without_a_graph_the_newest_is_split(run, small):
    assert run("split", "--shards", 2)[0] == 0 and Path("graph.shards/manifest.json").exists()


@pytest.mark.parametrize("compressed", [[], ["--compressed"]])
@pytest.mark.parametrize("directed", [[], ["--directed"]])
def test_convert_writes_the_shards_of_the_file_that_it_would_write(compressed, directed, run, folder):
    Path("g.txt").write_text("".join(f"{i * i % 997} {i * 31 % 1009}\n" for i in range(4000)))
    found = object_of(run, "convert", "g.txt", "--shards", 4, *compressed, *directed)
    assert (found["output"], found["shards"], found["cached"]) == ("g.shards", 4, False)
    assert names(folder) == ["g.shards", "g.txt"]
    again = object_of(run, "convert", "g.txt", "--shards", 4, *compressed, *directed)
    assert again["cached"] and again["vertices"] == found["vertices"] and again["lines"] == found["lines"] == 4000
    assert again["output_bytes"] == found["output_bytes"]
    assert run("convert", "g.txt", *compressed, *directed)[0] == 0
    suffix = ".ccsr" if compressed else ".csrbin"
    if compressed:  # the one that was made beside the .csrbin says so
        assert run("convert", "g.txt", "-o", f"g{suffix}", "--force", *directed)[0] == 0
    assert run("join", "g.shards", "-o", f"back{suffix}")[0] == 0
    assert Path(f"back{suffix}").read_bytes() == Path(f"g{suffix}").read_bytes()


def test_shards_of_other_inputs_or_options_are_not_replaced_without_force(run, folder):
    Path("g.txt").write_text("1 2\n")
    assert run("convert", "g.txt", "--shards", 2)[0] == 0
    for other in (["--shards", 3], ["--shards", 2, "--directed"], ["--shards", 2, "--compressed"]):
        code, _, err = run("convert", "g.txt", *other)
        assert (
            code == 2 and "another graph, or another number of them; name another folder with -o, or say --force" in err
        )
    Path("g.txt").write_text("1 2\n2 3\n")
    assert run("convert", "g.txt", "--shards", 2)[0] == 2
    assert object_of(run, "convert", "g.txt", "--shards", 2, "--force")["vertices"] == 3
    Path("g.shards/mine").write_text("")
    assert run("convert", "g.txt", "--shards", 2, "--force")[0] == 2


def test_the_folder_may_have_any_name(run, small):
    """`split` took any, and no reader looks at it: `convert` asked for .shards."""
    assert run("convert", "graph.txt", "--shards", 2, "-o", "new")[0] == 0
    assert run("convert", "graph.txt", "--shards", 2, "-o", "new", "--json")[1].count('"cached": true') == 1
    assert run("split", "graph.csrbin", "--shards", 2, "-o", "old.d")[0] == 0
    assert sorted(path.name for path in Path("new").iterdir()) == sorted(path.name for path in Path("old.d").iterdir())
    for folder in ("new", "old.d"):
        assert run("info", folder)[0] == run("join", folder, "-o", f"{folder}.csrbin")[0] == 0
    assert Path("new.csrbin").read_bytes() == Path("graph.csrbin").read_bytes()


def test_what_cannot_be_meant(run, small):
    assert run("split", "graph.csrbin", "--shards", 2)[0] == 0
    for arguments, said in (
        (["convert", "graph.txt", "--shards", 2, "-o", "new.csrbin"], "name the folder with -o new.shards\n"),
        (["split", "graph.csrbin", "-o", "a/new.ccsr"], "name the folder with -o a/new.shards\n"),
        (["convert", "-", "--shards", 2], "say -o OUT.shards"),
        (["members", "graph.shards", "--vertex", 10], "`bigbfs join graph.shards` makes one file"),
        (["info", "graph.shards/00001.shard"], "is a shard, a part of a graph"),
        (["convert", "graph.shards"], "`bigbfs join graph.shards` makes one file"),
        (["split", "graph.shards"], "`bigbfs join graph.shards` makes one file"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "") and said in err, err
    code, _, err = run("join", "nowhere.shards")
    assert code == 1 and "no such folder" in err


COMMANDS = {
    "split": ["split", "g.csrbin", "--shards", "40"],
    "join": ["join", "whole.shards", "-o", "back.csrbin"],
    "convert": ["convert", "g.txt", "--shards", "40"],
}


@pytest.mark.parametrize(
    ("way", "kills"),
    split([(way, n) for way in COMMANDS for n in (2, KILLS)], lambda way, n: n == 2 and way != "split"),
)
def test_killed_at_any_moment(way, kills, tmp_path):
    """What is left is no graph, or the whole of it, and the next run comes to the same end."""
    (tmp_path / "g.txt").write_text("".join(f"{i} {i * 7919 % 60_013}\n" for i in range(60_000)))
    bigbfs.convert(tmp_path / "g.txt")
    bigbfs.split(tmp_path / "g.csrbin", tmp_path / "whole.shards", shards=40)
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole.shards").iterdir()}
    folder, back = tmp_path / "g.shards", tmp_path / "back.csrbin"
    if way == "convert":
        (tmp_path / "g.csrbin").rename(tmp_path / "one.csrbin")
    before = set(names(tmp_path))
    command = [sys.executable, "-m", "bigbfs", *COMMANDS[way]]
    start = time.monotonic()
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    seconds, chance = time.monotonic() - start, random.Random(f"{way} {kills}")
    for kill in range(kills):
        shutil.rmtree(folder, ignore_errors=True)
        back.unlink(missing_ok=True)
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds * (kill + chance.random()) / kills)
            process.kill()
            killed = process.wait() == -signal.SIGKILL
        if (folder / "manifest.json").exists() or back.exists():
            continue  # it had come to its end
        assert killed
        left = set(names(tmp_path)) - before
        assert all(name in ("g.shards", ".back.csrbin.joining") or name.startswith(scratch.PREFIX) for name in left)
        subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
        assert set(names(tmp_path)) - before == {"back.csrbin" if way == "join" else "g.shards"}
        if way == "join":
            assert back.read_bytes() == (tmp_path / "g.csrbin").read_bytes()
        else:
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole


def test_what_a_folder_of_shards_says(run, small):
    """Info and plan need the manifest alone; degrees are those of the shards that are there."""
    assert run("split", "graph.csrbin", "--shards", 3)[0] == 0
    whole, found = object_of(run, "info", "graph.csrbin"), object_of(run, "info", "graph.shards")
    same = ("graph", "file_bytes", "bytes_per_edge", "format")
    assert {key: value for key, value in found.items() if key not in (*same, "rows_here", "shards")} == {
        key: value for key, value in whole.items() if key not in same
    }
    assert [shard["here"] for shard in found["shards"]] == [True] * 3
    assert found["rows_here"] == whole["graph"]["vertices"]
    code, out, _ = run("info", "graph.shards")
    assert code == 0 and "3 of 3, with" in out and "00002.shard" in out
    plan = object_of(run, "plan", "graph.shards", "--ranks", 2)
    assert [rank["shards"] for rank in plan["shards"]] == [[0, 0], [1, 2]]
    assert plan["vertices_with_edges"] == object_of(run, "plan", "graph.csrbin", "--ranks", 2)["vertices_with_edges"]
    for how in ((), ("--gpus", 2, "--partition", "ranges")):
        one, other = (object_of(run, "plan", name, *how) for name in ("graph.csrbin", "graph.shards"))
        assert other["residency"] == one["residency"] and other["graph"] | {"path": ""} == one["graph"] | {"path": ""}
    for path in Path("graph.shards").glob("*.shard"):
        path.unlink()
    found = object_of(run, "info", "graph.shards")
    assert found["rows_here"] == 0 and found["graph"]["edges"] == whole["graph"]["edges"]
    assert "first shard" in run("plan", "graph.shards", "--ranks", 3)[1]
    code, _, err = run("plan", "graph.shards", "--ranks", 4)
    assert code == 2 and "4 ranks for 3 shards" in err
    code, _, err = run("plan", "graph.shards", "--gpus", 2)
    assert code == 1 and "00000.shard: shard 0 of 3 is missing" in err


def test_searches_of_one_process_and_what_is_refused(run, small):
    assert run("split", "graph.csrbin", "--shards", 2)[0] == 0
    for command in (("bfs", "--source", 10), ("cc",)):
        whole, found = (object_of(run, *command[:1], name, *command[1:]) for name in ("graph.csrbin", "graph.shards"))
        assert found["graph"] | {"path": ""} == whole["graph"] | {"path": ""}
        reached = [[each.get("reached") for each in told.get("runs", [])] for told in (whole, found)]
        assert reached[0] == reached[1]
        assert found.get("components") == whole.get("components")
    for arguments, said in (
        (("bfs", "graph.shards", "--source", 10, "--compressed"), "plain rows"),
        (("bfs", "graph.shards", "--source", 10**6), "no vertex"),
        (("cc", "graph.shards", "--largest", "part.csrbin"), "`bigbfs join graph.shards` makes one file"),
        (("closeness", "graph.shards"), "take the folder as it is"),
        (("bfs", "graph.shards/00000.shard", "--source", 0), "a part of a graph"),
    ):
        code, _, err = run(*arguments)
        assert code == 2 and said in err, err


def test_compressed_shards_are_all_that_is_named(run, tmp_path, monkeypatch):
    """Not the graph file that they are cut from, which is gone by then."""
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text("".join(f"{v} {v + 1}\n" for v in range(300)))
    code, out, err = run("convert", "g.txt", "--shards", 3, "--compressed", "-o", "g.shards")
    assert code == 0, err
    assert "g.shards: " in out and "in 3 shards" in out and ".bigbfs-spill" not in out
