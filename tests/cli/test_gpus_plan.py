"""plan --gpus: what each rank on a GPU takes, where no GPU is. That runs do is for emulated/test_rank_plans.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zoo

from bigbfs import generate
from bigbfs.algorithms.gpus_ahead import Asked, ahead
from bigbfs.algorithms.ranked_gpus import planned_on_gpus
from bigbfs.algorithms.words import usual_work
from bigbfs.cli import gpus_remedies
from bigbfs.cli.gpus_plan import machine_bytes, machines_of
from bigbfs.cli.gpus_times import verdict
from bigbfs.config import find_profile, read_profile
from bigbfs.engines.gpu.placement.ledger import PLACES, Buffer
from bigbfs.engines.gpu.planning import Limits, Plan
from bigbfs.graph.graph import Graph

KEYS = {
    *("schema", "command", "graph", "device", "device_origin", "gpus", "hosts", "partition", "transport"),
    *(
        "residency",
        "why",
        "head_groups",
        "limits",
        "machine_bytes",
        "ranks",
        "levels_of_one",
        "labels_of_one",
        "predicted",
    ),
}
OF_RANK = {"rank", "host", "vertices", "hot_bytes", "placing_reads", "totals", "buffers"}


@pytest.fixture
def graph(folder: Path) -> Graph:
    plain = zoo.shared()["kronecker"]
    plain.save(folder / "g.csrbin")
    return plain


def planned(run: Any, *arguments: Any) -> dict[str, Any]:
    """Return what is printed for ``plan --json``."""
    code, out, err = run("plan", "g.csrbin", "--profile", "h200", "--algorithm", "bfs", "--json", *arguments)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_ranks_share_the_file(run: Any, graph: Graph) -> None:
    """Streamed: edges are in the file alone, each at one rank; all of them are read once while rows are placed."""
    found = planned(run, "--gpus", 3, "--hosts", 2, "--residency", "streamed")
    assert set(found) == KEYS and all(set(rank) == OF_RANK for rank in found["ranks"])
    assert (found["gpus"], found["hosts"], found["residency"]) == (3, 2, "streamed")
    assert (found["partition"], found["transport"]) == ("ranges", "mpi")
    ranks = found["ranks"]
    assert [rank["host"] for rank in ranks] == ["machine 0", "machine 0", "machine 1"]
    assert sum(rank["vertices"] for rank in ranks) == graph.n
    edges = [each["bytes"] for rank in ranks for each in rank["buffers"] if each["name"] == "indices"]
    assert sum(edges) == graph.adjacency.edges.nbytes and edges == [rank["placing_reads"] for rank in ranks]
    for rank in ranks:
        assert rank["totals"]["mapped"] == 0 < rank["totals"]["pinned"]
        sums = {place: sum(b["bytes"] for b in rank["buffers"] if b["where"] == place) for place in PLACES}
        assert sums == rank["totals"]
    first = sum(rank["totals"][place] for rank in ranks[:2] for place in ("pinned", "host"))
    assert found["machine_bytes"] == first


def test_every_way(run: Any, graph: Graph) -> None:
    """What the options of a run say is what is planned; one machine is for peers unless rows are streamed."""
    for how, said in (
        ((), ("vram", "peers")),
        (("--residency", "mapped"), ("mapped", "peers")),
        (("--transport", "nccl"), ("vram", "nccl")),
        (("--hosts", 2), ("vram", "mpi")),
        (("--residency", "streamed", "--transport", "nccl"), ("streamed", "nccl")),
    ):
        found = planned(run, "--gpus", 2, *how)
        assert (found["residency"], found["transport"]) == said
        pinned = [b["name"] for rank in found["ranks"] for b in rank["buffers"] if b["where"] == "pinned"]
        assert ("staging" in pinned) == (said[1] == "mpi") and ("stages" in pinned) == (said[0] == "streamed")
    for kind in ("words", "ranges", "whole"):
        for algorithm in ("bfs", "cc"):
            how = ("--gpus", 2, "--partition", kind, "--algorithm", algorithm)
            assert planned(run, *how)["partition"] == kind
            assert f"partition {kind}, transport" in run("plan", "g.csrbin", *how)[1]
    found = planned(run, "--gpus", 2, "--residency", "streamed", "--algorithm", "cc")
    assert found["residency"] == "streamed" and "asked" in [b["name"] for b in found["ranks"][0]["buffers"]]
    assert set(planned(run, "--gpus", 1)) == set(planned(run))  # a run on one GPU knows no ranks


def test_what_is_printed(run: Any, graph: Graph) -> None:
    code, out, err = run("plan", "g.csrbin", "--gpus", 20, "--algorithm", "bfs", "--residency", "streamed")
    assert code == 0, err
    assert "20 ranks on 1 machine" in out and "placing reads" in out and "host memory for the ranks of one" in out
    lines = [line.split() for line in out.splitlines()]
    assert len([line for line in lines if line and line[0].isdecimal()]) == 16  # those that take most


def test_what_two_algorithms_hold_by_one_name_is_listed_once(run: Any, graph: Graph) -> None:
    arguments = ("plan", "g.csrbin", "--profile", "h200", "--gpus", 2, "--residency", "vram")
    names = [
        line.split()[0] for line in run(*arguments)[1].splitlines() if line.startswith("  ") and " in all " not in line
    ]
    assert names.count("shared") == names.count("result") == 1
    for rank in json.loads(run(*arguments, "--json")[1])["ranks"]:
        found = [(buffer["name"], buffer["where"]) for buffer in rank["buffers"]]
        assert len(found) == len(set(found))
        totals = {where: sum(each["bytes"] for each in rank["buffers"] if each["where"] == where) for _, where in found}
        assert all(rank["totals"][where] == size for where, size in totals.items())


def test_a_deep_graph_is_said_to_stay_on_one(run: Any, graph: Graph, folder: Path) -> None:
    """As the run does, and what it looks at: for searches, where nobody asks for a partition."""
    assert planned(run, "--gpus", 2)["levels_of_one"] is None
    zoo.build(20_000, zoo.path(20_000)).save(folder / "g.csrbin")
    found = planned(run, "--gpus", 2)["levels_of_one"]
    assert 5_000 < found < 50_000
    for how in (("--partition", "words", "--algorithm", "bfs"), ("--algorithm", "cc")):
        code, out, err = run("plan", "g.csrbin", "--gpus", 2, "--json", *how)
        assert code == 0 and json.loads(out)["levels_of_one"] is None, err
    out = run("plan", "g.csrbin", "--gpus", 2)[1]
    assert "bfs stays on one GPU" in " ".join(out.split())


def test_components_by_degree_are_said_to_stay_on_one(run: Any, folder: Path) -> None:
    """As `cc` does where nobody names a partition, and one GPU has room for all edges."""
    assert run("generate", "kronecker", "--scale", 10, "--order", "degree", "-o", "d.csrbin")[0] == 0

    def plan(*how: str) -> Any:
        code, out, err = run("plan", "d.csrbin", "--profile", "h200", "--gpus", 2, "--json", *how)
        assert code == 0, err
        return json.loads(out)

    found = plan()
    assert found["labels_of_one"] and "cc" not in found["predicted"]["verdicts"]
    assert [each["gpus"] for each in found["predicted"]["by_gpus"] if each["components"]] == [1]
    for how in (("--partition", "words"), ("--algorithm", "bfs"), ("--residency", "mapped")):
        assert not plan(*how)["labels_of_one"]
    assert "cc stays on one GPU" in " ".join(run("plan", "d.csrbin", "--gpus", 2)[1].split())


def test_pages_that_ranks_of_a_machine_map_count_once() -> None:
    def plan(mapped: int, pinned: int) -> Plan:
        buffers = (Buffer("a", mapped, "mapped", ""), Buffer("b", pinned, "pinned", ""), Buffer("c", 1, "host", ""))
        return Plan("mapped", buffers, Limits(0, 0), 0)

    assert machine_bytes(("x", "x", "y"), [plan(100, 5), plan(90, 7), plan(100, 9)]) == 100 + 5 + 7 + 2
    assert [machines_of(5, 2).count(host) for host in ("machine 0", "machine 1")] == [3, 2]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--gpus", 2, "--ranks", 2), 2, "--ranks and --gpus are plans of their own; give one of them"),
        (("--gpus", 2, "--searches", 2), 2, "--gpus and --searches are plans of their own"),
        (("--gpus", 2, "--hosts", 3), 2, "--hosts 3 is more than --gpus 2"),
        (("--gpus", 2, "--threads", 3), 2, "--threads goes with --ranks or --searches"),
        (("--transport", "mpi"), 2, "--transport goes with --gpus; give that too, or leave it out"),
        (("--ranks", 2, "--partition", "words"), 2, "--partition goes with --gpus"),
        (("--gpus", 2, "--hosts", 2, "--transport", "peers"), 2, "use --transport auto"),
        (("--gpus", 2, "--residency", "streamed", "--transport", "peers"), 2, "use --transport auto"),
        (
            ("--gpus", 2, "--residency", "streamed", "--partition", "words", "--algorithm", "bfs"),
            2,
            "use --partition ranges",
        ),
        (("--gpus", 2, "--algorithm", "toposort"), 2, "toposort does not run on several GPUs; take one\n"),
        (("--gpus", 2, "--algorithm", "bfs", "--strategy", "queue"), 2, "strategy 'queue' runs on one GPU"),
        (("--gpus", 2, "--algorithm", "bfs", "--vram-budget", "1kB"), 5, "does not fit 2 GPUs"),
    ],
)
def test_plans_that_are_refused(run: Any, graph: Graph, arguments: Any, code: int, said: str) -> None:
    found, out, err = run("plan", "g.csrbin", *arguments)
    assert (found, out) == (code, "") and said in err, err


def helps(run: Any, *arguments: Any) -> str:
    """Return what is said to help the plan of a run on GPUs that does not fit."""
    code, out, err = run("plan", "dense.csrbin", "--profile", "h200", "--algorithm", "bfs", *arguments)
    assert (code, out) == (5, ""), err
    return str(err).rpartition("what helps: ")[2].strip()


def test_what_helps_is_only_what_does(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More GPUs divide edges, and not what each rank keeps of all vertices; the plans that are named fit."""
    monkeypatch.setattr(gpus_remedies, "SECONDS", 300.0)  # a busy machine plans for longer than users are to wait
    generate.graph("uniform", scale=12, edge_factor=200).save(folder / "dense.csrbin")
    small = ("--residency", "vram", "--vram-budget", "3MiB", "--gpus", 2)
    said = helps(run, *small)
    assert "use --residency mapped" in said and "use --gpus 4 (a part is divided among them)" in said
    budget = said.partition("--vram-budget ")[2].split()[0]
    for way in (("--residency", "mapped"), ("--gpus", 4), ("--vram-budget", budget)):
        assert run("plan", "dense.csrbin", "--profile", "h200", "--algorithm", "bfs", *small, *way)[0] == 0, way
    said = helps(run, "--gpus", 2, "--vram-budget", "30KiB")
    assert said == "use --vram-budget 1MiB or more (if the GPUs have it)"
    said = helps(run, "--gpus", 2, "--vram-budget", "1MiB", "--ram-budget", "1KiB", "--residency", "mapped")
    assert "--residency" not in said and "--ram-budget" in said and "--vram-budget" not in said


