"""Comparing with other programs: their file formats, what they print, and the tool with programs of our own."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import compare_peers
import numpy as np
import peer_formats
import peer_runs
import pytest
from emulated.runtime import SimtRuntime, builds_here

from bigbfs import generate
from bigbfs.errors import DeviceError, FileAccessError, InputError, UsageError, VerificationError

ROOT = Path(__file__).resolve().parents[2]

INDPTR = np.array([0, 2, 3, 5, 6, 6], np.uint64)
INDICES = np.array([1, 2, 0, 0, 3, 2], np.uint32)

FAKE = """#!{python}
import argparse, json
import numpy as np
parser = argparse.ArgumentParser()
parser.add_argument("graph"), parser.add_argument("--memory"), parser.add_argument("--trials", type=int)
parser.add_argument("--sources", default=""), parser.add_argument("--variant", default="")
options = parser.parse_args()
data = open(options.graph, "rb").read() if "{format}" != "efg" else b""
if "{format}" == "efg":
    indptr = np.fromfile(options.graph + "/vertex.CSR", "<u8")
    indices = np.fromfile(options.graph + "/edge.CSR", "<u4")
elif "{format}" == "ecl":
    n, m = np.frombuffer(data, "<i4", 2)
    indptr = np.frombuffer(data, "<i4", n + 1, 8)
    indices = np.frombuffer(data, "<i4", m, 12 + 4 * n)
rows = [indices[indptr[v] : indptr[v + 1]] for v in range(len(indptr) - 1)]

def levels_from(source):
    levels, frontier = {{source: 0}}, [source]
    for v in frontier:
        for u in map(int, rows[v]):
            if u not in levels:
                levels[u] = levels[v] + 1
                frontier.append(u)
    return levels

print("a line of the program's own")
if options.sources:
    for source in map(int, options.sources.split(",")):
        levels = levels_from(source)
        for trial in range(options.trials):
            print(json.dumps(dict(work="bfs", source=source, trial=trial, ms=1.5 + trial, reached=len(levels) + {lie},
                                  depth=max(levels.values()), level_sum=sum(levels.values()))))
else:
    left, sizes = set(range(len(rows))), []
    while left:
        found = set(levels_from(min(left)))
        sizes.append(len(found))
        left -= found
    for trial in range(options.trials):
        print(json.dumps(dict(work="cc", trial=trial, ms=2.5, components=len(sizes), largest=max(sizes) + {lie})))
