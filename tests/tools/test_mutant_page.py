"""The page of planted bugs is made from rows, and says which are open."""

import json
from dataclasses import asdict, replace

import mutant_page
from mutant import REPOSITORY
from mutant_list import MUTANTS
from mutants import Row, read_rows


def row(mutant, build, verdict="passed", commit="1234567"):
    return Row(mutant.name, mutant.file, build, verdict, 1.0, 3, "", "", mutant.digest(), commit)


def test_the_last_row_about_a_text_counts_and_a_row_about_another_text_none():
    one, two, three = MUTANTS[:3]
    stale = replace(row(two, "plain", "result"), digest="of another text")
    rows = mutant_page.merged(
        [row(one, "tsan"), row(one, "plain"), row(one, "tsan", "race"), stale, row(three, "asan")], MUTANTS[:3]
    )
    assert [(r.mutant, r.build, r.verdict) for r in rows] == [
        (one.name, "plain", "passed"),
        (one.name, "tsan", "race"),
        (two.name, "", "not run"),
        (three.name, "asan", "passed"),
    ]
    text = mutant_page.page(rows)
    assert "1 of 3 are caught by some build; plain 0 of 1 tried, asan 0 of 1 tried, tsan 1 of 1 tried" in text
    assert f"| {one.name} | passed |  |  | race |" in text
    assert f"1 are not run:\n\n- {two.name}\n" in text
    assert f"and are open:\n\n- {three.name} (passed asan)\n" in text


def test_rows_are_added_to_those_that_are_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(mutant_page, "MUTANTS", MUTANTS[:2])
    for number, mutant in enumerate(MUTANTS[:2]):
        more = tmp_path / f"rows{number}.jsonl"
        more.write_text(json.dumps(asdict(row(mutant, "plain", "result", commit=""))) + "\n")
        words = [str(more), "--folder", str(tmp_path), "--commit", f"{number}{number}"]
        monkeypatch.setattr("sys.argv", ["mutant_page.py", *words])
        mutant_page.main()
        assert f"{number + 1} of 2 caught" in capsys.readouterr().out
    assert [r.commit for r in read_rows(tmp_path / "mutants.jsonl")] == ["00", "11"]
    assert "Run at 00, 11;" in (tmp_path / "mutants.md").read_text()


def test_the_page_is_that_of_its_rows():
    folder = REPOSITORY / "docs" / "results"
    made = mutant_page.page(read_rows(folder / "mutants.jsonl"))
    assert (folder / "mutants.md").read_text() == made, "python tools/mutant_page.py"
