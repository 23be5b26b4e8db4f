"""Commands as several ranks: started by themselves or by mpiexec; what only rank 0 says; launches that are refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shm
import zoo
from wide import split

from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.engines.ranks import launch
from bigbfs.graph.graph import Graph

pytest.importorskip("mpi4py")

BFS = [sys.executable, "-m", "bigbfs", "bfs"]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ranks") / "g.csrbin"
    zoo.shared()["kronecker"].save(path)
    return path


def run(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = launch.environment(4, 4) | variables
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=400)


def mpiexec(ranks: int) -> list[str]:
    return [str(launch.mpiexec()), "-n", str(ranks)]


def test_ranks_that_start_themselves(graph: Path, tmp_path: Path) -> None:
    levels, before = tmp_path / "levels.npy", shm.files()
    command = [*BFS, str(graph), "--source", "0", "--verify", "--json", "--levels", str(levels), "--ranks", "3", "-v"]
    ran = run(command)
    assert ran.returncode == 0, ran.stderr
    [found] = json.loads(ran.stdout)["runs"]
    with Graph.open(graph) as opened:
        np.testing.assert_array_equal(np.load(levels), reference_bfs(opened, 0)[0])
    assert found["verified"] is True
    assert [rank["rank"] for rank in found["ranks"]] == [0, 1, 2]
    assert len(found["exchanges"]) == len(found["levels"])
    assert found["seconds"] >= max(rank["seconds"] for rank in found["ranks"])
    for rank in range(3):
        assert f"[rank {rank} " in ran.stderr
    told = re.findall(r"\] level (\d+): (?:top-down|bottom-up), nothing told \(all see one state\), (.*)", ran.stderr)
    assert sorted(level for level, _ in told) == sorted(str(level["level"]) for level in found["levels"] * 3)
    for level, time in told:
        alone = found["levels"][int(level)]["seconds"] is not None
        assert re.fullmatch(r"\d+\.\d{3} ms" if alone else "one step with others, not timed alone", time)
    assert ("0", "one step with others, not timed alone") in told
    assert [path.name for path in tmp_path.iterdir()] == ["levels.npy"]
    assert not shm.left_since(before)


def test_ranks_under_mpiexec(graph: Path) -> None:
    alone = run([*BFS, str(graph), "--sources", "random:3", "--json", "--backend", "cpu"])
    ran = run([*mpiexec(4), *BFS, str(graph), "--sources", "random:3", "--json", "--partition", "ranges"])
    assert ran.returncode == 0, ran.stderr
    ours, theirs = (json.loads(each.stdout)["runs"] for each in (ran, alone))
    for name in ("source", "reached", "depth", "edges", "deepest"):
        assert [run[name] for run in ours] == [run[name] for run in theirs]
    assert "1 thread on each of 4 ranks" in json.loads(ran.stdout)["device"]


@pytest.mark.parametrize(("command", "file"), [(["cc"], "t.csv"), (["bfs", "--source", "1"], "t.txt")])
def test_only_rank_0_tells_of_the_graph_file(command: list[str], file: str, tmp_path: Path) -> None:
    """That it was made, of what, found again, compressed, and that its source is newer."""
    source, graph = tmp_path / file, tmp_path / "t.csrbin"
    source.write_text("source,target\n1,2\n2,3\n" if file == "t.csv" else "1 2\n2 3\n")

    def told(path: Path, *more: str) -> list[str]:
        ran = run([sys.executable, "-m", "bigbfs", *command, str(path), "--ranks", "3", *more])
        assert ran.returncode == 0, ran.stderr
        return ran.stderr.splitlines()

    for word in ("made", "found"):
        *notes, last = told(source)
        assert last == f"bigbfs: {word} {graph} of {source}"
        assert [note.startswith(f"note: {source}: line 1 is a header") for note in notes] == [True] * (file == "t.csv")
    [said] = told(graph, "--compressed")
    assert said.startswith(f"bigbfs: made {tmp_path / 't.ccsr'} of {graph}, ")
    source.write_text(source.read_text() + source.read_text()[-4:])
    later = graph.stat().st_mtime + 5
    os.utime(source, (later, later))
    [said] = told(graph)
    assert said.startswith(f"bigbfs: {source} is newer than {graph}, ")


WRONG = [
    (["GRAPH", "--source", "123456789"], 2, "no vertex 123456789"),
    (["GRAPH", "--source", "0", "--target", "123456789"], 2, "no vertex 123456789"),
    (["DAMAGED", "--source", "0"], 1, "cut short"),
    (["nowhere.csrbin", "--source", "0"], 1, "cannot open"),
    (["GRAPH", "--sauce", "0"], 2, "no such option '--sauce'"),
]


@pytest.mark.parametrize(
    ("started", "arguments", "code", "said"),
    split(
        [(started, *wrong) for wrong in WRONG for started in ("mpiexec", "--ranks")],
        # each that is wrong is said once, whoever has started the ranks: a number, a file and an option
        lambda started, arguments, code, said: (
            (started == "mpiexec") == (code == 2) and said != "cannot open" and "--target" not in arguments
        ),
    ),
)
def test_what_is_wrong_for_all_is_said_once(
    graph: Path, tmp_path: Path, arguments: list[str], code: int, said: str, started: str
) -> None:
    """By no rank in particular, and by nobody else: none has to be ended."""
    damaged = tmp_path / "damaged.csrbin"
    damaged.write_bytes(graph.read_bytes()[:3000])
    words = [{"GRAPH": str(graph), "DAMAGED": str(damaged)}.get(word, word) for word in arguments]
    by, own = (mpiexec(2), []) if started == "mpiexec" else ([], ["--ranks", "2"])
    ran = run([*by, *BFS, *words, *own])
    assert (ran.returncode, ran.stdout) == (code, ""), ran.stderr
    assert re.fullmatch(r"bigbfs: error: [^\n]+\n", ran.stderr) and said in ran.stderr, ran.stderr
    assert "rank 0" not in ran.stderr


def test_what_ranks_find_that_differs_all_say() -> None:
    bad = 'exec "$@" "nowhere$PMI_RANK.csrbin" --source 0'
    ran = run([*mpiexec(2), "sh", "-c", bad, "of a rank", *BFS])
    assert ran.returncode == 1 and ran.stdout == "" and "Abort" not in ran.stderr
    for rank in range(2):
        assert re.search(rf"bigbfs: error: rank {rank} \(host \S+\): nowhere{rank}.csrbin: cannot open", ran.stderr)


def test_what_one_rank_finds_ends_those_at_work(graph: Path) -> None:
    """These wait for it, and are ended by MPI."""
    bad = 'test "$PMI_RANK" = 1 && set -- "$@" --sauce; exec "$@"'
    ran = run([*mpiexec(2), "sh", "-c", bad, "of a rank", *BFS, str(graph), "--source", "0"])
    assert ran.returncode == 2 and ran.stderr.count("bigbfs: error: ") == 1
    assert "no such option '--sauce'" in ran.stderr


@pytest.mark.parametrize(
    ("variables", "arguments", "said"),
    [
        ({"PMI_RANK": "1", "PMI_SIZE": "4"}, ["bfs", "g", "--source", "0"], "takes it for rank 0 of 1"),
        ({"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4"}, ["bfs", "g", "--source", "0"], "srun started this as"),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, ["info", "g.txt"], "is work for one process"),
        ({"PMI_RANK": "1", "PMI_SIZE": "4"}, ["bfs", "g", "--source", "0", "--ranks", "2"], "started 4; leave --ranks"),
        ({}, ["bfs", "g", "--source", "0", "--exchange", "list"], "--exchange is for several ranks"),
        ({}, ["bfs", "g", "--source", "0", "-v"], "--verbose is what ranks say; give --ranks too"),
        ({}, ["bfs", "g", "--source", "0", "--ranks", "2", "--backend", "gpu"], "ranks run on CPUs"),
        ({}, ["bfs", "g", "--source", "0", "--ranks", "9999"], "16 ranks for each at most are started; "),
    ],
)
def test_launches_that_are_refused(variables: dict[str, str], arguments: list[str], said: str) -> None:
    """Among them four copies that each believe to be rank 0 of 1."""
    before = shm.files()
    ran = run([sys.executable, "-m", "bigbfs", *arguments], **variables)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert not shm.left_since(before)


@pytest.mark.parametrize("exchange", split(("list", "bitmap", "hubs", "window"), "list".__eq__))
def test_components_have_one_way_to_tell(graph: Path, exchange: str) -> None:
    ran = run([sys.executable, "-m", "bigbfs", "cc", str(graph), "--ranks", "2", "--exchange", exchange])
    assert ran.returncode == 2 and ran.stderr.count("\n") == 1, ran.stderr
    assert ran.stderr.startswith(f"bigbfs: error: --exchange {exchange}: how a search tells what is visited")
    assert ran.stderr.endswith("; use --exchange auto\n")


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("raise ImportError('no mpi4py here')", "ranks need mpi4py"),
        ("raise RuntimeError('cannot load MPI library')", "mpi4py finds no MPI library"),
    ],
)
def test_without_mpi(module: str, said: str, graph: Path, tmp_path: Path) -> None:
    package = tmp_path / "mpi4py"
    package.mkdir()
    (package / "__init__.py").write_text("class rc: pass\n")
    (package / "MPI.py").write_text(module)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", str(Path.cwd()))])
    ran = run([*BFS, str(graph), "--source", "0"], PMI_RANK="1", PMI_SIZE="4", PYTHONPATH=path)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "pip install 'bigbfs[mpich]'" in ran.stderr


def test_nothing_imports_mpi_unless_ranks_are_asked_for(graph: Path) -> None:
    code = (
        "import sys; from bigbfs.cli.main import run; run(sys.argv[1:]); "
        "assert not [name for name in sys.modules if 'mpi4py' in name or name == 'bigbfs.engines.ranks.mpi']"
    )
    ran = run([sys.executable, "-c", code, "bfs", str(graph), "--source", "0", "--backend", "cpu"])
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def shards(graph: Path) -> Path:
    from bigbfs.formats.shards.split import split

    split(graph, graph.parent / "g.shards", shards=5)
    return graph.parent / "g.shards"


def test_searches_over_shards(graph: Path, shards: Path, tmp_path: Path) -> None:
    levels = tmp_path / "levels.npy"
    ran = run([*BFS, str(shards), "--source", "0", "--verify", "--json", "--levels", str(levels), "--ranks", "2"])
    assert ran.returncode == 0, ran.stderr
    with Graph.open(graph) as opened:
        np.testing.assert_array_equal(np.load(levels), reference_bfs(opened, 0)[0])
    assert json.loads(ran.stdout)["graph"]["path"] == str(shards)
    command = [*mpiexec(2), sys.executable, "-m", "bigbfs", "cc", str(shards), "--verify", "--json"]
    ran, alone = run(command), run([sys.executable, "-m", "bigbfs", "cc", str(shards), "--json"])
    assert (ran.returncode, alone.returncode) == (0, 0), ran.stderr + alone.stderr
    assert json.loads(ran.stdout)["components"] == json.loads(alone.stdout)["components"]
    ran = run([*BFS, str(shards), "--sources", "random:2", "--ranks", "2"])
    assert ran.returncode == 0 and "2 ranks" in ran.stdout


def test_a_shard_that_is_missing_ends_all_ranks(shards: Path) -> None:
    path = shards / "00003.shard"
    path.rename(shards.parent / "aside")
    try:
        ran = run([*mpiexec(2), *BFS, str(shards), "--source", "0"])
    finally:
        (shards.parent / "aside").rename(path)
    assert ran.returncode == 1 and "error: rank 1 (host " in ran.stderr
    assert f"{path}: shard 3 of 5 is missing" in ran.stderr
    ran = run([*BFS, str(shards), "--source", "0", "--ranks", "6"])
    assert ran.returncode == 2 and "6 ranks for 5 shards" in ran.stderr
