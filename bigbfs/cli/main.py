"""Entry point: loads a command's module when it is called, and turns every error into its exit code.

Exit codes: 0 done, 1 failure, 2 usage, 3 verification found a difference, 4 no usable GPU, 5 does not fit,
130 interrupted, 143 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from types import FrameType
from typing import NoReturn

import click

from bigbfs import __version__
from bigbfs.errors import BigBfsError

# name -> one-line help; kept here so that `bigbfs --help` imports no command (0.15 s is the budget)
COMMANDS = {
    "convert": "Turn edge lists and graph files of other tools into .csrbin / .ccsr.",
    "generate": "Make a graph of known shape: kronecker, rmat, uniform, grids, road, powerlaw, star, dag.",
    "info": "Show the header, sizes and degrees of a graph file.",
    "check": "Validate everything in a graph file: checksums, ranges, order, symmetry.",
    "export": "Write a graph in a format that other tools read.",
    "bfs": "Breadth-first search from one or many sources.",
    "cc": "Connected components (exact Afforest).",
    "verify": "Check every algorithm, backend and encoding against the reference.",
    "strategies": "List the traversal strategies and where each comes from.",
}


class LazyGroup(click.Group):
    """A click group whose commands live in ``bigbfs.cli.<name>`` as ``command``, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of ``COMMANDS``."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"bigbfs.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command table without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="bigbfs")
def cli() -> None:
    """Traverse graphs of billions of edges, larger than GPU memory, and prove the answer right."""


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)  # unwinds, so that temporary files are removed


def _fail(message: str, code: int) -> int:
    click.echo(f"bigbfs: error: {message}", err=True)
    return code


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code = cli.main(arguments, prog_name="bigbfs", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", 130)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BigBfsError as error:
        return _fail(str(error), error.exit_code)
    except BrokenPipeError:
        # the reader of our output went away (`| head`): no error of ours; keep the interpreter from flushing again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except MemoryError as error:
        return _fail(f"out of memory{f': {error}' if str(error) else ''}; close other programs or use --memory", 5)
    except OSError as error:
        return _fail(str(error), 1)


def main() -> NoReturn:
    """Console script: run and exit."""
    signal.signal(signal.SIGTERM, _terminate)
    raise SystemExit(run())


if __name__ == "__main__":
    main()
