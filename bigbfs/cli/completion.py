"""``bigbfs completion``: the script by which a shell completes commands and options; click writes it."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that lets SHELL complete commands and options.

    \b
    bash:  bigbfs completion bash > ~/.local/share/bash-completion/completions/bigbfs
    zsh:   bigbfs completion zsh > DIR/_bigbfs, with DIR in $fpath
    fish:  bigbfs completion fish > ~/.config/fish/completions/bigbfs.fish
    """
    from bigbfs.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(cli, {}, "bigbfs", "_BIGBFS_COMPLETE")
    click.echo(made.source_template % made.source_vars())  # source() would run a shell to ask for its version
