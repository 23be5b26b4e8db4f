"""``--gpus`` of ``bfs`` and ``cc`` as processes under mpiexec, each with an emulated GPU: printed, written, refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zoo
from wide import WIDE, split

import bigbfs
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.config import GpuLinks, read_profile
from bigbfs.engines.ranks import launch
from emulated.loader import machine
from emulated.runtime import builds_here

BUILD = builds_here()[0]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mpi4py")
    machine(BUILD)  # here, or both compile it
    path = tmp_path_factory.mktemp("gpus") / "g.csrbin"
    zoo.shared()["kronecker"].save(path)
    return path


APART = {"MPIR_CVAR_NOLOCAL": "1"}
"""MPICH takes each process for one of a machine of its own."""


def run(
    arguments: list[str], event: str = "none", ranks: int = 2, more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = launch.environment(2, 2) | {"BIGBFS_RANK_TIMEOUT": "60"} | (more or {})
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent), environment.get("PYTHONPATH", "")])
    line = [str(launch.mpiexec()), "-n", str(ranks), sys.executable, str(HERE / "rank_process.py"), event, *arguments]
    return subprocess.run(line, capture_output=True, text=True, env=environment, timeout=200, check=False)


def test_a_search_of_two_processes(graph: Path, tmp_path: Path) -> None:
    plain = zoo.shared()["kronecker"]
    source = int(plain.degrees().argmax())
    levels = tmp_path / "levels.npy"
    command = ["bfs", str(graph), "--source", str(source), "--verify", "--json", "--levels", str(levels), "-v"]
    ran = run([*command, "--gpus", "all"])
    assert ran.returncode == 0, ran.stderr
    printed = json.loads(ran.stdout)
    assert (printed["backend"], printed["residency"]) == ("gpu", "vram")
    assert printed["device"] == "emulated GPU on each of 2 ranks"
    found = printed["runs"][0]
    assert found["verified"] and len(found["ranks"]) == 2 and len(found["exchanges"]) == len(found["levels"])
    assert found["seconds"] >= max(rank["seconds"] for rank in found["ranks"])
    assert np.array_equal(np.load(levels), reference_bfs(plain, source)[0])
    for rank in range(2):
        assert f"[rank {rank} " in ran.stderr and "memory is shared with the other ranks" in ran.stderr


def test_links_are_measured_and_planned_with(graph: Path, tmp_path: Path) -> None:
    """What two processes measure is written by the first; between machines of one each, calls alone, the rest stays."""
    profile = tmp_path / "links.toml"
    command = ["probe", "--gpus", "all", "--device-bytes", "64KiB", "-o", str(profile), "--force"]
    ran = run(command, "probe")
    assert ran.returncode == 0, ran.stderr
    within, usual = read_profile(profile).gpus, GpuLinks()
    assert within is not None and (within.gpus, within.hosts) == (2, 1)
    assert within.meeting_seconds != usual.meeting_seconds and "NCCL: not every rank has it" in ran.stderr
    assert (
        within.mpi_call_seconds != usual.mpi_call_seconds
        and within.host_mpi_call_seconds == usual.host_mpi_call_seconds
    )
    ran = run(command, "probe", more=APART)
    assert ran.returncode == 0, ran.stderr
    between = read_profile(profile).gpus
    assert between is not None and between.hosts == 2
    assert between.meeting_seconds == within.meeting_seconds and between.mpi_call_seconds == within.mpi_call_seconds
    assert between.host_mpi_call_seconds != usual.host_mpi_call_seconds


@pytest.mark.wide
def test_many_sources_mapped_and_in_ranges(graph: Path) -> None:
    how = ["--residency", "mapped", "--partition", "ranges", "--max-depth", "2", "--no-parents"]
    ran = run(["bfs", str(graph), "--sources", "random:3", *how, "--gpus", "2"])
    assert ran.returncode == 0, ran.stderr
    assert "edges in mapped (emulated)" in ran.stdout and "2 ranks" in ran.stdout


@pytest.mark.parametrize("residency", ["vram", pytest.param("mapped", marks=WIDE)])
def test_components_of_two_processes(graph: Path, tmp_path: Path, residency: str) -> None:
    plain = zoo.shared()["kronecker"]
    labels = tmp_path / "labels.npy"
    command = ["cc", str(graph), "--verify", "--json", "--labels", str(labels), "-v", "--trials", "2"]
    ran = run([*command, "--gpus", "2", "--residency", residency])
    assert ran.returncode == 0, ran.stderr
    printed = json.loads(ran.stdout)
    assert (printed["backend"], printed["residency"]) == ("gpu", residency)
    assert printed["device"] == "emulated GPU on each of 2 ranks"
    for found in printed["runs"]:
        assert found["verified"] and [rank["rank"] for rank in found["ranks"]] == [0, 1]
        assert found["seconds"] >= max(rank["seconds"] for rank in found["ranks"])
        assert all(rank["sent"] > 0 for rank in found["ranks"])
    assert np.array_equal(np.load(labels), reference_components(plain))
    assert "memory is shared with the other ranks" in ran.stderr and "bytes sent" in ran.stderr


FORCED = ["--transport", "mpi", "--residency", "mapped"]
"""By way of hosts, on one machine. A search and components take turns with machines of their own in ``make test``."""


@pytest.mark.parametrize(
    ("how", "more"), [([*FORCED, "--exchange", "list"], {}), pytest.param(["--partition", "ranges"], APART, marks=WIDE)]
)
def test_two_processes_by_way_of_their_hosts(graph: Path, tmp_path: Path, how: list[str], more: dict[str, str]) -> None:
    """Forced on one machine; and each on a machine of its own, where nothing else is possible."""
    plain = zoo.shared()["kronecker"]
    source = int(plain.degrees().argmax())
    levels = tmp_path / "levels.npy"
    command = ["bfs", str(graph), "--source", str(source), "--verify", "--json", "--levels", str(levels), "-v"]
    ran = run([*command, "--gpus", "all", *how], more=more)
    assert ran.returncode == 0, ran.stderr
    printed = json.loads(ran.stdout)
    assert printed["device"] == "emulated GPU on each of 2 ranks" + (" of 2 hosts" if more else "")
    found = printed["runs"][0]
    assert found["verified"] and len(found["ranks"]) == 2 and len(found["exchanges"]) == len(found["levels"])
    assert all(rank["sent"] > 0 for rank in found["ranks"])
    assert np.array_equal(np.load(levels), reference_bfs(plain, source)[0])
    assert ran.stderr.count("transport mpi") == 2


@pytest.mark.wide
@pytest.mark.parametrize("ranks", [2, 3])
def test_levels_in_parts(graph: Path, ranks: int, tmp_path: Path) -> None:
    plain = zoo.shared()["kronecker"]
    source = int(plain.degrees().argmax())
    levels = tmp_path / "levels.npy"
    command = ["bfs", str(graph), "--source", str(source), "--strategy", "topdown", "--gpus", "all"]
    sent = {}
    for event in ("none", "parts"):
        ran = run([*command, "--verify", "--json", "--levels", str(levels), "--force"], event, ranks, APART)
        assert ran.returncode == 0, ran.stderr
        [found] = json.loads(ran.stdout)["runs"]
        assert found["verified"] and np.array_equal(np.load(levels), reference_bfs(plain, source)[0])
        sent[event] = [rank["sent"] for rank in found["ranks"]]
    numbers = (
        2 * (ranks - 1) * 8 * (ranks + 1) * len(found["levels"])
    )  # of two parts more: claims for each, claims left
    for before, after in zip(sent["none"], sent["parts"], strict=True):
        assert abs(after - before - numbers) <= before / 4  # who claims first turns on when others' claims come


@pytest.mark.wide
@pytest.mark.parametrize(("how", "more"), [(FORCED, {}), (["--partition", "ranges", "--compressed"], APART)])
def test_components_of_two_processes_by_way_of_their_hosts(
    graph: Path, tmp_path: Path, how: list[str], more: dict[str, str]
) -> None:
    """Forced on one machine; and each on a machine of its own."""
    plain = zoo.shared()["kronecker"]
    labels = tmp_path / "labels.npy"
    command = ["cc", str(graph), "--gpus", "all", "--verify", "--json", "--labels", str(labels), "-v", "--trials", "2"]
    ran = run([*command, *how], more=more)
    assert ran.returncode == 0, ran.stderr
    printed = json.loads(ran.stdout)
    assert printed["device"] == "emulated GPU on each of 2 ranks" + (" of 2 hosts" if more else "")
    for found in printed["runs"]:
        assert found["verified"] and [rank["rank"] for rank in found["ranks"]] == [0, 1]
        assert all(rank["seconds"] >= rank["waited"] >= 0 for rank in found["ranks"])
        # bits of own vertices and, of a graph with one giant, next to nothing else
        assert all(plain.n / 16 <= rank["sent"] < plain.n / 4 for rank in found["ranks"])
    assert np.array_equal(np.load(labels), reference_components(plain))
    assert ran.stderr.count("transport mpi") == 2


@pytest.mark.wide
def test_each_process_reads_its_own_rows_from_the_file(graph: Path, tmp_path: Path) -> None:
    """The command, as on a machine with several GPUs: proved, and what the hosts of the search say of it."""
    plain = zoo.shared()["kronecker"]
    levels = tmp_path / "l.npy"
    source = int(plain.degrees().argmax())
    line = ["bfs", str(graph), "--source", str(source), "--gpus", "2", "--residency", "streamed", "--verify", "--json"]
    ran = run([*line, "--levels", str(levels), "--transport", "mpi", "-v"])
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["runs"][0]["verified"] and all(rank["sent"] > 0 for rank in found["runs"][0]["ranks"])
    assert np.array_equal(np.load(levels), reference_bfs(plain, source)[0])
    assert ran.stderr.count("streamed, ") == 2 and ran.stderr.count("transport mpi") == 2


@pytest.mark.parametrize(("how", "more"), [pytest.param(["--trials", "2"], {}, marks=WIDE), (["--compressed"], APART)])
def test_components_whose_rows_each_process_reads_from_the_file(
    graph: Path, tmp_path: Path, how: list[str], more: dict[str, str]
) -> None:
    """On one machine, and each on one of its own; the file was never looked at, and is proved on the way."""
    plain = zoo.shared()["kronecker"]
    labels = tmp_path / "l.npy"
    line = ["cc", str(graph), "--gpus", "2", "--residency", "streamed", "--verify", "--json", "-v"]
    ran = run([*line, "--labels", str(labels), *how], more=more)
    assert ran.returncode == 0, ran.stderr
    printed = json.loads(ran.stdout)
    assert printed["residency"] == "streamed"
    for found in printed["runs"]:
        assert found["verified"] and all(rank["sent"] > 0 for rank in found["ranks"])
    assert np.array_equal(np.load(labels), reference_components(plain))
    assert ran.stderr.count("streamed, ") == 2 and ran.stderr.count("transport mpi") == 2


@pytest.fixture(scope="module", params=["csrbin", pytest.param("ccsr", marks=WIDE)])
def shards(graph: Path, request: pytest.FixtureRequest) -> Path:
    """Five shards, plain or compressed."""
    path = graph.parent / f"shards.{request.param}"
    plain = zoo.shared()["kronecker"]
    (plain.compress() if request.param == "ccsr" else plain).save(path)
    folder = graph.parent / f"{request.param}.shards"
    bigbfs.split(path, folder, shards=5)
    return folder


SHARDED = [
    (command, *way)
    for way in ((["--residency", "mapped"], {}), (["--transport", "mpi"], {}), (["--residency", "streamed"], APART))
    for command in ("bfs", "cc")
]
"""Beside one another, by way of their hosts, and each on a machine of its own, read from the files."""


@pytest.mark.parametrize(
    ("command", "how", "more"),
    split(SHARDED, lambda command, how, more: (command == "bfs") == (how[1] != "mpi")),
)
def test_shards_of_two_processes(
    shards: Path, tmp_path: Path, command: str, how: list[str], more: dict[str, str]
) -> None:
    plain, written = zoo.shared()["kronecker"], tmp_path / "found.npy"
    source = int(plain.degrees().argmax())
    line = [command, str(shards), "--gpus", "all", "--verify", "--json", "-v", *how]
    line += ["--source", str(source), "--levels", str(written)] if command == "bfs" else ["--labels", str(written)]
    ran = run(line, more=more)
    assert ran.returncode == 0, ran.stderr
    printed = json.loads(ran.stdout)
    assert printed["device"].startswith("emulated GPU on each of 2 ranks") and printed["runs"][0]["verified"]
    want = reference_bfs(plain, source)[0] if command == "bfs" else reference_components(plain)
    assert np.array_equal(np.load(written), want)


def test_what_shards_do_not_take(shards: Path) -> None:
    for how, said in (
        (["--partition", "words"], "a rank owns the rows of its shards"),
        (["--partition", "words", "--residency", "streamed"], "--partition words"),
    ):
        ran = run(["bfs", str(shards), "--source", "0", "--gpus", "all", *how])
        assert ran.returncode == 2 and said in ran.stderr, ran.stderr


@pytest.mark.parametrize(
    ("command", "how", "said"),
    [
        ("cc", ["--algorithm", "sv"], "several GPUs find components by Afforest"),
        pytest.param("cc", ["--residency", "streamed", "--partition", "words"], "use --partition ranges", marks=WIDE),
        pytest.param("bfs", ["--source", "0", "--transport", "peers"], "use --transport auto", marks=WIDE),
        pytest.param("bfs", ["--source", "0", "--transport", "nccl"], "has no NCCL: emulated devices", marks=WIDE),
    ],
)
def test_what_machines_do_not_do_together(graph: Path, command: str, how: list[str], said: str) -> None:
    ran = run([command, str(graph), "--gpus", "all", *how], more=APART)
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr


@pytest.mark.wide
def test_a_process_that_dies_between_levels_that_hosts_run(graph: Path) -> None:
    start = time.monotonic()
    ran = run(["bfs", str(graph), "--sources", "0,5", "--gpus", "all", "--transport", "mpi"], event="kill")
    assert ran.returncode == 9
    assert time.monotonic() - start < 60


@pytest.mark.parametrize("residency", ["auto", pytest.param("streamed", marks=WIDE)])
def test_a_process_that_dies_before_it_has_told_of_its_forest(graph: Path, residency: str) -> None:
    start = time.monotonic()
    line = ["cc", str(graph), "--trials", "3", "--gpus", "all", "--residency", residency]
    ran = run(line, event="kill", more=APART)
    assert ran.returncode == 9
    assert time.monotonic() - start < 60


def test_a_process_that_dies_while_others_wait_in_a_kernel(graph: Path) -> None:
    start = time.monotonic()
    ran = run(["bfs", str(graph), "--sources", "0,5", "--gpus", "all", "-v"], event="kill")
    assert ran.returncode == 9
    assert time.monotonic() - start < 60, "the others waited for their patience"


PLACED = ["--gpus", "all", "--partition", "whole", "--residency", "vram", "--verify", "-v"]


def test_edges_are_passed_on_by_two_processes(graph: Path, tmp_path: Path) -> None:
    """Each says of each step when it began and ended: also of those that a thread makes beside others."""
    plain, levels = zoo.shared()["kronecker"], tmp_path / "levels.npy"
    source = int(plain.degrees().argmax())
    line = ["bfs", str(graph), "--source", str(source), "--levels", str(levels), "--json", *PLACED]
    ran = run(line, event="passed")
    assert ran.returncode == 0, ran.stderr
    assert np.array_equal(np.load(levels), reference_bfs(plain, source)[0])
    for rank in range(2):
        said = [each for each in ran.stderr.splitlines() if f"[rank {rank} " in each]
        for step in (
            *("memory for others is made", f"memory of rank {1 - rank} is opened", "copies begin"),
            *("kernels of placing are built", "kernels of the work are built", "tables are placed"),
            *("its memory is shared with the other ranks", "own edges are copied", "edges come, heads are made"),
            "kernels run on nothing",
        ):
            assert sum(bool(re.search(rf"{step}: \d\.\d+ to \d\.\d+ s$", each)) for each in said) == 1, (step, said)
        assert any(re.search(r"have come: \d{2,} turns in ", each) for each in said)


@pytest.mark.wide
def test_a_process_that_dies_while_edges_are_passed_on(graph: Path) -> None:
    start = time.monotonic()
    ran = run(["bfs", str(graph), "--source", "0", *PLACED], event="kill-passed")
    assert ran.returncode == 9
    assert time.monotonic() - start < 60, "the others waited for their patience"


def test_more_processes_than_gpus(graph: Path) -> None:
    ran = run(["bfs", str(graph), "--source", "0", "--gpus", "all"], ranks=3)
    assert ran.returncode == 2
    assert "3 GPUs asked for, and this process sees 2" in ran.stderr
    assert "use --gpus" not in ran.stderr, "which the three processes would contradict"
