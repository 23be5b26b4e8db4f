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
