import re
import signal

import click
import pytest

import bigbfs
from bigbfs.cli import main


def foreign_advice(arguments, err):
    """Return the options that an error message names and the command that failed does not have.

    What stands between backquotes is a command line of its own.
    """
    command = main.cli
    for word in arguments:
        if isinstance(command, click.Group) and word in command.list_commands(click.Context(command)):
            command = command.get_command(click.Context(command), word)
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
    lines = [line for line in err.splitlines() if line.startswith(("bigbfs: error: ", "what helps: "))]
    text = re.sub(r"`[^`]*`|'[^']*'", "", "\n".join(lines))
    return set(re.findall(r"(?<![\w/.-])(?:--[a-z][a-z-]*|-o)(?![\w/.])", text)) - known


@pytest.fixture(autouse=True)
def a_hangup_is_noticed():
    """Under nohup too, whose children ignore SIGHUP: those that tests start are to end by it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def run(capsys):
    """Run the command line in this process; return (exit code, stdout, stderr)."""

    def call(*arguments):
        code = main.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert not foreign_advice([str(argument) for argument in arguments], captured.err), captured.err
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
