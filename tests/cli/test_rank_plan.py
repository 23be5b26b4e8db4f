"""plan --ranks and probe --ranks: memory as the run counts it, times that follow the rates, profiles that keep both."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks import measure, model
from bigbfs.config import RankRates, find_profile, profile_text, rates_text, read_profile
from bigbfs.engines.cpu import ranked_memory
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks import launch, threads
from bigbfs.errors import ConfigError
from bigbfs.graph.graph import Graph

FAST = RankRates("a fabric", 1, 1, 1e-9, 1e15, 1e-9, 1e15, 1e-8)
SLOW = RankRates("a modem", call_seconds=1e-2, bytes_per_second=1e5, host_call_seconds=1.0, vertex_seconds=1e-8)
RUN = model.Run(2**26, 2**25, 2**31, 8, 1, 4)


@pytest.fixture
def graph(folder: Path) -> Path:
    zoo.shared()["kronecker"].save(folder / "g.csrbin")
    return folder / "g.csrbin"


def test_ranks_share_the_work_where_links_cost_nothing() -> None:
    counts = model.best_count(RUN, FAST, 64)
    assert list(counts) == [1, 2, 4, 8, 16, 32, 64]
    assert counts[1] == pytest.approx(2**25 * 1e-8 / 4)
    assert 2 < counts[1] / counts[8] < 8  # one thread of a rank writes down and takes in claims, whatever the link
    assert min(counts, key=counts.__getitem__) == 64


def test_ranks_are_slower_where_links_cost_much() -> None:
    counts = model.best_count(RUN, SLOW, 64)
    assert min(counts, key=counts.__getitem__) == 1
    levels = model.predict(RUN, SLOW)
    assert sum(level.exchange for level in levels) > 0.9 * model.seconds_of(levels)


def test_machines_share_their_link_and_have_no_window() -> None:
    rates = RankRates(host_bytes_per_second=8e9)
    apart = model.Run(2**26, 2**25, 2**31, 8, 2, 4)
    assert model.link_of(rates, apart).bytes_per_second == 2e9
    assert "window" in {level.told for level in model.predict(RUN, rates)}
    assert "window" not in {level.told for level in model.predict(apart, rates)}


def test_bytes_of_a_search() -> None:
    """Two ranks: half of two bitmaps and of the tail's two, and claims."""
    two = model.Run(2**22, 2**21, 2**27, 2, 2, 1)
    expected = 4 * two.n / 8 / 2 + 0.036 * 2.2 * two.n
    assert sum(level.bytes for level in model.predict(two, RankRates())) == pytest.approx(expected)


def test_a_plan(run: Any, graph: Path) -> None:
    (graph.parent / "r.toml").write_text(rates_text(FAST))
    code, out, err = run("plan", "g.csrbin", "--ranks", "16", "--hosts", "2", "--threads", "64", "--profile", "r.toml")
    assert code == 0, err
    for said in (
        "16 ranks on 2 machines, 64 threads each; rates: a fabric",
        "levels and parents",
        "verdict",
        "predicted",
    ):
        assert said in out
    code, out, err = run("plan", "g.csrbin", "--ranks", "2", "--json", "--profile", "r.toml")
    assert code == 0, err
    plan = json.loads(out)
    assert (plan["ranks"], plan["hosts"], plan["rates"]["name"]) == (2, 1, "a fabric")
    assert plan["seconds"] == pytest.approx(sum(level["work"] + level["exchange"] for level in plan["levels"]))
    assert plan["seconds_by_ranks"]["2"] == pytest.approx(plan["seconds"])
    with Graph.open(graph) as opened:
        assert plan["vertices_with_edges"] == (opened.degrees() > 0).sum()


def test_a_graph_without_edges_has_a_plan(run: Any, folder: Path) -> None:
    zoo.build(4, (np.empty(0, np.int64), np.empty(0, np.int64))).save(folder / "e.csrbin")
    for ranks in ("1", "2", "16"):
        code, out, err = run("plan", "e.csrbin", "--ranks", ranks)
        assert code == 0, err
        assert ("one process is the quickest" in out) == (ranks != "1")


