"""The mutants can be planted: each text to replace is in the kernels, once; and the tool runs what it should.
``make mutants`` runs them."""

import json

import mutants
import pytest
from mutant import Mutant
from mutant_run import Outcome, OutOfTime, Unusable

UNCHANGED = {"state": "", "test": "test_kernels_rows.py::test", "kernels": [], "seconds": 1, "outcome": "passed"}
PASSED = [{"test": "t", "outcome": "passed"}]


def test_there_are_enough_of_them_and_no_name_twice():
    names = [mutant.name for mutant in mutants.MUTANTS]
    assert len(set(names)) == len(names) >= 15


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_kernels(mutant):
    assert mutant.text().count(mutant.new) >= 1, "the kernel has changed: bring tools/mutant_list.py in line"
    assert mutant.new != mutant.old


def test_a_text_that_is_not_there_once_is_refused():
    mutant = Mutant("nonsense", "kernels/base/warp.cuh", "no such text", "")
    with pytest.raises(ValueError, match=r"nonsense: the text occurs 0 times in kernels/base/warp\.cuh"):
        mutant.text()


def test_the_build_that_is_likeliest_to_catch_it_comes_first():
    builds = mutants.BUILDS
    assert Mutant("", "", "a", "b").builds_in_turn(builds) == builds
    assert Mutant("", "", "a; __syncwarp();", "a;").builds_in_turn(builds)[0] == "tsan"
    assert Mutant("", "", "atomicAdd(a, 1)", "relaxed_store(a, 1)").builds_in_turn(builds)[:2] == ("preempt", "tsan")
    assert Mutant("", "", "a", "b", build="asan").builds_in_turn(builds) == ("asan", "plain", "preempt", "tsan")
    assert Mutant("", "", "a; __syncwarp();", "a;").builds_in_turn(("plain", "asan")) == ("plain", "asan")


class Fake:
    """Stands for ``run``: a verdict for each build, and what was asked."""

    def __init__(self, **verdicts):
        self.verdicts = verdicts
        self.ran = []

    def __call__(self, mutant, build, order, _work, _limits, *, on=False):
        self.ran.append((mutant and mutant.name, build, order))
        verdict = self.verdicts.get(build if mutant else f"unchanged_{build}", "passed")
        if isinstance(verdict, Exception):
            raise verdict
        return Outcome(verdict, 1.0, "" if verdict == "passed" else "suite.py::test", "", PASSED)

    @property
    def builds(self):
        return [build for name, build, _ in self.ran if name]


@pytest.fixture
def tool(monkeypatch, tmp_path):
    """Runs the tool on one mutant with a fake in place of the builds; what tests launch is known."""
    unchanged = tmp_path / "unchanged.jsonl"
    unchanged.write_text(json.dumps(UNCHANGED) + "\n")
    monkeypatch.setattr(mutants, "missing", lambda build: "")

    def call(fake, *words, name="1u << 32"):
        monkeypatch.setattr(mutants, "run", fake)
        command = ["mutants.py", "-k", f"^{name}", "--jobs", "1", "--unchanged", str(unchanged), *words]
        monkeypatch.setattr("sys.argv", command)
        return mutants.main()

    return call


def test_every_build_runs_and_with_first_none_behind_the_one_that_catches(tool, capsys):
    fake = Fake(preempt="race")
    assert tool(fake) == 0
    assert fake.builds == ["plain", "preempt", "asan", "tsan"]
    fake = Fake(preempt="race")
    assert tool(fake, "--first") == 0
    assert fake.builds == ["plain", "preempt"]
    assert "1 of 1 caught" in capsys.readouterr().out
    fake = Fake(tsan="race")
    assert tool(fake, "--first", "--build", "asan", "--build", "tsan") == 0
    assert fake.builds == ["asan", "tsan"]


def test_what_no_build_catches_is_named_and_the_exit_code_is_1(tool, capsys):
    assert tool(Fake()) == 1
    assert "MISSED: 1u << 32" in capsys.readouterr().out


