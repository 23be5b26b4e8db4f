"""``bigbfs bfs|cc|convert --ranks N``: who starts ranks imports next to nothing, and says nothing twice."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bigbfs
from bigbfs.cli import main, starting
from bigbfs.engines.ranks import launch
from bigbfs.errors import ConfigError, UsageError
from bigbfs.jit import compiling


@pytest.mark.parametrize(
    ("line", "ranks"),
    [
        ("convert a --ranks 2", 2),
        ("convert --ranks=16 a -o b", 16),
        ("convert a", None),
        ("convert a --ranks 1", None),
        ("convert a --ranks 0", None),
        ("convert a --ranks x", None),
        ("convert a --ranks", None),
        ("convert a --ranks 2 --ranks 3", None),
        ("convert a --ranks 2 --help", None),
        ("convert -- a --ranks 2", None),
        ("--version convert --ranks 2", None),
        ("bfs a --source 0 --ranks 2", 2),
        ("cc --ranks=2", 2),
        ("bfs a --source 0 --gpus 2", None),
        ("probe --ranks 2", None),
        ("", None),
    ],
)
def test_which_command_lines_are_for_ranks(line, ranks):
    assert starting.ranks_wanted(line.split()) == ranks


@pytest.fixture
def started(monkeypatch):
    """What ranks were started; they end with exit code 3."""
    found = []
    for name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(launch, "mpiexec", lambda: Path("mpiexec"))
    monkeypatch.setattr(launch, "start", lambda *given: found.append(given) or 3)
    return found


@pytest.mark.parametrize(("threads", "own"), [("--threads 5", 5), ("--threads=1", 1), ("--threads x", 2), ("", 2)])
def test_ranks_get_the_line_and_threads_of_their_own(threads, own, started, monkeypatch):
    monkeypatch.setattr("bigbfs.jit.processors.processors", lambda: 6)
    line = f"convert a --ranks 3 {threads}".split()
    assert starting.start(line) == 3
    assert started == [(3, line, own)]


@pytest.mark.parametrize(
    "line",
    ["convert a --ranks 2 -o {}", "bfs a --ranks 2 --levels={}", "cc a --labels x.npy --ranks 2 --largest {}"],
)
def test_what_killed_ranks_have_left_goes(line, started, tmp_path):
    half, other = tmp_path / ".g.csrbin.abcd1234.tmp", tmp_path / ".h.csrbin.abcd1234.tmp"
    half.touch()
    other.touch()
    starting.start(line.format(tmp_path / "g.csrbin").split())
    assert other.exists() and not half.exists()


def test_a_rank_starts_no_ranks(started, monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    assert starting.start(["convert", "a", "--ranks", "2"]) is None and not started


def test_far_more_ranks_than_cores_are_left_to_the_command(started, monkeypatch):
    monkeypatch.setattr("bigbfs.jit.processors.processors", lambda: 3)
    assert starting.start(["convert", "a", "--ranks", str(3 * launch.MOST_A_CORE + 1)]) is None and not started
    assert starting.start(["convert", "a", "--ranks", str(3 * launch.MOST_A_CORE)]) == 3 and started


def test_without_mpi_the_command_says_so(started, monkeypatch):
    def nowhere():
        raise UsageError("no mpiexec")

    monkeypatch.setattr(launch, "mpiexec", nowhere)
    assert starting.start(["convert", "a", "--ranks", "2"]) is None and not started


def test_an_mpiexec_that_cannot_be_run_is_left_to_the_command(started, monkeypatch):
    def broken(*given):
        raise OSError(errno.ENOEXEC, "Exec format error")

    monkeypatch.setattr(launch, "start", broken)
    assert starting.start(["convert", "a", "--ranks", "2"]) is None and starting.SAME_LINE not in os.environ


def test_who_starts_ranks_imports_no_command():
    code = (
        "import sys\nfrom bigbfs.engines.ranks import launch\nlaunch.start = lambda *given: 3\n"
        "launch.mpiexec = lambda: None\nsys.argv[1:] = ['convert', 'a', '--ranks', '2']\n"
        "from bigbfs.__main__ import run\nassert run() == 3\n"
        "print(*{'numpy', 'click', 'bigbfs.cli.main', 'bigbfs.conversion'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not ran.stdout.strip()


@pytest.mark.parametrize(
    "line",
    [
        "convert {0}/g.txt --nonsense",
        pytest.param("convert {0}/g.txt --threads x", marks=pytest.mark.wide),
        "bfs {0}/g.csrbin --source 0 --nonsense",
        pytest.param("bfs {0}/g.csrbin --source 0 --target 1 --no-parents", marks=pytest.mark.wide),
        "bfs {0}/g.csrbin --source 0 --gpus 2",
        pytest.param("cc {0}/g.csrbin --exchange list", marks=pytest.mark.wide),
    ],
)
def test_a_wrong_command_line_is_said_once(line, tmp_path):
    pytest.importorskip("mpi4py")
    words = [*line.format(tmp_path).split(), "--ranks", "2"]
    ran = subprocess.run([sys.executable, "-m", "bigbfs", *words], capture_output=True, text=True, timeout=100)
    assert ran.returncode == 2
    assert ran.stderr.startswith("bigbfs: error: ") and ran.stderr.count("\n") == 1, ran.stderr


def test_a_wrong_profile_is_said_once(tmp_path):
    pytest.importorskip("mpi4py")
    bigbfs.Graph.from_edges([0, 1], [1, 2]).save(tmp_path / "g.csrbin")
    (tmp_path / "bad.toml").write_text("nonsense = 3\n")
    words = [
        "bfs",
        str(tmp_path / "g.csrbin"),
        "--source",
        "0",
        "--ranks",
        "2",
        "--profile",
        str(tmp_path / "bad.toml"),
    ]
    ran = subprocess.run([sys.executable, "-m", "bigbfs", *words], capture_output=True, text=True, timeout=100)
    assert ran.returncode == ConfigError.exit_code, ran.stderr
    assert ran.stderr.count("bigbfs: error: ") == 1 and "nonsense" in ran.stderr and "Abort" not in ran.stderr


@pytest.mark.parametrize(("command", "option", "code"), [("bfs", "--levels", 2), ("cc", "--labels", 1)])
def test_what_cannot_be_written_is_said_once(command, option, code, tmp_path):
    pytest.importorskip("mpi4py")
    there = tmp_path / "there.npy"
    if code == 2:
        there.write_text("somebody's")
    place = there if code == 2 else tmp_path / "nowhere" / "there.npy"
    words = [command, str(tmp_path / "g.csrbin"), "--ranks", "3", option, str(place)]
    words += ["--source", "0"] if command == "bfs" else []
    ran = subprocess.run([sys.executable, "-m", "bigbfs", *words], capture_output=True, text=True, timeout=100)
    assert ran.returncode == code, ran.stderr
    assert ran.stderr.startswith("bigbfs: error: ") and ran.stderr.count("\n") == 1, ran.stderr


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, ("cc", False)),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, (None, True)),  # others may run another command
        ({"PMI_RANK": "0", "PMI_SIZE": "2", starting.SAME_LINE: "1"}, ("cc", True)),
    ],
)
def test_ranks_of_one_line_compile_for_one_another(variables, said, monkeypatch):
    for name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", starting.SAME_LINE):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for name in ("command", "shared"):
        monkeypatch.setattr(compiling, name, getattr(compiling, name))
    main.cli.get_command(None, "cc")
    assert (compiling.command, compiling.shared) == said