def test_the_ledger_is_what_the_run_asks_for(run: Any, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = run("plan", "g.csrbin", "--ranks", "3", "--threads", "1", "--json")
    assert code == 0, err
    plan, asked = json.loads(out), {}
    require = ranked_memory.require

    def noted(group: Any, need: int, n: int, advice: str) -> None:
        asked[group.rank] = need
        require(group, need, n, advice)

    def rank(group: Any) -> None:
        with Graph.open(graph) as opened, RankedEngine(opened, group=group, threads=1, partition="words") as engine:
            engine.run(BfsOptions(0))

    monkeypatch.setattr(ranked_memory, "require", noted)
    threads.run(3, rank)
    total = sum(asked.values())
    assert total <= plan["machine_bytes"] <= 1.1 * total  # the plan counts whole words for the largest share


def test_components_are_told_by_bits(run: Any, graph: Path) -> None:
    code, out, err = run("plan", "g.csrbin", "--ranks", "4", "--hosts", "2", "--json")
    assert code == 0, err
    plan = json.loads(out)
    rates, n = RankRates(), plan["graph"]["vertices"]
    said = plan["components"]
    assert said["bytes"] == n / 8 * 3 / 4
    calls = 5 * (rates.host_call_seconds + rates.call_seconds)
    assert said["seconds"] == pytest.approx(calls + said["bytes"] / (rates.host_bytes_per_second / 2))
    code, out, err = run("plan", "g.csrbin", "--ranks", "4", "--hosts", "2")
    assert code == 0 and "B of bits into a rank" in out, err
    code, out, err = run("plan", "g.csrbin", "--ranks", "4")
    assert code == 0 and "components" in out and "nothing is sent" in out, err
    code, out, err = run("plan", "g.csrbin", "--ranks", "1", "--hosts", "1", "--json")
    assert code == 0 and json.loads(out)["components"]["bytes"] == 0, err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hosts", "2"], "--hosts goes with --ranks or --gpus"),
        (["--threads", "2"], "--threads goes with --ranks or --searches"),
        (["--ranks", "2", "--hosts", "3"], "--hosts 3 is more than --ranks 2"),
        (["--ranks", "2", "--residency", "vram"], "leave one of them out, or give --gpus for ranks on GPUs"),
        (["--ranks", "2", "--vram-budget", "1GiB"], "--vram-budget is for a run on a GPU"),
    ],
)
def test_plans_that_are_refused(run: Any, graph: Path, arguments: list[str], said: str) -> None:
    code, _, err = run("plan", "g.csrbin", *arguments)
    assert code == 2
    assert said in err


def test_profiles_with_ranks(tmp_path: Path) -> None:
    device = read_profile(find_profile("laptop-6gb"))
    alone, both = tmp_path / "alone.toml", tmp_path / "both.toml"
    alone.write_text(rates_text(SLOW))
    assert read_profile(alone).ranks == SLOW
    both.write_text(profile_text(replace(device, ranks=SLOW), "both"))
    assert read_profile(both) == replace(device, ranks=SLOW)
    alone.write_text("ranks = 3\n")
    with pytest.raises(ConfigError, match=r"it must be a \[ranks\] table"):
        read_profile(alone)
    alone.write_text("[ranks]\ncall_seconds = 0.0\n")
    with pytest.raises(ConfigError, match=r"call_seconds is 0\.0; it must be more than 0"):
        read_profile(alone)


def test_what_ranks_of_several_machines_measure_says_nothing_of_one() -> None:
    before = RankRates("before", call_seconds=1e-3, host_call_seconds=2e-3)
    [here, *_] = threads.run(2, lambda group: measure.measure(group, before, scale=8))
    assert here.host_call_seconds == 2e-3 and here.call_seconds != 1e-3
    assert (here.ranks, here.hosts) == (2, 1)
    [apart, *_] = threads.run(2, lambda group: measure.measure(group, before, scale=8), hosts=("a", "b"))
    assert apart.call_seconds == 1e-3 and apart.host_call_seconds != 2e-3
    assert (apart.hosts, apart.name) == (2, "ranks of a, b")


def test_probe_writes_into_the_profile(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    profile = tmp_path / "device.toml"
    device = read_profile(find_profile("laptop-6gb"))
    profile.write_text(profile_text(device, "of a GPU"))
    command = [sys.executable, "-m", "bigbfs", "probe", "--ranks", "2", "-o", str(profile)]
    environment = launch.environment(4, 4)
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=400, check=False)
    assert ran.returncode == 2 and "--force" in ran.stderr
    ran = subprocess.run(
        [*command, "--force"], capture_output=True, text=True, env=environment, timeout=400, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found = read_profile(profile)
    assert found.name == device.name and found.ranks is not None
    assert found.ranks.ranks == 2 and found.ranks.vertex_seconds < 1e-3
