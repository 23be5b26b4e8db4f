"""The bench of a busy machine: its load is there while it measures and gone afterwards; GAP's programs are a side."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import bench_busy
import pytest
import zoo

GAP = {
    "cc": "#!/bin/sh\nfor i in 1 2 3 4; do echo 'Trial Time:   0.00100'; done\n",
    "converter": '#!/bin/sh\n[ "$1 $3 $4" = "-f -s -b" ] && sleep 0.05 && cp "$2" "$5"\n',
}


@pytest.fixture
def graph(tmp_path):
    zoo.build(300, zoo.random(300, 900, seed=1)).save(tmp_path / "graph.csrbin")
    return tmp_path / "graph.csrbin"


@pytest.mark.parametrize("error", [None, KeyboardInterrupt, SystemExit])
def test_the_load_is_gone_afterwards(error):
    seen = []
    try:
        with bench_busy.load(2) as spinning:
            seen += spinning
            assert len(seen) == 2 and all(process.poll() is None for process in seen)
            if error is not None:
                raise error
    except (KeyboardInterrupt, SystemExit):
        pass
    assert [process.returncode for process in seen] == [-signal.SIGKILL] * 2


def test_an_interrupt_while_the_load_starts(monkeypatch):
    """The first process runs by then."""
    started, start = [], subprocess.Popen

    def once(*given, **named):
        if started:
            raise KeyboardInterrupt
        started.append(start(*given, **named))
        return started[0]

    monkeypatch.setattr(bench_busy.subprocess, "Popen", once)
    with pytest.raises(KeyboardInterrupt), bench_busy.load(2):
        pass
    assert started[0].returncode == -signal.SIGKILL


def test_the_table_has_gap_where_it_has_a_program(graph, tmp_path, monkeypatch, capsys):
    for name, script in GAP.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o700)
    words = [str(graph), "--trials", "1", "--work", "cc", "--work", "convert", "--gap", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["bench_busy.py", *words])
    assert bench_busy.main() == 0
    printed = capsys.readouterr().out
    assert "others kept" in printed and "GAP / busy" in printed
    rows = {
        line.split()[0]: list(map(float, line.split()[1:])) for line in re.findall(r"^(?:cc|convert) .*", printed, re.M)
    }
    assert len(rows["cc"]) == len(rows["convert"]) == 9
    assert rows["cc"][6:8] == [1.0, 1.0] and min(rows["convert"][6:8]) >= 50


def spinning(parent):
    """Return the processes that spin until ``parent`` is gone."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if len(words) > 3 and words[2] == bench_busy.SPIN.encode() and words[3] == str(parent).encode():
            found.append(int(folder.name))
    return found


def status(process):
    """Return what the system says of ``process``: its state, its parent, what waits for it."""
    try:
        return Path(f"/proc/{process}/status").read_text()
    except OSError:
        return f"{process} has ended meanwhile"


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no Linux")
@pytest.mark.parametrize(
    "ending", [pytest.param(signal.SIGINT, marks=pytest.mark.wide), signal.SIGKILL], ids=["Ctrl-C", "killed"]
)
def test_nobody_spins_on_when_it_is_ended(graph, ending):
    words = [sys.executable, bench_busy.__file__, str(graph), "--work", "cc", "--trials", "2000"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(words, stdout=quiet, stderr=quiet)
    try:
        assert wait_until(lambda: spinning(process.pid)), "the load has not started"
        process.send_signal(ending)
        assert process.wait(60) != 0
        assert wait_until(lambda: not spinning(process.pid)), [status(each) for each in spinning(process.pid)]
    finally:
        process.kill()
        process.wait()