"""


def fake(folder, name, form, lie=0):
    path = folder / name
    path.write_text(FAKE.format(python=sys.executable, format=form, lie=lie))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def words(path, dtype, offset=0):
    return np.frombuffer(path.read_bytes(), dtype, offset=offset).tolist()


def test_emogi_files(tmp_path):
    stem = peer_formats.write_graph("emogi", tmp_path, INDPTR, INDICES)
    assert words(stem.with_suffix(".col"), "<u8") == [6, 8, *INDPTR.tolist()]
    assert words(stem.with_suffix(".dst"), "<u4") == [6, 0, 4, 0, *INDICES.tolist()]


def test_efg_files(tmp_path):
    folder = peer_formats.write_graph("efg", tmp_path, INDPTR, INDICES)
    assert words(folder / "vertex.CSR", "<u8") == INDPTR.tolist()
    assert words(folder / "edge.CSR", "<u4") == INDICES.tolist()


def test_ecl_file(tmp_path):
    path = peer_formats.write_graph("ecl", tmp_path, INDPTR, INDICES)
    assert words(path, "<i4") == [5, 6, *INDPTR.tolist(), *INDICES.tolist()]


def test_gswitch_file(tmp_path):
    path = peer_formats.write_graph("gswitch", tmp_path, INDPTR, INDICES)
    assert path.read_bytes()[:10] == bytes([5, 0, 0, 0, 6, 0, 0, 0, 0, 0])
    assert words(path, "<i4", 10) == [2, 1, 2, 1, 0, *INDPTR[:-1].tolist(), *INDICES.tolist()]


def test_blest_file(tmp_path):
    path = peer_formats.write_graph("blest", tmp_path, INDPTR, INDICES)
    assert words(path, "<u4") == [5, 6, *INDPTR.tolist(), *INDICES.tolist()]


@pytest.mark.parametrize("name", peer_formats.FORMATS)
def test_slices_make_the_same_files(tmp_path, name, monkeypatch):
    (tmp_path / "whole").mkdir()
    (tmp_path / "sliced").mkdir()
    peer_formats.write_graph(name, tmp_path / "whole", INDPTR, INDICES)
    monkeypatch.setattr(peer_formats, "SLICE", 2)
    peer_formats.write_graph(name, tmp_path / "sliced", INDPTR, INDICES)
    files = [path for path in (tmp_path / "whole").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert path.read_bytes() == (tmp_path / "sliced" / path.relative_to(tmp_path / "whole")).read_bytes()


def test_formats_refuse_what_they_cannot_hold(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="64 bits"):
        peer_formats.write_graph("efg", tmp_path, INDPTR, INDICES.astype(np.uint64))
    small = peer_formats.Format(peer_formats.write_ecl, edges=5)
    monkeypatch.setitem(peer_formats.FORMATS, "ecl", small)
    with pytest.raises(UsageError, match="at most 5 directed edges; the graph has 6"):
        peer_formats.write_graph("ecl", tmp_path, INDPTR, INDICES)
    with pytest.raises(FileAccessError, match="does not exist"):
        peer_formats.write_graph("emogi", tmp_path / "none", INDPTR, INDICES)


def bfs_line(**changes):
    row = {"work": "bfs", "source": 7, "trial": 0, "ms": 1.5, "reached": 10, "depth": 3}
    return json.dumps(row | changes)


def test_parse_takes_runs_in_any_order_among_other_lines():
    text = "\n".join(["hello", bfs_line(source=9), "", bfs_line(trial=1), bfs_line()])
    text += "\n" + bfs_line(source=9, trial=1)
    runs = peer_runs.parse("p", text, "bfs", [7, 9], 2)
    assert [(run["source"], run["trial"]) for run in runs] == [(7, 0), (7, 1), (9, 0), (9, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1 of 1 runs are missing"),
        (bfs_line(source=8), "line 1 is no run that was asked for"),
        (bfs_line(trial=1), "line 1 is no run that was asked for"),
        (bfs_line() + "\n" + bfs_line(), "line 2 is no run that was asked for"),
        (bfs_line(ms=0), "line 1 is no run that was asked for"),
        (bfs_line(ms=float("nan")), "line 1 is no run that was asked for"),
        (bfs_line(reached="10"), "line 1 is no run that was asked for"),
        (bfs_line(work="cc"), "line 1 is no run that was asked for"),
        ('{"work": "bfs"}', "line 1 is no run: KeyError"),
        ("{oops", "line 1 is no run: JSONDecodeError"),
    ],
)
def test_parse_refuses(text, message):
    with pytest.raises(InputError, match=message):
        peer_runs.parse("p", text, "bfs", [7], 1)


def test_check_compares_every_fact_that_is_given():
    truth = {7: {"reached": 10, "depth": 3, "level_sum": 19}, None: {"components": 2, "largest": 6}}
    peer_runs.check("p", [{"source": 7, "reached": 10}, {"source": 7, "reached": 10, "level_sum": 19}], truth)
    with pytest.raises(VerificationError, match="level_sum from vertex 7 is 18, not 19"):
        peer_runs.check("p", [{"source": 7, "reached": 10, "level_sum": 18}], truth)
    with pytest.raises(VerificationError, match="p: largest is 5, not 6"):
        peer_runs.check("p", [{"components": 2, "largest": 5}], truth)


def test_run_reports_failures(tmp_path):
    with pytest.raises(DeviceError, match="cannot be started"):
        peer_runs.run("p", [str(tmp_path / "none")], 5)
    with pytest.raises(DeviceError, match="exit code 3: oh"):
        peer_runs.run("p", ["sh", "-c", "echo oh; exit 3"], 5)
    with pytest.raises(DeviceError, match=r"not done after 0\.1 s"):
        peer_runs.run("p", ["sleep", "5"], 0.1)


@pytest.fixture
def compare(monkeypatch, capsys):
    """Run the tool in this process; return its exit code, what it printed and what it said."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["compare_peers.py", *map(str, arguments), "--backend", "cpu"])
        code = compare_peers.main()
        return code, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "k8.csrbin"
    generate.graph("kronecker", seed=3, scale=8, edge_factor=4).save(path)
    return path


