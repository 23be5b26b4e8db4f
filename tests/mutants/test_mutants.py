"""The mutants can be planted: each text to replace is in the kernels, once. ``make mutants`` runs them."""

import mutants
import pytest


def test_there_are_enough_of_them_and_no_name_twice():
    names = [mutant.name for mutant in mutants.MUTANTS]
    assert len(set(names)) == len(names) >= 15


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_kernels(mutant):
    text = (mutants.KERNELS / mutant.file).read_text()
    assert text.count(mutant.old) == 1, "the kernel has changed: bring tools/mutant_list.py in line"
    assert mutant.new != mutant.old


def test_a_run_that_says_nothing_ends_with_2(monkeypatch, capsys):
    def unusable(*_):
        raise mutants.Unusable("g++: no such file")

    monkeypatch.setattr(mutants, "run", unusable)
    monkeypatch.setattr("sys.argv", ["mutants.py", "-k", "1u << 32", "--build", "plain"])
    assert mutants.main() == 2
    assert "g++: no such file" in capsys.readouterr().out


def test_first_runs_no_build_behind_the_one_that_catches(monkeypatch, capsys):
    ran = []

    def run(mutant, build, work, _how):
        ran.append((mutant and mutant.name, build))
        return mutants.Outcome("race" if mutant and build == "tsan" else "-", 1.0, "")

    monkeypatch.setattr(mutants, "run", run)
    monkeypatch.setattr("sys.argv", ["mutants.py", "-k", "1u << 32", "--first", "--jobs", "1"])
    assert mutants.main() == 0
    assert [build for name, build in ran if name] == ["plain", "preempt", "asan", "tsan"]
    ran.clear()
    monkeypatch.setattr("sys.argv", [*mutants.sys.argv, "--build", "tsan", "--build", "plain"])
    assert mutants.main() == 0
    assert [build for name, build in ran if name] == ["tsan"]
    assert sorted(build for name, build in ran if not name) == ["plain", "tsan"]
    assert "1 of 1 caught" in capsys.readouterr().out


def test_the_kernels_as_they_are_meet_the_suites_and_tests_that_are_asked(monkeypatch, capsys):
    asked = []

    def run(mutant, _build, _work, how):
        asked.append((mutant is None, how))
        return mutants.Outcome("race" if mutant else "-", 1.0, "")

    monkeypatch.setattr(mutants, "run", run)
    monkeypatch.setattr(
        "sys.argv", ["mutants.py", "-k", "^scan", "--build", "plain", "--tests", "scan", "--seconds", "9"]
    )
    assert mutants.main() == 0
    how = mutants.Run(("test_kernels_strategies.py",), "scan", 9.0)
    assert {each for _, each in asked} == {how}
    assert sum(unchanged for unchanged, _ in asked) == 1
