"""The command line as a whole: help, exit codes, signals, broken pipes."""

import re
import signal
import subprocess
import sys

import click
import pytest

import bigbfs
from bigbfs import errors, generate
from bigbfs.cli import main


def bigbfs_command(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "bigbfs", *arguments], capture_output=True, text=True, **options)


def test_version():
    assert bigbfs.__version__ in bigbfs_command("--version").stdout


def test_every_command_loads_and_has_help(capsys):
    for name in main.COMMANDS:
        assert main.run([name, "--help"]) == 0
        text = capsys.readouterr().out
        assert f"bigbfs {name}" in text
        assert "Options:" in text


def test_every_kind_of_graph_is_named():
    assert main.COMMANDS["generate"].rstrip(".").partition(": ")[2].split(", ") == list(generate.KINDS)


def test_every_option_says_what_it_does():
    for name in main.COMMANDS:
        command = main.cli.get_command(click.Context(main.cli), name)
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{name} {option.opts}"


def test_unknown_command_is_a_usage_error(capsys):
    assert main.run(["bsf"]) == 2
    assert "no such command 'bsf'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raised", "code", "text"),
    [
        (errors.BigBfsError("a"), 1, "bigbfs: error: a"),
        (errors.InputError("b"), 1, "bigbfs: error: b"),
        (errors.FormatError("c"), 1, "error: c"),
        (errors.FileAccessError("d"), 1, "error: d"),
        (errors.DeviceError("d"), 1, "error: d"),
        (errors.UsageError("e"), 2, "error: e"),
        (errors.ConfigError("e"), 1, "error: e"),
        (errors.VerificationError("f"), 3, "error: f"),
        (errors.NoDeviceError("g"), 4, "error: g"),
        (errors.DoesNotFitError("h"), 5, "error: h"),
        (MemoryError(), 5, "out of memory"),
        (OSError("i"), 1, "error: i"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_exit_codes(monkeypatch, capsys, raised, code, text):
    def command(*_, **__):
        raise raised

    monkeypatch.setattr(main.cli, "main", command)
    assert main.run([]) == code
    message = capsys.readouterr().err
    assert text in message
    assert len(message.splitlines()) == 1


def test_reader_that_goes_away_is_no_traceback():
    line = f"{sys.executable} -m bigbfs --help | head -c 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_the_readme_names_every_command():
    readme = (main.__file__.rsplit("/bigbfs/", 1)[0]) + "/README.md"
    with open(readme, encoding="utf-8") as stream:  # noqa: PTH123
        text = stream.read()
    for name in main.COMMANDS:
        assert re.search(rf"`bigbfs {name}\b", text), name


@pytest.mark.covered
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "work",
    [
        # an exception out of a callback from C is swallowed
        "ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), {number}))(); time.sleep(20)",
        # what the callback was to do is missed before the signal is raised again
        "ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), {number}))(); raise RuntimeError('no machine code')",
        # clean-up that takes longer than the next reminder, and is interrupted again, runs to its end
        "print('begun', flush=True); Slow().run({number})",
        # passing through this, a KeyboardInterrupt makes the interpreter end itself by a signal
        "exec('os.kill(os.getpid(), {number}); time.sleep(20)')",
        # another one while the interpreter goes
        "atexit.register(os.kill, os.getpid(), {number}); os.kill(os.getpid(), {number})",
    ],
    ids=["swallowed", "swallowed and missed", "slow clean-up", "through exec", "twice"],
)
def test_a_signal_ends_the_run_once_it_has_unwound(number, work):
    script = f"""
import atexit, ctypes, os, signal, time
from bigbfs import __main__
from bigbfs.cli import main

class Slow:
    def run(self, number):
        try:
            os.kill(os.getpid(), number)
            time.sleep(20)
        finally:
            try:
                raise OSError
            except OSError:
                time.sleep(0.5)
            time.sleep(0.5)
            os.kill(os.getpid(), number)
            print("clean", flush=True)

def work(*_, **__):
    {work.format(number=int(number))}

main.cli.main = work
__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=15)
    assert done.returncode == 128 + number
    assert done.stderr.strip() == ("bigbfs: error: interrupted" if number == signal.SIGINT else "")
    assert done.stdout in ("", "begun\nclean\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_command_line_is_imported(number):
    script = f"""
import os, sys
from bigbfs import __main__

class Now:
    def find_spec(self, name, path=None, target=None):
        os.kill(os.getpid(), {int(number)})

sys.meta_path.insert(0, Now())
__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=15)
    assert done.returncode == 128 + number
    assert done.stderr == ("bigbfs: error: interrupted\n" if number == signal.SIGINT else "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("module", ["bigbfs.cli", "bigbfs.cli.interrupts", "signal", "enum"])
def test_a_signal_in_the_first_imports_leaves_no_trace(module, number):
    """They take 15 ms, more on a cold disk, before the signals are taken care of."""
    script = f"""
import os, sys

class Now:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {int(number)})

for name in ("signal", "enum", "re", "typing"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Now())
from bigbfs.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script, "info", "--help"], capture_output=True, text=True, timeout=60)
    said = "bigbfs: error: interrupted\n" if number == signal.SIGINT else ""
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", said)


def test_what_the_parent_ignores_stays_ignored():
    script = "import os, signal; from bigbfs.cli import interrupts\n"
    script += "raise SystemExit(interrupts.guarded(lambda: os.kill(os.getpid(), signal.SIGHUP) or 7))"
    done = subprocess.run(["nohup", sys.executable, "-c", script], capture_output=True, text=True, timeout=15)
    assert done.returncode == 7


def test_an_error_that_a_run_says_itself_after_a_signal_is_the_signals():
    script = """import contextlib, os, signal
from bigbfs.cli import interrupts

def run():
    with contextlib.suppress(interrupts.Interrupted):  # as somebody's clean-up swallows it
        os.kill(os.getpid(), signal.SIGINT)
    return 1

raise SystemExit(interrupts.guarded(run))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=15)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_full_disk_behind_standard_output_is_named():
    done = subprocess.run(["bash", "-c", f"{sys.executable} -m bigbfs strategies > /dev/full"], capture_output=True)
    assert done.returncode == 5
    assert done.stderr.startswith(b"bigbfs: error: standard output: cannot write: No space left on device")


@pytest.mark.parametrize("line", ["info graph.csrbin", "export graph.csrbin --to el -o -", "--help"])
def test_a_closed_standard_output_is_no_success(small, line):
    command = f"{sys.executable} -m bigbfs {line} >&-"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1, done.stderr
    assert done.stderr == (
        "bigbfs: error: standard output: cannot write: Bad file descriptor; "
        "it is closed, so open it or send it to a file\n"
    )


def test_a_reader_that_goes_away_is_no_failure_of_ours(run, small):
    line = f"{sys.executable} -m bigbfs export graph.csrbin --to el -o - | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "rror" in line]) == (141, [])