def test_a_build_that_says_nothing_does_not_keep_the_others_from_running(tool, capsys):
    fake = Fake(plain=Unusable("a kernel does not compile:\ng++: no such file"), tsan="race")
    assert tool(fake, "--first") == 2
    assert fake.builds == ["plain", "preempt", "asan", "tsan"]
    text = capsys.readouterr().out
    assert "g++: no such file" in text
    assert "1 of 1 caught" in text
    assert "\nSAYS NOTHING: 1u << 32, plain: a kernel does not compile:\n" in text


def test_a_test_that_fails_without_the_bug_catches_nothing(tool, capsys):
    fake = Fake(plain="result", unchanged_plain="result")
    assert tool(fake, "--build", "plain") == 2
    assert "suite.py::test fails on the kernels as they are, too" in capsys.readouterr().out
    assert [(name, order.only) for name, _, order in fake.ran if not name] == [(None, "suite.py::test")]


def test_rows_that_are_there_are_not_run_again(tool, tmp_path):
    rows = tmp_path / "rows.jsonl"
    fake = Fake(preempt="race")
    assert tool(fake, "--first", "--rows", str(rows)) == 0
    assert [(row.build, row.verdict) for row in mutants.read_rows(rows)] == [("plain", "passed"), ("preempt", "race")]
    again = Fake(asan="address")
    assert tool(again, "--first", "--rows", str(rows)) == 0
    assert not again.ran
    assert tool(again, "--rows", str(rows)) == 0
    assert again.builds == ["asan", "tsan"]
    rows.write_text(rows.read_text().replace("race", "passed").replace("address", "passed"))
    new = Fake(plain="result")
    assert tool(new, "--first", "--rows", str(rows)) == 0
    assert new.builds == ["plain"], "one that passed every build is tried again"
    rows.write_text(rows.read_text().replace('"digest": "', '"digest": "other'))
    assert tool(Fake(plain="result"), "--first", "--rows", str(rows)) == 0, "a row about another text counts"
    assert mutants.read_rows(rows)[-1].verdict == "result"


def test_what_time_cut_off_is_named(tool, capsys):
    assert tool(Fake(preempt=OutOfTime()), "--seconds", "9") == 3
    text = capsys.readouterr().out
    assert "time was up before 1 turns had come to their end" in text
    assert "NOT RUN TO ITS END: 1u << 32 (passed: plain)" in text


def test_a_build_that_is_missing_here_is_said_and_left_out(tool, monkeypatch, capsys):
    monkeypatch.setattr(mutants, "missing", lambda build: "g++ has no libtsan.so" if build == "tsan" else "")
    fake = Fake()
    assert tool(fake) == 3
    assert fake.builds == ["plain", "preempt", "asan"]
    assert "build tsan cannot be made here, and says nothing: g++ has no libtsan.so" in capsys.readouterr().out


def test_without_a_record_the_suites_run_on_the_kernels_as_they_are(monkeypatch, tmp_path, capsys):
    fake = Fake(plain="result")
    monkeypatch.setattr(mutants, "run", fake)
    monkeypatch.setattr(mutants, "missing", lambda build: "")
    record = tmp_path / "record.jsonl"
    words = ["-k", "^scan: the last", "--tests", "scan", "--first", "--jobs", "1", "--unchanged", str(record)]
    monkeypatch.setattr("sys.argv", ["mutants.py", *words])
    monkeypatch.setattr(mutants.Unchanged, "_take", lambda self, rows: list(rows))
    assert mutants.main() == 0
    assert [(name, build, order.suites) for name, build, order in fake.ran if not order.only] == [
        (None, "plain", ("test_kernels_strategies.py",)),
        ("scan: the last block is lost (report 000, Alg. 5)", "plain", ("test_kernels_strategies.py",)),
    ]
    assert fake.ran[1][2].tests == "scan"
    assert record.read_text()
    fake = Fake(unchanged_plain="crash")
    record.unlink()
    monkeypatch.setattr(mutants, "run", fake)
    assert mutants.main() == 1
    assert "the kernels as they are do not pass" in capsys.readouterr().out


def test_a_machine_without_git_knows_no_commit(monkeypatch):
    monkeypatch.setattr(mutants.shutil, "which", lambda name: None)
    assert mutants.commit() == ""
