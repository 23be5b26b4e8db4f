"""Which tests run on a mutant, in which order, and what is made of how they end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import mutant_run
import pytest
from emulated.builds import missing
from emulated.seen import read
from mutant import Mutant
from mutant_list import MUTANTS
from mutant_run import Limits, Order, OutOfTime, Unusable, run
from mutant_tests import SUITES, Unchanged

TESTS = Path(__file__).parents[1]
ROWS = "tests/emulated/test_kernels_rows.py::test_every_way_to_read_a_row_gives_each_id_once[plain-varint-dense-uint32]"
VARINT = next(mutant for mutant in MUTANTS if mutant.name == "varint: bytes before the row's first are counted")


def record(path, *rows):
    keys = ("test", "kernels", "seconds")
    lines = ({"state": "", "outcome": "passed", **dict(zip(keys, row, strict=True))} for row in rows)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Unchanged(path)


def test_only_tests_that_launch_the_file_run_those_of_its_name_first(tmp_path):
    bfs = "algorithms/bfs/gpu/bfs_traverse.cu"
    unchanged = record(
        tmp_path / "record",
        ("test_kernels_engine.py::test[plain-long]", [bfs], 9),
        ("test_kernels_engine.py::test[plain-short]", [bfs], 1),
        ("test_kernels_engine.py::test[plain-hot]", [bfs], 20),
        ("test_kernels_engine.py::test[plain-other]", ["algorithms/bfs/strategies/queue.cu"], 1),
        ("test_kernels_prove.py::test[plain-other]", ["kernels/proof/prove.cu"], 1),
    )
    order = unchanged.order(Mutant("local levels: hot rows", "algorithms/bfs/gpu/local.cuh", "", ""))
    assert [test.partition("plain-")[2] for test in order.first] == ["hot]", "short]", "long]"]
    assert set(order.never) == {"test_kernels_engine.py::test[plain-other]", "test_kernels_prove.py::test[plain-other]"}
    assert set(order.suites) == set(SUITES) - {"test_kernels_prove.py"}, "suites that the record does not know run"
    named = unchanged.order(Mutant("", "algorithms/bfs/gpu/local.cuh", "", "", ("test_kernels_engine.py",)))
    assert named.suites == ("test_kernels_engine.py",)


def test_a_record_of_another_state_does_not_say_that_a_test_passes_here(tmp_path, monkeypatch):
    monkeypatch.setattr("mutant_tests.state", lambda: "now")
    unchanged = record(tmp_path / "record", ("test_kernels_rows.py::old", [], 1))
    unchanged.add(
        [{"test": "test_kernels_rows.py::new", "kernels": [], "seconds": 1, "outcome": "passed", "state": "now"}]
    )
    assert [unchanged.passes(f"test_kernels_rows.py::{name}") for name in ("old", "new")] == [False, True]
    assert len((tmp_path / "record").read_text().splitlines()) == 2


SAMPLE = """
import os
import pytest

@pytest.mark.parametrize("build", ["tsan"])
@pytest.mark.parametrize("name", ["a", "b", "c", "never"])
def test(build, name):
    if os.environ.get("END") == name:
        os._exit(0)
    assert name != os.environ.get("FAIL"), "queue: wrong"
"""


def seen(folder, **environment):
    """Run the sample with the plug-in; return what it has written."""
    (folder / "test_sample.py").write_text(SAMPLE)
    (folder / "order").write_text(
        json.dumps(
            {
                "first": [f"test_sample.py::test[{name}-plain]" for name in "cb"],
                "never": ["test_sample.py::test[never-plain]"],
            }
        )
    )
    files = {"SIMT_SEEN": str(folder / "seen"), "SIMT_ORDER": str(folder / "order"), "PYTHONPATH": str(TESTS)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "emulated.seen",
        "-p",
        "no:cacheprovider",
        "-x",
        "test_sample.py",
    ]
    subprocess.run(command, cwd=folder, env={**os.environ, **files, **environment}, check=False, capture_output=True)
    return [(row.get("test", "")[21:22], row.get("outcome", row.get("exit"))) for row in read(folder / "seen")]


def test_the_plug_in_tells_how_tests_end_and_goes_on_where_a_process_ended(tmp_path):
    ended = seen(tmp_path, END="b")
    assert ended == [("a", "begun"), ("a", "passed"), ("c", "begun"), ("c", "passed"), ("b", "begun")]
    assert seen(tmp_path, FAIL="b") == [*ended, ("b", "begun"), ("b", "failed"), ("", 1)]
    assert "queue: wrong" in read(tmp_path / "seen")[-2]["message"]


BEGUN = {"test": "t", "outcome": "begun"}


@pytest.mark.parametrize(
    ("build", "code", "lines", "report", "verdict"),
    [
        ("tsan", 0, [BEGUN], "", None),
        ("tsan", 0, [BEGUN] * 3, "", "crash"),
        ("tsan", -signal.SIGKILL, [BEGUN], "", None),
        ("asan", 0, [BEGUN], "#0 0x1 in f /k/rows/plain.cuh:12\n", "crash"),
        ("plain", -signal.SIGSEGV, [BEGUN], "", "crash"),
        ("plain", -signal.SIGKILL, [BEGUN], "", None),
        ("plain", None, [BEGUN], "", "hangs"),
        ("plain", 0, [{"test": "t", "outcome": "passed"}], "", None),
        ("plain", 0, [{"test": "t", "outcome": "passed"}, {"exit": 0}], "", "passed"),
        ("plain", 1, [{"test": "t", "outcome": "failed", "message": "E  data race"}, {"exit": 1}], "", "race"),
    ],
)
def test_what_is_made_of_an_end(build, code, lines, report, verdict):
    outcome = mutant_run._judge(build, mutant_run._Ended(code, "", report), lines, on=False)
    assert (outcome and outcome.verdict) == verdict


def test_what_does_not_compile_or_does_not_run_says_nothing():
    failed = {"test": "t", "outcome": "failed", "message": "E  emulated.builds.CompileError: g++ ..."}
    with pytest.raises(Unusable, match="does not compile"):
        mutant_run._judge("plain", mutant_run._Ended(1, "", ""), [failed, {"exit": 1}], on=False)
    with pytest.raises(Unusable, match="ended with 4"):
        mutant_run._judge("plain", mutant_run._Ended(4, "no such file", ""), [{"exit": 4}], on=False)


@pytest.mark.skipif(bool(missing("plain")), reason=missing("plain"))
@pytest.mark.wide
def test_a_bug_is_caught_and_its_absence_is_not(tmp_path):
    order = Order(("test_kernels_rows.py",), only=ROWS)
    outcome = run(VARINT, "plain", order, tmp_path, Limits())
    assert (outcome.verdict, outcome.test) == ("result", ROWS)
    assert run(None, "plain", order, tmp_path, Limits()).verdict == "passed"
    with pytest.raises(OutOfTime):
        run(None, "plain", order, tmp_path, Limits(end=time.monotonic()))
    assert [path.name for path in tmp_path.iterdir()] == ["cache"], "what a run made is left behind"