def test_remedies_are_not_looked_for_without_end(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has not been planned in time is not said to help."""
    generate.graph("uniform", scale=12, edge_factor=200).save(folder / "dense.csrbin")
    monkeypatch.setattr(gpus_remedies, "SECONDS", -1.0)
    asked = ("--profile", "h200", "--residency", "vram", "--vram-budget", "3MiB", "--gpus", 2)
    code, _, err = run("plan", "dense.csrbin", *asked)
    assert code == 5 and "--gpus 4" not in err and "what helps" not in err


def test_times_are_predicted(run: Any, graph: Graph) -> None:
    """Of 1, 2, 4, ... GPUs and the number asked for; the levels are those of that number."""
    found = planned(run, "--gpus", 3, "--algorithm", "cc")["predicted"]
    assert set(found) == {"links", "links_measured", "search", "by_gpus", "verdicts"} and not found["links_measured"]
    assert [each["gpus"] for each in found["by_gpus"]] == [1, 2, 3, 4, 8]
    assert {each["hosts"] for each in found["by_gpus"]} == {1} and set(found["verdicts"]) == {"bfs", "cc"}
    for each in found["by_gpus"]:
        assert each["residency"] == "vram" and each["components"]["seconds"] > 0
        assert each["search"]["seconds"] > each["search"]["exchange"] >= 0
        assert (each["search"]["bytes"] > 0) == (each["gpus"] > 1)
    mine = found["by_gpus"][2]["search"]
    assert mine["seconds"] == pytest.approx(sum(each["work"] + each["exchange"] for each in found["search"]))
    assert mine["bytes"] == pytest.approx(sum(each["bytes"] for each in found["search"]))
    assert [
        each["direction"] for each in planned(run, "--gpus", 2, "--strategy", "topdown")["predicted"]["search"]
    ] == ["top-down"] * len(found["search"])
    hosts = planned(run, "--gpus", 4, "--hosts", 2)["predicted"]["by_gpus"]
    assert [(each["gpus"], each["hosts"]) for each in hosts] == [(1, 1), (2, 1), (4, 2), (8, 4), (16, 8)]


def test_links_of_the_profile_count(run: Any, graph: Graph, folder: Path) -> None:
    """Slow links make exchange longer; a table that is wrong is refused by name."""
    (folder / "slow.toml").write_text("[gpus]\nname = 'a bus'\npeer_bytes_per_second = 1e6\nmeeting_seconds = 1e-3\n")
    ask = ("plan", "g.csrbin", "--gpus", 2, "--algorithm", "bfs")
    code, out, err = run(*ask, "--profile", "slow.toml", "--json")
    assert code == 0, err
    slow, usual = json.loads(out)["predicted"], planned(run, "--gpus", 2)["predicted"]
    assert slow["links_measured"] and slow["links"]["name"] == "a bus"
    assert slow["by_gpus"][1]["search"]["exchange"] > 10 * usual["by_gpus"][1]["search"]["exchange"]
    assert slow["by_gpus"][0] == usual["by_gpus"][0]
    code, out, err = run(*ask, "--profile", "slow.toml")
    assert code == 0 and "a bus, from the profile" in out
    for text, said in (
        ("[gpus]\nmeeting_second = 1e-3\n", "did you mean 'meeting_seconds'"),
        ("[gpus]\nmeeting_seconds = 0.0\n", "it must be more than 0"),
        ("gpus = 3\n", "it must be a [gpus] table"),
    ):
        (folder / "wrong.toml").write_text(text)
        code, out, err = run(*ask, "--profile", "wrong.toml")
        assert code != 0 and said in err


def test_what_is_said_of_more_gpus(run: Any, graph: Graph, folder: Path) -> None:
    """A small graph: one is fastest. Deep ones stay on one, whatever was asked. Of streamed edges nothing is said."""
    code, out, _ = run("plan", "g.csrbin", "--gpus", 2, "--profile", "h200")
    assert code == 0 and "more GPUs would be slower, and so are 2: one GPU is" in out and "by GPUs" in out
    assert "predicted   bfs " in out and "predicted   cc " in out and "told by peers" in out
    code, out, _ = run("plan", "g.csrbin", "--gpus", 2, "--hosts", 2, "--profile", "h200")
    assert code == 0 and "told by nccl, as runs do where they have it" in " ".join(out.split())
    code, out, _ = run("plan", "g.csrbin", "--gpus", 2, "--residency", "streamed", "--profile", "h200")
    assert code == 0 and "edges stay in the file, and the disk decides" in out and "predicted   " not in out
    generate.graph("grid2d", rows=300, columns=300).save(folder / "deep.csrbin")
    code, out, _ = run("plan", "deep.csrbin", "--gpus", 2, "--profile", "h200")
    assert code == 0 and "slower than one" in out and "\n0 to " in out


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({1: 3.0, 2: 2.0, 4: 1.0}, "more GPUs would be faster: 4 are 2.00 times as fast as 2"),
        ({1: 3.0, 2: 2.0, 4: 1.99}, "more GPUs would be slower, or no faster: 2 are the fastest of these, 1.50 times"),
        ({1: 1.0, 2: 2.0, 4: 1.5}, "more GPUs would be slower, and so are 2: one GPU is 2.00 times as fast as 2"),
        ({2: 2.0, 4: 2.5}, "more GPUs would be slower, or no faster: 2 are the fastest of these"),
    ],
)
def test_verdicts(times: dict[int, float], said: str) -> None:
    assert verdict(2, times).startswith(said)


def test_where_one_has_no_room(run: Any, folder: Path) -> None:
    """What does not fit is said of each number; two are then compared with nothing."""
    dense = generate.graph("uniform", scale=11, edge_factor=400, seed=1)
    dense.save(folder / "g.csrbin")
    room = dense.adjacency.edges.nbytes * 4 // 5
    ask = ("plan", "g.csrbin", "--gpus", 2, "--residency", "vram", "--vram-budget", room, "--profile", "h200")
    code, out, err = run(*ask, "--algorithm", "bfs")
    assert code == 0, err
    assert "1: no room" in out and "one GPU has no room as asked" in " ".join(out.split())
    ask = ("plan", "g.csrbin", "--gpus", 2, "--vram-budget", room, "--profile", "h200", "--algorithm", "bfs", "--json")
    code, out, err = run(*ask)
    assert code == 0, err
    assert [each["residency"] for each in json.loads(out)["predicted"]["by_gpus"]] == ["mapped", "vram", "vram", "vram"]


def test_every_graph_is_planned(graph: Graph) -> None:
    """Empty, directed, with ids of 64 bits, one vertex alone: times are said, and are no nonsense."""
    limits, profile = Limits(1 << 32, 1 << 32), read_profile(find_profile("h200"))
    how = {"residency": "auto", "kind": "auto", "transport": "auto"}
    for number, (name, plain) in enumerate(zoo.shared().items()):
        each, work = plain.compress() if number % 4 == 0 else plain, usual_work()
        hosts = ("a", "a") if number % 2 else ("a", "b")
        agreed = planned_on_gpus(each, hosts, work, limits, **how)
        found, _ = ahead(each, Asked(work, limits, True, how, profile), len(set(hosts)), agreed)
        for times in found:
            seconds, labels = times.search_seconds, times.components
            exchange = sum(level.exchange for level in times.search)
            assert seconds is None or 0 <= exchange < seconds < 1, name
            assert labels is not None and 0 <= labels.exchange < labels.seconds < 1, name
