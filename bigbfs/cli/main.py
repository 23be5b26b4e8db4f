"""Entry point: loads a command's module when it is called, and turns every error into its exit code.

Exit codes: 0 done, 1 failure, 2 usage, 3 verification found a difference, 4 no usable GPU, 5 does not fit,
9 a rank that others waited for is gone (bigbfs/engines/ranks/watch.py), 130 interrupted, 141 the reader of the output
went away; bigbfs/cli/interrupts.py adds 129 hung up and 143 terminated.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from bigbfs import __version__
from bigbfs.algorithms import ALGORITHMS
from bigbfs.cli.groups import Group
from bigbfs.cli.loading import loading
from bigbfs.cli.starting import SAME_LINE
from bigbfs.cli.wording import in_options, named_command, printable
from bigbfs.engines.ranks import ending, launch
from bigbfs.errors import BigBfsError, ConfigError, DeviceError, FileAccessError, UsageError, brief, of_file
from bigbfs.formats.atomic import access_error
from bigbfs.jit import compiling
from bigbfs.report import progress
from bigbfs.report.progress import CLEAR

# name -> one-line help; kept here so that `bigbfs --help` imports no command (0.15 s is the budget)
COMMANDS = {
    "convert": "Turn edge lists and graph files of other tools into .csrbin / .ccsr.",
    "generate": "Make a graph of known shape: kronecker, rmat, uniform, grid2d, grid3d, road, powerlaw, star, dag, "
    "smallworld, preferential, geometric, web, comb, tree.",
    "info": "Show the header, sizes and degrees of a graph file.",
    "check": "Check everything in a graph file: checksums, ranges, order, symmetry.",
    "export": "Write a graph in a format that other tools read.",
    "split": "Write a graph file as shards, ranges of its rows, for machines that hold only theirs.",
    "join": "Make one graph file of its shards.",
    **{entry.command: entry.summary for entry in ALGORITHMS.values()},
    "closeness": "Closeness, harmonic or Lin centrality of every vertex, exact or sampled; the top ones.",
    "hops": "Vertices within so many hops: the neighbourhood function, effective diameter, average distance.",
    "path": "A shortest path between two vertices, or between the two of many pairs.",
    "diameter": "The exact diameter, by bounds; certified bounds when it is stopped.",
    "eccentricity": "Eccentricity of every vertex, with radius, centre and periphery.",
    "members": "List the connected component of a vertex.",
    "bench": "Time strategies or switches side by side; a table, rows, an HTML report.",
    "plan": "Show what a GPU run would keep where, whether it fits, and how fast it can be at best.",
    "probe": "Measure the GPU and its link to host memory; write a device profile.",
    "verify": "Verify every algorithm, backend and encoding against the reference.",
    "strategies": "List the traversal strategies and where each comes from.",
    "completion": "Print the script that lets bash, zsh or fish complete commands and options.",
    "man": "Print the manual page: every command and option, in the language of man.",
}

EXAMPLES = """\b
Examples:
  bigbfs convert edges.txt                     text to edges.csrbin
  bigbfs bfs edges.csrbin --source 0 --verify  levels and parents from vertex 0, proved
  bigbfs cc edges.parquet -o labels.parquet    convert and label components
  bigbfs diameter edges.csrbin                 the exact diameter, and its two ends
  bigbfs plan edges.csrbin --vram-budget 6GiB  what a GPU would hold, byte by byte

