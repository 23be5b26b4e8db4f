"""``bigbfs convert`` with a full disk, a closed folder, an interrupt: the right exit code and nothing left behind."""

from __future__ import annotations

import errno
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from limits import files_of

from bigbfs.formats.container import layout, sections

LINES = "".join(f"{i} {i + 1}\n" for i in range(50_000))


@pytest.fixture
def graph_text(folder):
    """graph.txt in the working folder: a path of 50,000 edges."""
    (folder / "graph.txt").write_text(LINES)
    return folder


def listing(folder):
    """Every file of the folder with its size and time, hidden ones too."""
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}


def start(*arguments, before=(), stdin=subprocess.DEVNULL, **options):
    command = [*before, sys.executable, "-m", "bigbfs", "convert", *map(str, arguments)]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def refused(run, folder, *says):
    before = listing(folder)
    code, out, err = run("convert", "graph.txt")
    assert (code, out) == (1, "") and err.startswith("bigbfs: error: ") and err.count("\n") == 1
    for text in says:
        assert text in err
    assert listing(folder) == before


def refused_process(folder, process, code, *says):
    before = listing(folder)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, ""), err
    assert err.startswith("bigbfs: error: ") and err.count("\n") == 1
    for text in says:
        assert text in err
    assert listing(folder) == before


@contextmanager
def mounted(path, options):
    """A tmpfs at ``path``; skips where this process may not mount."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
    if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a tmpfs needs root and the right to mount")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def test_disk_full(graph_text):
    with mounted(graph_text / "small", "size=256k") as small:
        process = start("graph.txt", "-o", small / "graph.csrbin")
        refused_process(small, process, 5, "small/graph.csrbin", "No space left", "another disk (-o)")
        assert not list(small.iterdir())


def test_disk_full_for_the_file_that_shards_are_made_of(graph_text):
    with mounted(graph_text / "small", "size=256k") as small:
        process = start("graph.txt", "--shards", 3, "-o", small / "g.shards")
        says = "small/g.shards: its graph file, beside it: ", "No space left on device; name another folder with --tmp"
        refused_process(small, process, 5, *says)
        assert not list(small.iterdir())


def test_disk_full_for_the_compressed_file_leaves_the_whole_plain_one(graph_text):
    with mounted(graph_text / "small", "size=980k") as small:
        process = start("graph.txt", "--compressed", "-o", small / "graph.csrbin")
        _, err = process.communicate(timeout=60)
        assert process.returncode == 5 and "graph.ccsr" in err and "No space left" in err
        assert [path.name for path in small.iterdir()] == ["graph.csrbin"]


def test_file_size_limit(graph_text):

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    process = start("graph.txt", preexec_fn=limit)
    refused_process(graph_text, process, 5, "graph.csrbin", "File too large", "(-o)")


def test_read_only_file_system(graph_text):
    with mounted(graph_text / "fixed", "size=64k,ro") as fixed:
        process = start("graph.txt", "-o", fixed / "graph.csrbin")
        refused_process(fixed, process, 1, "fixed/graph.csrbin", "Read-only file system", "(-o)")


@pytest.mark.parametrize("folder_of", ["/proc", "/sys"])
def test_a_folder_that_takes_no_file_is_there_all_the_same(run, graph_text, folder_of):
    """Root may write in it, says the system, and no disk is behind it."""
    if not os.access(folder_of, os.W_OK):
        pytest.skip("who may not write there is refused by permission, before the disk is asked")
    refusal = {"/proc": "the file system there takes no new file; choose another path", "/sys": "Permission denied"}
    for line, option in ((["convert", "graph.txt"], "-o"), (["generate", "star", "--scale", 4], "-o")):
        code, out, err = run(*line, option, f"{folder_of}/x.csrbin")
        assert (code, out) == (1, "") and f"{folder_of}/x.csrbin: cannot write: {refusal[folder_of]}" in err
        assert f"({option})" in err and "does not exist" not in err


def as_mortal(*arguments):
    """The command line of convert, without the powers by which root passes every permission check."""
    if os.geteuid():
        return start(*arguments)
    drop = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"]
    if shutil.which("setpriv") is None:
        pytest.skip("root needs setpriv (util-linux) to lay its powers down")
    return start(*arguments, before=drop)


def test_no_write_permission(graph_text):
    graph_text.chmod(0o555)
    try:
        refused_process(graph_text, as_mortal("graph.txt"), 1, "graph.csrbin", "Permission denied", "(-o)")
    finally:
        graph_text.chmod(0o755)


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (["bfs", "--source", "0", "--levels", "a.npy"], "--levels"),
        (["bfs", "--source", "0", "--parents", "a.npy"], "--parents"),
        (["bfs", "--source", "0", "--compressed"], "`bigbfs convert graph.csrbin -o OUT.ccsr`"),
        (["cc", "--labels", "a.npy"], "--labels"),
        (["cc", "--largest", "a.csrbin"], "--largest"),
        (["export", "graph.csrbin", "--to", "el"], "-o"),
    ],
)
def test_the_option_that_names_another_place_is_the_one_that_the_command_has(
    run, graph_text, monkeypatch, line, option
):
    assert run("convert", "graph.txt")[0] == 0
    monkeypatch.setattr("os.access", lambda *arguments, **options: False)
    code, _, err = run(*line)
    assert code == 1
    assert err.endswith(f"Permission denied; no permission to write there; choose another path ({option})\n")


def test_the_way_out_of_a_folder_that_takes_no_file_is_one_that_works(run, folder, monkeypatch):
    """``-o`` of cc is for labels: where the table's graph file cannot be written, another command helps."""
    (folder / "t.csv").write_text("source,target\n1,2\n2,3\n")
    (folder / "elsewhere").mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(folder / "elsewhere"))
    with monkeypatch.context() as closed:
        closed.setattr("os.access", lambda *arguments, **options: False)
        code, _, err = run("cc", "t.csv")
    assert code == 1 and "Permission denied" in err
    remedy = re.search(r"`bigbfs ([^`]*)`", err)
    assert remedy is not None and run(*shlex.split(remedy[1]))[0] == 0
    assert run("cc", folder / "elsewhere" / "t.csrbin", "--backend", "cpu")[0] == 0


