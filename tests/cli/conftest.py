import pytest

import bigbfs
from bigbfs.cli import main


@pytest.fixture
def run(capsys):
    """Run the command line in this process; return (exit code, stdout, stderr)."""

    def call(*arguments):
        code = main.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small(folder):
    """graph.csrbin in the working folder: ids 10, 20, 30 in a path, 40 and 50 joined, from text."""
    (folder / "graph.txt").write_text("10 20\n20 30\n40 50\n")
    bigbfs.convert("graph.txt")
    return folder
