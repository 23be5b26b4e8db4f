"""The rows that ``bigbfs bench bfs`` writes: what becomes of those that are there, cut lines, errors of a case."""

import pytest

from bigbfs.bench import measure
from bigbfs.cli.interrupts import Interrupted
from bigbfs.report.rows import read_rows


def test_rows_of_an_earlier_run_stay_until_there_is_one(small, run, monkeypatch):
    assert run("bench", "bfs", "--source", 10, "--no-baselines", "-o", "r.jsonl")[0] == 0
    before = (small / "r.jsonl").read_bytes()

    def stopped(self, source):
        raise Interrupted(2)

    monkeypatch.setattr(measure.Placed, "run", stopped)
    with pytest.raises(Interrupted):
        run("bench", "bfs", "--source", 40, "--no-baselines", "-o", "r.jsonl")
    assert (small / "r.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ('kind = "star"\nparameters = { vertices = 9 }\nchosen = [99]', "no vertex 99"),
        ('kind = "uniform"\nparameters = { vertices = 9, edges = 0 }\nsources = 1', "no vertex has an edge"),
    ],
)
def test_an_error_of_a_case_names_it(small, run, case, says):
    (small / "suite.toml").write_text(f'[[cases]]\nname = "the third"\n{case}\n')
    code, _, err = run("bench", "bfs", "--suite", "suite.toml", "--backend", "cpu")
    assert code != 0
    assert "case 'the third': " in err and says in err


def test_a_last_line_that_was_cut_short_is_left_out(small, run):
    assert run("bench", "bfs", "--source", 10, "--source", 40, "-o", "r.jsonl")[0] == 0
    rows = len(read_rows([small / "r.jsonl"]).rows)
    (small / "r.jsonl").write_bytes((small / "r.jsonl").read_bytes()[:-9])
    record = read_rows([small / "r.jsonl"])
    assert len(record.rows) == rows - 1
    (note,) = record.notes
    assert note.endswith("r.jsonl: the last line was cut short; it is left out.")