def test_an_option_of_other_commands_is_answered_with_these(run, folder):
    code, _, err = run("eccentricity", "g.csrbin", "--sources", 0)
    assert code == 2 and "--force" not in err
    assert "no such option '--sources' here: it is an option of bfs, distances, closeness" in " ".join(err.split())
    assert "it is an option of bfs;" in " ".join(run("cc", "g.csrbin", "--parents", "x.npy")[2].split())
    near = run("closeness", "g.csrbin", "--source", 0)[2]  # what is nearly one of its own
    assert "Did you mean" in near and "'--sources'" in near
    assert "it is an option of" not in run("bench", "bfs", "g.csrbin", "--member", 1)[2]
    both = run("export", "g.csrbin", "--threads", 2)[2]  # of convert, and of others
    assert "it is an option of convert, generate, bfs, cc, " in " ".join(both.split())
    assert "an option of" not in run("info", "g.csrbin", "-v")[2]  # which is --verbose here, --vertex there
    assert "generate" in " ".join(run("info", "g.csrbin", "--seed", 1)[2].split())


def test_what_a_table_lacks_is_said_of_the_command_that_has_the_option(run, folder):
    (folder / "t.csv").write_text("source,target\n1,2\n2,x\n")
    code, _, err = run("cc", "t.csv")
    assert code == 1 and "t.csv: line 3" in err and "`bigbfs convert t.csv --skip-bad-lines N`" in err
    code, _, err = run("bfs", "t.csv", "--source", 1, "--skip-bad-lines", 1)
    assert code == 2 and "no such option '--skip-bad-lines' here: `bigbfs convert INPUT --skip-bad-lines` makes" in err
    assert "no such option '--no-such'" in run("bfs", "t.csv", "--no-such")[2]
    for option, how in (("--ranks", "as several processes"), ("--gpus", "on several GPUs")):
        code, _, err = run("diameter", "t.csv", option, 2)
        said = f"no such option '{option}' here: diameter works in one process; `bigbfs bfs` and `bigbfs cc` run {how}"
        assert code == 2 and said in err


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_bad_lines_of_what_has_no_lines_are_not_skipped_in_silence(run, folder, name):
    table = pyarrow.table({"source": ["a", "b"], "target": ["b", "c"]})
    pyarrow.parquet.write_table(table, "t.parquet")
    pyarrow.csv.write_csv(table, "t.csv")
    code, _, err = run("convert", name, "--skip-bad-lines", 2)
    assert code == 2 and "--skip-bad-lines 2: " in err and name in err and not Path("t.csrbin").exists()


def test_no_read_permission(graph_text):
    Path("graph.txt").chmod(0)
    refused_process(graph_text, as_mortal("graph.txt"), 1, "graph.txt", "Permission denied")


