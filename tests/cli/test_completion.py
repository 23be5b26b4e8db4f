"""``bigbfs completion``: scripts that shells take, and what they are answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from bigbfs.cli.main import run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_of_every_shell(shell, capsys):
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_BIGBFS_COMPLETE=" in script and f"{shell}_complete" in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True).returncode == 0


def test_another_shell_is_refused(capsys):
    assert run(["completion", "tcsh"]) == 2
    assert "tcsh" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "wanted"), [("bigbfs conv", "convert"), ("bigbfs bfs --sou", "--source")])
def test_what_the_script_asks_for_is_answered(words, wanted):
    asked = {"_BIGBFS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    code = "import sys; sys.argv[0] = 'bigbfs'; from bigbfs.cli.main import run; sys.exit(run([]))"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True)
    assert f"plain,{wanted}" in done.stdout.splitlines(), done.stderr