`bigbfs COMMAND --help` has the options of a command.
"""

RANKED = ("bfs", "cc", "convert", "probe")
"""Commands that run as several ranks."""

_OUTPUT_ADVICE = dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO), "send it to another disk")
_OUTPUT_ADVICE[errno.EBADF] = "it is closed, so open it or send it to a file"


class LazyGroup(Group):
    """A click group whose commands live in ``bigbfs.cli.<name>`` as ``command``, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of ``COMMANDS``."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        by = launch.started()
        compiling.command = cmd_name if by is None or SAME_LINE in os.environ else None
        compiling.shared = by is not None  # ranks help one another
        progress.logs = by is None or by.rank == 0
        with loading():
            command: click.Command = import_module(f"bigbfs.cli.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; click itself would take a reader that went away for a failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return _reader_went_away()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command table without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="bigbfs")
@click.pass_context
def cli(context: click.Context) -> None:
    """Traverse graphs of billions of edges, larger than GPU memory, and verify the answer."""
    by = launch.started()
    if by is not None and context.invoked_subcommand not in RANKED:
        raise UsageError(
            f"{by.by} started this {by.size} times, and {context.invoked_subcommand} is work for one "
            f"process; only {', '.join(RANKED[:-1])} and {RANKED[-1]} run as several"
        )


def _fail(message: str, code: int, names_ranks: bool = False, *, lines: bool = False) -> int:
    """Say what is wrong; ``lines``: ends of lines are of the message, and not of a name in it."""
    launch.let_first_speak()
    speaker = "" if names_ranks else launch.speaker()
    click.echo(f"bigbfs: error: {speaker}{_shown(message, lines)}", err=True)
    return code


def _shown(message: str, lines: bool) -> str:
    return brief("\n".join(map(printable, message.expandtabs(4).split("\n"))) if lines else printable(message))


def _fail_as_all(message: str, code: int, names_ranks: bool = False, *, lines: bool = True) -> int:
    """Say what is wrong, once if all ranks have found the same, which then end without being ended."""
    together = launch.failed(code, _shown(message, lines))
    if together is None:
        return _fail(message, code, names_ranks, lines=lines)
    if together[1]:
        click.echo(f"bigbfs: error: {together[1]}", err=True)
    return together[0]


SAID_ONCE = (UsageError, FileAccessError, ConfigError)
"""What all ranks of one command line and one machine find before they meet."""


def _refuse(message: str, code: int, *, lines: bool = True) -> int:
    """Say what is wrong with the command line, or with what it names; ranks of one line and one machine all find it,
    and end before they have met."""
    by = launch.started()
    if by is None or SAME_LINE not in os.environ:
        return _fail_as_all(message, code, lines=lines)
    if by.rank == 0:
        _fail(message, code, lines=lines)
    sys.stderr.flush()
    os._exit(code)


def _tell(error: BigBfsError, arguments: list[str] | None) -> int:
    """Say an error of ours in the options of the command line, and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    said = in_options(error, named_command(cli, words), words)
    if isinstance(error, SAID_ONCE) and not ending.was_in_a_world():
        return _refuse(said, error.exit_code, lines=error.has_lines)
    say = _fail if isinstance(error, DeviceError) else _fail_as_all  # which leaves a device as nobody knows
    return say(said, error.exit_code, error.names_ranks, lines=error.has_lines)


def _reader_went_away() -> int:
    """Return the exit code of a run whose output nobody reads (`| head`): no error of ours."""
    _drop_output()
    return 141


def _drop_output() -> None:
    """Let what is left for standard output go nowhere: the interpreter flushes once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _require_stdout() -> None:
    """Let writing to standard output fail where it fails, which else would pass unnoticed.

    The parent may have closed it (`>&-`). And without a buffer (PYTHONUNBUFFERED, python -u) what a full disk does not
    take of a piece, or the system of one above 2 GiB, is dropped: nobody asks how much was written.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    elif isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        old, each_line = sys.stdout, 1
        sys.stdout = os.fdopen(old.fileno(), "w", each_line, old.encoding, old.errors, closefd=False)


_NEAR = 0.85
"""How much an option is to be like one of the command's own to have been meant, and not that of another command."""
_OF_RANKS = {"--ranks": "as several processes", "--gpus": "on several GPUs"}
"""Options that commands in one process have not, and how others run."""


def _takes_a_graph(context: click.Context) -> bool:
    return any(each.name == "graph" for each in context.command.params)


def _is_of_convert(option: str, context: click.Context) -> bool:
    """Tell whether a command that takes a graph lacks an option that says how one is made of edges."""
    if not _takes_a_graph(context):
        return False
    return any(option in each.opts for each in import_module("bigbfs.cli.convert").command.params)


def _usage(error: click.ClickException) -> str:
    """Return what click says of a command line, in our style."""
    message = error.format_message().removesuffix(".")
    if message[1:2].islower():  # a word, and not a name in capitals
        message = message[0].lower() + message[1:]
    context = error.ctx if isinstance(error, click.UsageError) else None
    if not isinstance(error, click.NoSuchOption) or context is None:
        return message if context is None else f"{message}; see `{context.command_path} --help`"
    what, command = error.option_name, context.info_name
    if what in _OF_RANKS and _takes_a_graph(context):
        said = f"{command} works in one process; `bigbfs bfs` and `bigbfs cc` run {_OF_RANKS[what]}"
        return f"no such option '{what}' here: {said}"
    others = _commands_with(what) if what.startswith("--") and _is_named(context) else []  # -v is this here, that there
    if _is_of_convert(what, context) and set(others) <= {"convert"}:
        return f"no such option '{what}' here: `bigbfs convert INPUT {what}` makes a graph file, which {command} takes"
    from difflib import get_close_matches  # which a right line needs not wait for

    near = get_close_matches(what, error.possibilities or (), 1, _NEAR)
    if others and not near:
        named = others[0] if len(others) == 1 else f"{', '.join(others[:-1])} and {others[-1]}"
        return f"no such option '{what}' here: it is an option of {named}; see `{context.command_path} --help`"
    return f"{message}; see `{context.command_path} --help`"


def _is_named(context: click.Context) -> bool:
    """Tell whether it is of a command, not of `bigbfs` itself or of what a command has below it."""
    return context.parent is not None and context.parent.parent is None


def _commands_with(option: str) -> list[str]:
    """Return the commands that have an option which another lacks, those below one among them (`generate grid2d`)."""
    found = {name: import_module(f"bigbfs.cli.{name}").command for name in COMMANDS}
    below = {name: [command, *getattr(command, "commands", {}).values()] for name, command in found.items()}
    params = {name: [one for command in each for one in command.params] for name, each in below.items()}
    return [name for name, each in params.items() if any(option in (*one.opts, *one.secondary_opts) for one in each)]


def _say_that_kernels_are_compiled() -> None:
    """Say why the first run takes long, to whoever watches: a log has no use for it.

    Where nothing can be kept every run takes as long, which nobody would find out: that is said in any case. Of ranks
    that one command line has started, the first says it for all.
    """
    from bigbfs.jit.njit import keeps

    by = launch.started()
    if by is not None and by.rank and SAME_LINE in os.environ:
        return
    watched = sys.stderr is not None and sys.stderr.isatty()
    clear = CLEAR if watched else ""
    if not keeps():
        said = "compiling kernels, on every run: no folder to keep them in can be written; set NUMBA_CACHE_DIR to one"
        click.echo(f"{clear}bigbfs: {said}", err=True)
    elif watched:
        click.echo(f"{clear}bigbfs: compiling kernels, on the first run only ...", err=True)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _require_stdout()
    compiling.tell(_say_that_kernels_are_compiled)
    try:
        code = cli.main(arguments, prog_name="bigbfs", standalone_mode=False, obj=arguments)
        sys.stdout.flush()
        return int(code or 0)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", 130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return _refuse(_usage(error), error.exit_code)
    except BigBfsError as error:
        return _tell(error, arguments)
    except BrokenPipeError:
        return _reader_went_away()
    except MemoryError as error:
        return _fail(
            f"out of memory{f': {error}' if str(error) else ''}; close other programs, or use a machine with more", 5
        )
    except OSError as error:
        if error.filename is None and error.errno in _OUTPUT_ADVICE:  # every file of ours is named, so it is no file
            advice = _OUTPUT_ADVICE[error.errno]
            _drop_output()
            said = f"standard output: cannot write: {os.strerror(error.errno)}; {advice}"
            return _fail(said, of_file(error.errno).exit_code)
        if isinstance(error.filename, str):  # nobody has said what was wanted of it
            return _tell(access_error(error.filename, error, "open"), arguments)
        return _fail(str(error), 1)
