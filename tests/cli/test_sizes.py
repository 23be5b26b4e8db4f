"""Options that take sizes: one rule for all commands."""

import click
import pytest

from bigbfs.cli import main, values


def options_called(name, command=main.cli, path=()):
    """Return, by command line, every option of that name."""
    found = {}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            found |= options_called(name, command.get_command(context, word), (*path, word))
    for option in command.params:
        if name in option.opts:
            found[" ".join(path)] = option
    return found


def test_every_memory_takes_a_share_of_what_is_free(monkeypatch):
    monkeypatch.setattr(values, "free_memory", lambda: 1000)
    found = options_called("--memory")
    assert {"convert", "distances", "plan", "generate star"} <= set(found)
    for line, option in found.items():
        assert option.type.convert("50%", option, None) == 500, line
        assert option.type.convert("2GiB", option, None) == 2 << 30, line


@pytest.mark.parametrize("name", ["--vram-budget", "--ram-budget"])
def test_no_share_is_taken_of_what_nobody_has_looked_at(name):
    option = options_called(name)["bfs"]
    with pytest.raises(click.BadParameter, match="is not a size"):
        option.type.convert("50%", option, None)


def test_a_graph_is_generated_within_a_share(run, folder):
    code, out, err = run("generate", "star", "--scale", 8, "--memory", "50%", "-o", "g.csrbin")
    assert code == 0 and "256 vertices" in out, err
