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
