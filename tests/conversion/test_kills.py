"""Killed at any moment, a process leaves the old files or the new ones, and the next one tidies up.

50 kills in all, over the ways that a conversion can take; BIGBFS_KILLS is another number. ``make test`` does with
six.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from folders import names, require_whole
from wide import split

from bigbfs.formats import atomic

KILLS = int(os.environ.get("BIGBFS_KILLS", "50"))
FEW_KILLS = min(15, KILLS - 1)
LINES = 150_000
TEMPORARY = re.compile(r"\.graph\.(csrbin|ccsr)\.[a-z0-9_]{8}\.tmp|\.bigbfs-spill-.*")

WAYS = {
    "plain": ["graph.txt"],
    "compressed": ["graph.txt", "--compressed"],
    "directed-by-degree": ["graph.txt", "--directed", "--order", "degree", "--compressed"],
    "by-bfs": ["graph.txt", "--order", "bfs"],
    "external": ["-", "-o", "graph.csrbin", "--compressed"],  # nobody knows the size of a stream
}


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


def start(folder, way):
    """Start a conversion of graph.txt."""
    command = [sys.executable, "-m", "bigbfs", "convert", *WAYS[way], "--force"]
    with (folder / "graph.txt").open("rb") as text:
        return subprocess.Popen(command, cwd=folder, stdin=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def seconds_of_a_whole_run(folder, way):
    begun = time.monotonic()
    with start(folder, way) as process:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    return time.monotonic() - begun


def outputs(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".csrbin", ".ccsr")}


def edges(seed):
    return "".join(f"{i} {i * seed % 200_003}\n" for i in range(LINES))


def wait_for_a_temporary_file(process, folder):
    while process.poll() is None and not any(TEMPORARY.fullmatch(name) for name in names(folder)):
        time.sleep(0.0005)


def moments(chance, count):
    """Return when to kill: shares of a whole run, spread evenly; None: while files are written, a third of them."""
    spread = count - count // 3
    return [(i + chance.random()) / spread for i in range(spread)] + [None] * (count // 3)


def killed(process, folder, moment, whole, chance):
    """Kill at ``moment`` of ``whole`` seconds; return whether it was not done before."""
    if moment is None:
        wait_for_a_temporary_file(process, folder)
    with suppress(subprocess.TimeoutExpired):
        process.wait(chance.uniform(0, 0.02) if moment is None else moment * whole)
    process.kill()
    return process.wait() == -signal.SIGKILL


# what the others do is done by these as well
FEW_WAYS = ("compressed", "external")
CHOSEN = split(
    [*((way, FEW_KILLS) for way in FEW_WAYS), *((way, KILLS) for way in WAYS)],
    lambda way, kills: kills == FEW_KILLS,
)


@pytest.mark.parametrize(("way", "kills"), CHOSEN)
def test_killed_at_any_moment(way, kills, tmp_path):
    text = tmp_path / "graph.txt"
    text.write_text(edges(31))
    seconds_of_a_whole_run(tmp_path, way)  # compiles what is to be compiled
    old = outputs(tmp_path)
    text.write_text(edges(7919))
    whole = seconds_of_a_whole_run(tmp_path, way)
    new = outputs(tmp_path)
    assert new.keys() == old.keys() and all(new[name] != old[name] for name in new)
    chance = random.Random(f"{way} {kills}")
    at = moments(chance, kills // len(WAYS))
    killed_in_time = 0
    for moment in at:
        for name, content in old.items():
            (tmp_path / name).write_bytes(content)
        begun = time.monotonic()
        with start(tmp_path, way) as process:
            if killed(process, tmp_path, moment, whole, chance):
                killed_in_time += 1
            else:  # a run is faster than the one that was measured
                whole = min(whole, time.monotonic() - begun)
        left = set(names(tmp_path)) - {text.name}
        assert all(name in old or TEMPORARY.fullmatch(name) for name in left), left
        for name, content in outputs(tmp_path).items():
            assert content in (old[name], new[name]), f"{name} is neither the old one nor the new one"
        assert left >= old.keys(), "what was there stays until there is something new"
    assert 4 * killed_in_time >= len(at)  # the others were done sooner
    seconds_of_a_whole_run(tmp_path, way)
    assert outputs(tmp_path) == new and names(tmp_path) == sorted([text.name, *new])
    for name in new:
        require_whole(tmp_path / name)
