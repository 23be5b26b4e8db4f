"""Standard input and output, pipes and devices, where a file is named: what is read, what is refused, what is lost."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

LINES = "".join(f"{i} {i + 1}\n" for i in range(50_000))


@pytest.fixture
def graph_text(folder):
    """graph.txt in the working folder: a path of 50,000 edges."""
    (folder / "graph.txt").write_text(LINES)
    return folder


@pytest.mark.covered
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", [["bfs", "--source", "0", "--levels", "-"], ["export", "--to", "el", "-o", "-"]])
def test_a_full_disk_under_standard_output(run, graph_text, line, unbuffered):
    """Where Python has no buffer, as in many containers, the system takes a part of what is written, and says so."""
    assert run("convert", "graph.txt")[0] == 0

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with Path("out").open("wb") as out:
        command = [sys.executable, "-m", "bigbfs", line[0], "graph.csrbin", *line[1:]]
        ran = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, env=environment, preexec_fn=limit, text=True)
    assert ran.returncode == 5 and "error: standard output: cannot write: File too large; send it to " in ran.stderr


def with_input(*arguments, text=LINES):
    command = [sys.executable, "-m", "bigbfs", *map(str, arguments)]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, timeout=100)
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize(
    "name", ["-", "/dev/stdin", *(pytest.param(f"{at}/fd/0", marks=pytest.mark.wide) for at in ("/dev", "/proc/self"))]
)
def test_standard_input_by_any_name_names_no_output(folder, name):
    """Root may write to /dev, and found a graph file there."""
    for more, output in ((), "OUT.csrbin"), (("--shards", 2), "OUT.shards"):
        code, out, err = with_input("convert", name, *more)
        assert (code, out) == (2, "") and "has no name to derive the output's from" in err and f"-o {output}" in err
    code, out, err = with_input("convert", name, "-o", "g.csrbin")
    assert code == 0 and "30,000" not in out and [path.name for path in folder.iterdir()] == ["g.csrbin"], err
    assert not list(Path("/dev").glob("*.csrbin"))


@pytest.mark.parametrize("line", [["bfs", "--source", "0"], ["info"], ["check"], ["closeness"], ["plan"]])
def test_a_graph_is_no_stream(run, folder, line):
    """It is mapped: a pipe would be read for its first bytes, and then waited for without end."""
    os.mkfifo("pipe.txt")
    writer = os.open("pipe.txt", os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(writer, b"0 1\n1 2\n")
        for name, code, said in (
            ("pipe.txt", 1, "pipe.txt: cannot open: it is a pipe or a device"),
            ("/dev/null", 1, "/dev/null: cannot open: it is a pipe or a device"),
            ("-", 2, "-: only convert reads standard input"),
        ):
            found, out, err = run(line[0], name, *line[1:])
            assert (found, out) == (code, "") and said in err and f"`bigbfs convert {name} -o OUT.csrbin`" in err
    finally:
        os.close(writer)


def test_sources_are_read_from_standard_input(run, graph_text):
    assert run("convert", "graph.txt")[0] == 0
    code, out, err = with_input("bfs", "graph.csrbin", "--sources", "@-", "--json", text="0\n7\n")
    assert code == 0 and '"source": 7' in out, err


def test_standard_input_is_read_once_for_all_who_ask(run, graph_text):
    assert run("convert", "graph.txt")[0] == 0
    asked = ("--sources", "@-", "--targets", "@-", "-o", "d.npy")
    code, _, err = with_input("distances", "graph.csrbin", *asked, text="0\n7\n")
    assert code == 0 and np.load("d.npy").shape == (2, 2), err


def test_ranks_do_not_wait_for_standard_input(run, graph_text):
    assert run("convert", "graph.txt")[0] == 0
    asked = ("--sources", "@-", "--ranks", "2", "--threads", "1")
    code, out, err = with_input("bfs", "graph.csrbin", *asked, text="0\n7\n")
    assert code == 2 and not out and "standard input comes to one rank alone" in err
