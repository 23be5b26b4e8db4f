"""Temporary folders: gone at the end, gone after a kill, never taken from a living process, in reserved space."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bigbfs.conversion import ConvertOptions, convert, into_shards
from bigbfs.conversion.on_disk import scratch
from bigbfs.conversion.on_disk import scratch as module
from bigbfs.conversion.on_disk.scratch import RESERVE_STEP, Scratch, remove_stale
from bigbfs.errors import DoesNotFitError, FileAccessError, UsageError


def test_the_folder_goes_with_the_context(tmp_path):
    with Scratch(tmp_path) as scratch:
        (scratch.folder / "file").write_bytes(b"x")
        assert scratch.folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_a_living_folder_is_left_alone_and_a_dead_one_removed(tmp_path):
    dead = tmp_path / f"{module.PREFIX}dead"
    (dead / "deep").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    with Scratch(tmp_path) as living:
        assert not dead.exists()
        assert remove_stale(tmp_path) == 0
        assert living.folder.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_reservation_gives_way_to_what_is_written(tmp_path):
    with Scratch(tmp_path, 4 * RESERVE_STEP) as scratch:
        reserve = scratch.folder / "reserve"
        held = reserve.stat().st_blocks * 512
        if held == 0:
            pytest.skip("this file system cannot reserve space")
        assert held >= 4 * RESERVE_STEP
        scratch.wrote(RESERVE_STEP // 2)
        assert reserve.stat().st_size == 4 * RESERVE_STEP
        scratch.wrote(RESERVE_STEP)
        assert reserve.stat().st_size == 3 * RESERVE_STEP
        scratch.wrote(9 * RESERVE_STEP)
        assert reserve.stat().st_size == 0
        scratch.release()


def test_no_room_to_reserve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_allocate", lambda handle, size: errno.ENOSPC)
    with pytest.raises(DoesNotFitError, match=r"needs about .* of temporary space there .*tmp="):
        Scratch(tmp_path, 10**9)
    with pytest.raises(DoesNotFitError, match=r"^g\.csrbin: .* of temporary space beside it \("):
        Scratch(Path(), 10**9, Path("g.csrbin"))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(module, "_allocate", lambda handle, size: errno.EOPNOTSUPP)
    with Scratch(tmp_path, 10**9) as scratch:
        scratch.wrote(10**10)


def test_errors_name_the_output_and_not_the_working_folder(tmp_path, monkeypatch):
    """A dot said nothing of what had failed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    full = OSError(errno.ENOSPC, "")
    why = "No space left on device; free some space, or write to another disk (tmp=...)"
    for output in (Path("g.csrbin"), tmp_path / "g.csrbin"):
        with Scratch(Path(), output=output) as held:
            assert str(held.error(full)) == f"{output}: cannot write temporary files beside it: {why}"
        with Scratch(Path("tmp"), output=output) as held:
            assert str(held.error(full)) == f"tmp: cannot write temporary files: {why}"


def test_no_folder_to_write_to(tmp_path):
    with pytest.raises(FileAccessError, match="write temporary files"):
        Scratch(tmp_path / "missing")


HOLD = """
import sys, time
from pathlib import Path
from bigbfs.conversion.on_disk.scratch import Scratch
with Scratch(Path(sys.argv[1])) as scratch:
    (scratch.folder / "file").write_bytes(b"x")
    print("ready", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_left_is_removed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    assert remove_stale(tmp_path) == 0
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert remove_stale(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_conversion_that_is_killed_is_done_again_cleanly(tmp_path):
    """Killed while it spills or sorts: half a file is never there, and the next run leaves nothing of the last."""
    source = tmp_path / "g.txt"
    source.write_text("".join(f"{i} {i * 7919 % 300_007}\n" for i in range(300_000)))
    script = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from bigbfs.conversion import convert, pipeline, ConvertOptions\n"
        "from bigbfs.conversion.on_disk import convert as external; from bigbfs.conversion.on_disk.plan import Plan\n"
        "pipeline.must_spill = lambda *_: True\n"
        "external.make_plan = lambda *_: Plan(1 << 28, 3000, 1 << 16, 1 << 20, 200)\n"
        "print('go', flush=True); convert([sys.argv[1]], None, ConvertOptions(force=True))\n"
    )
    command = [sys.executable, "-c", script, str(source)]
    subprocess.run(command, check=True, capture_output=True)  # with compilation
    whole = (tmp_path / "g.csrbin").read_bytes()
    for delay in (0.05, 0.3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.kill()
        process.wait()
        process.stdout.close()
        assert (tmp_path / "g.csrbin").read_bytes() == whole
    subprocess.run(command, check=True, capture_output=True)
    assert not list(tmp_path.glob(module.PREFIX + "*"))
    assert (tmp_path / "g.csrbin").read_bytes() == whole


def test_a_folder_that_another_run_removes_meanwhile_is_no_error(tmp_path, monkeypatch):
    """Ranks look for what is stale at the same moment: one lists a folder that another has taken away."""
    monkeypatch.setattr(scratch, "_folders", lambda parent: [parent / f"{scratch.PREFIX}gone"])
    assert remove_stale(tmp_path) == 0
    assert scratch.remove_kept(tmp_path, tmp_path / "g.csrbin") == 0


def test_a_conversion_that_needs_no_folder_removes_what_was_killed(tmp_path):
    dead = tmp_path / f"{module.PREFIX}dead"
    dead.mkdir()
    (dead / "spill").write_bytes(b"left")
    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    convert([tmp_path / "g.txt"], tmp_path / "g.csrbin")
    assert not dead.exists()


def test_a_conversion_to_shards_that_is_refused_loses_nothing_that_was_kept(tmp_path, monkeypatch):
    first, other, folder = (tmp_path / name for name in ("a.txt", "b.txt", "x.shards"))
    first.write_text("0 1\n1 2\n")
    other.write_text("0 1\n1 3\n")
    convert([first], folder, ConvertOptions(shards=2, threads=1))
    removed = []
    monkeypatch.setattr(into_shards, "remove_left", lambda *given: removed.append(given))
    with pytest.raises(UsageError, match=r"x\.shards"):
        convert([other], folder, ConvertOptions(shards=2, threads=1))
    assert removed == []
    convert([other], folder, ConvertOptions(shards=2, threads=1, force=True))
    assert removed == [(tmp_path, folder, None)]


def test_what_waits_for_inputs_that_are_gone_is_named_and_stays(tmp_path):
    """A conversion of anything else into the same place says so; of a folder whose inputs are there, nothing."""
    (tmp_path / "here.txt").write_text("0 1\n1 2\n")
    for name, source in (("a", "gone.txt"), ("b", "here.txt")):
        folder = tmp_path / f"{module.PREFIX}{name}"
        folder.mkdir()
        (folder / "spill").write_bytes(bytes(2000))
        whose = {"output": str(tmp_path / "other.csrbin"), "sources": [{"path": str(tmp_path / source)}]}
        (folder / f"phase{module.KEPT}").write_text(json.dumps({"whose": whose}))
    report = convert([tmp_path / "here.txt"], tmp_path / "g.csrbin", ConvertOptions(threads=1))
    assert len(report.notes) == 1
    for words in (f"{module.PREFIX}a: 2.", "gone.txt is gone", "remove that folder"):
        assert words in report.notes[0]
    assert (tmp_path / f"{module.PREFIX}a").is_dir()
    with Scratch.taken(tmp_path / f"{module.PREFIX}a"):
        assert module.without_inputs(tmp_path) == ()  # a living process has it