@pytest.mark.parametrize("line", [["info"], ["check"], ["export", "--to", "el"], ["bfs", "--source", "1"], ["plan"]])
def test_a_graph_that_may_not_be_read_is_inaccessible_and_no_wrong_usage(run, graph_text, monkeypatch, line):
    def refuse(path, *arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    assert run("convert", "graph.txt")[0] == 0
    monkeypatch.setattr("os.access", lambda *arguments, **options: False)
    monkeypatch.setattr("os.open", refuse)
    code, _, err = run(*line, "graph.csrbin")
    assert code == 1 and err.startswith("bigbfs: error: graph.csrbin: cannot open: ")


def test_no_write_permission_by_the_access_check(run, graph_text, monkeypatch):
    monkeypatch.setattr("os.access", lambda *arguments, **options: False)
    refused(run, graph_text, "graph.csrbin", "Permission denied", "(-o)")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("through", ["standard input", "named pipe"])
def test_interrupt_while_reading(folder, number, code, through):
    os.mkfifo("pipe.txt")
    before = listing(folder)
    if through == "standard input":
        process = start("-", "-o", "graph.csrbin", "--compressed", stdin=subprocess.PIPE)
        writer = process.stdin
    else:
        process = start("pipe.txt", "-o", "graph.csrbin")
        writer = Path("pipe.txt").open("w")  # noqa: SIM115
    with process:
        with writer:
            writer.write(LINES)  # more than a pipe holds, so reading is under way when this returns
            writer.flush()
            process.send_signal(number)
            assert process.wait(timeout=30) == code
        assert process.stderr.read().strip() == ("bigbfs: error: interrupted" if code == 130 else "")
    assert listing(folder).keys() == before.keys()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_while_waiting_for_the_first_byte(folder, number):
    with start("-", "-o", "graph.csrbin", stdin=subprocess.PIPE) as process:
        waiting = Path(f"/proc/{process.pid}/wchan")
        for _ in range(100):
            time.sleep(0.1)
            if "pipe" in waiting.read_text():
                break
        process.send_signal(number)
        assert process.wait(timeout=30) == 128 + number
    assert not list(folder.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_of_a_conversion_on_disk_leaves_no_temporary_files(folder, number):
    with start("-", "-o", "graph.csrbin", "--memory", "300MiB", stdin=subprocess.PIPE) as process:
        process.stdin.write(LINES)
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not any(folder.glob(".bigbfs-spill-*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert any(folder.glob(".bigbfs-spill-*"))
        for _ in range(3):  # `timeout` sends two
            process.send_signal(number)
            time.sleep(0.002)
        assert process.wait(timeout=30) == 128 + number
    assert not list(folder.iterdir())


@pytest.mark.parametrize("old", [False, True])
def test_interrupt_while_writing(run, graph_text, monkeypatch, old):
    if old:
        Path("graph.csrbin").write_bytes(layout.MAGIC + b"what was there before")
    calls = []
    write = sections.SectionFile.write

    def interrupted(self, data, place):
        calls.append(len(data))
        assert any(path.name.endswith(".tmp") for path in graph_text.iterdir())
        if len(calls) == 3:
            raise KeyboardInterrupt
        write(self, data, place)

    monkeypatch.setattr(sections.SectionFile, "write", interrupted)
    before = listing(graph_text)
    code, out, err = run("convert", "graph.txt")
    assert (code, out, err.strip()) == (130, "", "bigbfs: error: interrupted")
    assert listing(graph_text) == before


def test_interrupt_while_building(run, graph_text, monkeypatch):
    build = "bigbfs.conversion.sorting.in_rows.sort_rows"
    monkeypatch.setattr(build, lambda *arguments: signal.raise_signal(signal.SIGINT))
    before = listing(graph_text)
    code, _, err = run("convert", "graph.txt", "--threads", "1")
    assert (code, err.strip()) == (130, "bigbfs: error: interrupted")
    assert listing(graph_text) == before


def test_a_full_disk_under_a_result_array(run, folder):
    Path("path.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(20_000)))
    assert run("convert", "path.txt")[0] == 0
    with files_of(20_000):
        code, _, err = run("bfs", "--source", 0, "--levels", "l.npy", "--backend", "cpu")
    assert (code, err.count("\n")) == (5, 1)
    assert "l.npy: cannot write: File too large; " in err
    assert not [path for path in folder.iterdir() if "npy" in path.name]