def test_the_tool_compares_verified_runs(tmp_path, graph, compare):
    efg, ecl = fake(tmp_path, "efg", "efg"), fake(tmp_path, "ecl", "ecl")
    rows = tmp_path / "rows.jsonl"
    arguments = ["--peer", f"efg/fast={efg}", "--peer", f"ecl-cc={ecl}", "--sources", 3, "--trials", 2]
    code, printed, _ = compare(graph, *arguments, "--order", "degree", "--folder", tmp_path, "--output", rows)
    assert code == 0
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    assert all(row["verified"] and row["seconds"] > 0 and row["n"] == 256 for row in kept)
    peers = {(row["system"], row["place"], row["work"]): row for row in kept if "order" not in row}
    assert set(peers) == {(s, p, w) for s, w in (("efg/fast", "bfs"), ("ecl-cc", "cc")) for p in ("host", "device")}
    row = peers["efg/fast", "host", "bfs"]
    assert row["seconds"] == pytest.approx(0.002)
    own = {
        r["order"]: r
        for r in kept
        if "order" in r and r["place"] == "host" and r["work"] == "bfs" and "again" not in r["system"]
    }
    assert row["ratio"] == {order: pytest.approx(0.002 / own[order]["seconds"]) for order in ("as given", "degree")}
    assert "efg/fast" in printed
    assert not list(tmp_path.glob("bigbfs-peers-*"))


def test_the_tool_says_which_peer_is_wrong_and_goes_on(tmp_path, graph, compare):
    liar, honest = fake(tmp_path, "liar", "ecl", lie=1), fake(tmp_path, "honest", "efg")
    rows = tmp_path / "rows.jsonl"
    arguments = ["--peer", f"ecl-cc={liar}", "--peer", f"efg={honest}", "--place", "host", "--sources", 1]
    code, _, said = compare(graph, *arguments, "--folder", tmp_path, "--output", rows)
    assert code == 3
    assert "ecl-cc: largest is" in said
    kept = {row["system"]: row for row in map(json.loads, rows.read_text().splitlines())}
    assert not kept["ecl-cc"]["verified"] and "seconds" not in kept["ecl-cc"]
    assert kept["efg"]["verified"]


def test_the_tool_drives_the_gpu_engine(tmp_path, graph, compare, monkeypatch):
    if "plain" not in builds_here():
        pytest.skip("another build of the kernels is tested here")
    monkeypatch.setattr("bigbfs.engines.gpu.engine.cuda_runtime", lambda limit: SimtRuntime(build="plain"))
    monkeypatch.setattr("bigbfs.api.choose_backend", lambda backend: "gpu")
    efg, ecl = fake(tmp_path, "efg", "efg"), fake(tmp_path, "ecl", "ecl")
    rows = tmp_path / "rows.jsonl"
    arguments = ["--peer", f"efg={efg}", "--peer", f"ecl-cc={ecl}", "--order", "degree", "--sources", 2, "--trials", 1]
    code, _, _ = compare(graph, *arguments, "--levels-only", "--folder", tmp_path, "--output", rows)
    assert code == 0  # what the fakes find equals what the engine finds, the sum of levels included
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    # works (searches without parents are a third) x orders x places x (before, after), and two peers in two places
    assert len(kept) == 3 * 2 * 2 * 2 + 4
    assert sum(row["system"].startswith("bigbfs degree, levels only") for row in kept) == 4
    own = {row["order"]: row["seconds"] for row in kept if "order" in row and row["place"] == "host"}
    assert set(own) == {"as given", "degree", "as given, levels only", "degree, levels only"}
    ratio = next(row["ratio"] for row in kept if row["system"] == "efg" and row["place"] == "host")
    assert set(ratio) == set(own)
    assert all(row["verified"] for row in kept)


@pytest.mark.parametrize("peer", ["other=x", "efg", "efg="])
def test_the_tool_refuses_peers_that_it_does_not_know(graph, compare, capsys, peer):
    with pytest.raises(SystemExit, match="2"):
        compare(graph, "--peer", peer)
    assert "write NAME[/VARIANT]=PROGRAM" in capsys.readouterr().err


def test_the_tool_refuses_no_trials(graph, compare):
    with pytest.raises(UsageError, match="at least 1"):
        compare(graph, "--trials", 0)


def test_the_tool_refuses_graphs_that_no_peer_reads(tmp_path, compare):
    path = tmp_path / "k.ccsr"
    generate.graph("kronecker", seed=3, scale=6, edge_factor=4).compress().save(path)
    with pytest.raises(UsageError, match="symmetric graphs of plain rows"):
        compare(path)


def test_the_tool_runs_as_a_script(graph):
    line = [sys.executable, str(ROOT / "tools" / "compare_peers.py"), str(graph), "--backend", "cpu", "--sources", "0"]
    done = subprocess.run(line, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "compare_peers: error: --trials and --sources are at least 1\n"
