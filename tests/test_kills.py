"""Killed at any moment, a process leaves whole files or none, and the next one tidies up (BIGBFS_KILLS=50 for more)."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
from folders import names, require_whole

import bigbfs
from bigbfs.formats import atomic
from bigbfs.graph import Graph

KILLS = int(os.environ.get("BIGBFS_KILLS", "8"))


def test_a_killed_process_leaves_nothing_that_the_next_one_does_not_remove(tmp_path):
    path = tmp_path / "g.csrbin"
    code = (
        "import os, signal; from bigbfs.formats.atomic import replacing\n"
        f"with replacing({str(path)!r}) as stream:\n    stream.write(b'half')\n    stream.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    other = tmp_path / ".g.csrbin.of_mine.tmp.txt"
    other.write_bytes(b"mine")
    subprocess.run([sys.executable, "-c", code])
    assert len(names(tmp_path)) == 2 and not path.exists()
    with atomic.replacing(path) as stream:
        stream.write(b"whole")
        assert len(names(tmp_path)) == 2  # that of the dead process has gone, ours is there
        with atomic.replacing(path) as second:  # ours is alive: it stays
            second.write(b"other")
            assert len(names(tmp_path)) == 3
        assert path.read_bytes() == b"other"
    assert path.read_bytes() == b"whole" and names(tmp_path) == [other.name, "g.csrbin"]


def start(folder, number):
    """Start a conversion of graph.txt, to plain and compressed, in an order that depends on ``number``."""
    order = ("original", "degree", "bfs", "rcm")[number % 4]
    command = [sys.executable, "-m", "bigbfs", "convert", "graph.txt", "--compressed", "--force", "--order", order]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def test_killed_at_any_moment(tmp_path):
    chance = random.Random(KILLS)
    big = "".join(f"{i} {i * 7919 % 200003}\n" for i in range(200_000))
    (tmp_path / "graph.txt").write_text(big)
    for _ in range(2):  # the second time nothing is compiled any more
        begun = time.monotonic()
        with start(tmp_path, 0) as process:
            _, errors = process.communicate()
            assert process.returncode == 0, errors
        whole = time.monotonic() - begun
    killed = 0
    for number in range(KILLS):
        with start(tmp_path, number) as process:
            if number % 2:  # any moment
                time.sleep(chance.uniform(0, whole))
            else:  # while a file is being written
                while process.poll() is None and not any(name.endswith(".tmp") for name in names(tmp_path)):
                    time.sleep(0.0005)
                time.sleep(chance.uniform(0, 0.003))
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += process.returncode == -signal.SIGKILL
        for name in names(tmp_path):
            assert name in ("graph.txt", "graph.csrbin", "graph.ccsr") or re.fullmatch(
                r"\.graph\.(csrbin|ccsr)\.[a-z0-9_]{8}\.tmp", name
            )
        for suffix in ("csrbin", "ccsr"):
            require_whole(tmp_path / f"graph.{suffix}")
    assert killed  # the others were done sooner
    report = bigbfs.convert(tmp_path / "graph.txt", compressed=True)
    assert report.edges == 2 * 200_000 - report.duplicates - 2 * report.self_loops or report.edges > 0
    bigbfs.convert(tmp_path / "graph.txt", compressed=True, force=True)
    assert names(tmp_path) == ["graph.ccsr", "graph.csrbin", "graph.txt"]
    with Graph.open(tmp_path / "graph.csrbin") as plain, Graph.open(tmp_path / "graph.ccsr") as packed:
        assert np.array_equal(plain.adjacency.indices, packed.decompress().adjacency.indices)
