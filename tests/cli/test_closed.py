"""What may not be read or entered: every command says which file or folder it is, and whose mode to change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
import zoo

MODE = "change its mode or run as its owner"


@pytest.fixture
def graph(folder):
    """g.csrbin in the working folder, split into g.shards."""
    from bigbfs.formats.shards.split import split

    zoo.shared()["kronecker"].save("g.csrbin")
    split("g.csrbin", "g.shards", shards=2)
    return folder


def mortal(*line):
    """Run a command without the powers by which root passes every permission check."""
    drop = []
    if not os.geteuid():
        if shutil.which("setpriv") is None:
            pytest.skip("root needs setpriv (util-linux) to lay its powers down")
        drop = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"]
    command = [*drop, sys.executable, "-m", "bigbfs", *map(str, line)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def refused(line, said, code=1):
    """The command ends with exactly this error."""
    ran = mortal(*line)
    assert (ran.returncode, ran.stdout, ran.stderr) == (code, "", f"bigbfs: error: {said}\n")


@pytest.mark.parametrize(
    "line", [["cc"], ["bfs", "--source", 1], ["plan"], ["info"], ["diameter"], ["cc", "--ranks", 2]], ids=str
)
def test_a_folder_of_shards(graph, line):
    (graph / "g.shards").chmod(0)
    try:
        refused([*line, "g.shards"], f"g.shards: cannot read: Permission denied; you may not read it; {MODE}")
    finally:
        (graph / "g.shards").chmod(0o755)


@pytest.mark.parametrize("ranks", [(), ("--ranks", 2)])
def test_a_manifest(graph, ranks):
    """Ranks of one machine that all find it say it once, and not in one line with a literal end of line in it."""
    (graph / "g.shards" / "manifest.json").chmod(0)
    said = f"g.shards/manifest.json: cannot read: Permission denied; you may not read it; {MODE}"
    refused(["cc", "g.shards", *ranks], said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["cc", "closed/g.csrbin"], "closed/g.csrbin: cannot read: Permission denied; {enter}"),
        (["cc", "closed/g.txt"], "closed/g.txt: cannot read: Permission denied; {enter}"),
        (["join", "closed"], "closed/manifest.json: cannot read: Permission denied; {enter}"),
        (["check", "closed"], "closed/manifest.json: cannot open: Permission denied; {enter}"),
        (["split", "g.csrbin", "-o", "closed/s"], "closed/s: cannot open: Permission denied; {enter}"),
        (["generate", "star", "--scale", 4, "-o", "closed/g.el"], "closed/g.el: cannot write: {no} (-o)"),
    ],
    ids=str,
)
def test_what_is_in_a_closed_folder(graph, line, said):
    """It is the folder's mode that is in the way, and not that of a file in it."""
    (graph / "closed").mkdir(mode=0)
    ways = {"enter": f"you may not enter the folder closed; {MODE}"}
    ways["no"] = "Permission denied; no permission to write there; choose another path"
    try:
        refused(line, said.format(**ways))
    finally:
        (graph / "closed").chmod(0o755)


@pytest.fixture
def secret(folder):
    """secret.csrbin in the working folder, which may not be read."""
    zoo.shared()["kronecker"].save("secret.csrbin")
    (folder / "secret.csrbin").chmod(0)
    return folder


@pytest.mark.parametrize("line", [["info"], ["path", 1, 2], ["path", "ann", "bob"]], ids=str)
def test_the_only_graph_of_a_folder(secret, line):
    """It was said that there is none."""
    end = "change its mode, run as its owner, or name another GRAPH"
    refused(line, f"no GRAPH given, and secret.csrbin in this folder may not be read (Permission denied); {end}")
    (secret / "other.ccsr").touch(mode=0)
    ran = mortal(*line)
    assert ran.returncode == 1 and f"may not be read (Permission denied), nor may 1 other; {end}\n" in ran.stderr


def test_the_newest_graph_of_a_folder(secret):
    """The one that is taken for it was made earlier, and nothing said so."""
    for name, time in (("old.csrbin", 1), ("older.csrbin", 0)):
        zoo.shared()["path"].save(name)
        os.utime(name, (time, time))
    (secret / "older.csrbin").chmod(0)
    ran = mortal("info")
    assert (ran.returncode, ran.stdout.split(":")[0].split()[-1]) == (0, "old.csrbin")
    why = "which is newer than old.csrbin: cannot read: Permission denied"
    assert ran.stderr == f"bigbfs: passed over secret.csrbin, {why}\n"


def test_the_plain_twin_of_the_newest_graph(secret):
    zoo.shared()["path"].compress().save("secret.ccsr")
    os.utime("secret.csrbin", (1, 1))
    ran = mortal("info")
    assert (ran.returncode, ran.stdout.split(":")[0].split()[-1], ran.stderr) == (0, "secret.ccsr", "")
