"""Two machines, played by two network namespaces with a cable between them: right results, and a cable that is cut."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import shm
import zoo

from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.engines.ranks import launch
from bigbfs.graph.graph import Graph

pytest.importorskip("mpi4py")

LIMIT = 300

SHELL = """#!/bin/bash
# called as ssh is: the machine, then a command line
[ "$1" = -x ] && shift
case $1 in {first}) name={a};; *) name={b};; esac
shift
exec ip netns exec $name unshare --uts bash -c "hostname $name; exec $*"
"""


class Hosts(NamedTuple):
    """The names of both, and the beginning of a command line that runs four ranks there."""

    names: tuple[str, str]
    command: list[str]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    if not all(map(shutil.which, ("ip", "unshare", "bash"))):
        pytest.skip("no ip or unshare here, which make network namespaces")
    number = os.getpid() % 60_000
    names = f"bigbfs{number}a", f"bigbfs{number}b"
    net = f"10.{77 + number // 60_000}.{number // 250}.{{}}"
    try:
        try:
            for name in names:
                ip("netns", "add", name)
            ip("link", "add", f"v{number}a", "type", "veth", "peer", "name", f"v{number}b")
            for place, name in enumerate(names):
                cable = f"v{number}{'ab'[place]}"
                ip("link", "set", cable, "netns", name)
                ip("-n", name, "addr", "add", f"{net.format(place + 1)}/24", "dev", cable)
                ip("-n", name, "link", "set", "lo", "up")
                ip("-n", name, "link", "set", cable, "up")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        shell = tmp_path_factory.mktemp("shell") / "shell"
        first, second = net.format(1), net.format(2)
        shell.write_text(SHELL.format(first=first, a=names[0], b=names[1]))
        shell.chmod(0o755)
        where = ["-localhost", first, "-launcher", "ssh", "-launcher-exec", str(shell), "-hosts", f"{first},{second}"]
        command = ["ip", "netns", "exec", names[0], str(launch.mpiexec()), *where, "-ppn", "2", "-n", "4"]
        yield Hosts(names, [*command, sys.executable, "-m", "bigbfs"])
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hosts") / "g.csrbin"
    zoo.shared()["kronecker"].save(path)
    return path


def environment() -> dict[str, str]:
    """Both machines are this one, whose memory the library would find out that they share."""
    return launch.environment(4, 4) | {"UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp", "BIGBFS_RANK_TIMEOUT": "5"}


def test_results_are_right(hosts: Hosts, graph: Path, tmp_path: Path) -> None:
    levels, before = tmp_path / "levels.npy", shm.files()
    line = ["bfs", str(graph), "--source", "0", "--verify", "--json", "--levels", str(levels), "--threads", "1"]
    ran = subprocess.run(
        [*hosts.command, *line], capture_output=True, text=True, env=environment(), timeout=LIMIT, check=False
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    [found] = report["runs"]
    assert "4 ranks of 2 hosts" in report["device"]
    assert len({rank["host"] for rank in found["ranks"]}) == 2
    assert not any("window" in each for each in found["exchanges"])
    with Graph.open(graph) as opened:
        np.testing.assert_array_equal(np.load(levels), reference_bfs(opened, 0)[0])
    levels.unlink()
    shm.require_nothing_left(tmp_path, before)


def test_a_cut_cable_ends_all_and_is_named(hosts: Hosts, graph: Path, tmp_path: Path) -> None:
    before = shm.files()
    line = ["bfs", str(graph), "--source", "0", "--trials", "10000000", "--levels", str(tmp_path / "l.npy"), "-v"]
    with subprocess.Popen(
        [*hosts.command, *line, "--threads", "1"], stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stderr is not None
        said = ""
        while said.count("] process ") < 4:
            said += process.stderr.read(1)
            assert process.poll() is None, said
        time.sleep(2.0)  # into the searches, or into compiling for them
        number = hosts.names[0].removeprefix("bigbfs").removesuffix("a")
        ip("-n", hosts.names[0], "link", "set", f"v{number}a", "down")
        said += process.communicate(timeout=LIMIT)[1]
    try:
        assert process.returncode != 0
        named = f"host {hosts.names[1]} (ranks 2, 3) has not been heard of for 5 s: it has stopped, or the link is cut"
        assert named in said
        shm.require_nothing_left(tmp_path, before)
    finally:
        ip("-n", hosts.names[0], "link", "set", f"v{number}a", "up")
