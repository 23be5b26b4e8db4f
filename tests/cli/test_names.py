"""Commands speak names: sources, targets, tables, JSON, messages, cycles."""

import json
import re
import shlex

import pytest


@pytest.fixture
def named(run, folder):
    """graph.csrbin of named vertices."""
    (folder / "graph.csv").write_text("source,target\nbob,carol\nalice,bob\n'dave,erin\n", encoding="utf-8")
    assert run("convert", "graph.csv")[0] == 0
    return folder


def test_a_search_from_a_name_to_a_name(run, named):
    code, out, _ = run("bfs", "--source", "alice", "--target", "carol", "--verify", "--backend", "cpu")
    assert code == 0
    assert " alice " in out and "path        alice -> bob -> carol: 2 edges" in out and "deepest     carol" in out
    code, out, _ = run("bfs", "--source", "alice", "--target", "erin", "--json", "--backend", "cpu")
    found = json.loads(out)["runs"][0]
    assert (found["source"], found["target"], found["path"]) == ("alice", "erin", None)


def test_sources_from_a_file_are_lines(run, named):
    (named / "names.txt").write_text("'dave\ncarol\n")
    code, out, _ = run("bfs", "--sources", "@names.txt", "--json", "--backend", "cpu")
    assert [each["source"] for each in json.loads(out)["runs"]] == ["'dave", "carol"]
    (named / "names.txt").write_text("carol\nnobody\n")
    code, _, err = run("bfs", "--sources", "@names.txt", "--backend", "cpu")
    assert (
        code == 2
        and "no vertex is called 'nobody': there are 5 names, beside it in byte order 'carol' and 'erin'" in err
    )


def test_info_and_check_know_of_the_names(run, named):
    assert "5 (names, 4 bytes each)" in run("info", "graph.csrbin")[1]
    assert json.loads(run("info", "graph.csrbin", "--json")[1])["names"] is True
    assert "ok  names: 5 in 1 page" in run("check", "graph.csrbin")[1]


def test_a_cycle_is_named(run, folder):
    (folder / "g.csv").write_text("source,target\na,b\nb,a\n")
    run("convert", "g.csv", "--directed")
    code, _, err = run("toposort", "--backend", "cpu")
    assert code == 1 and ("a -> b -> a" in err or "b -> a -> b" in err)


def test_a_name_where_ids_are_numbers(run, small):
    code, _, err = run("bfs", "--source", "alice")
    assert code == 2 and "'alice' is not a valid integer" in err


def test_names_with_commas_between_them_are_refused_with_a_command_that_works(run, folder):
    """Also names that a form of ``--sources`` could be, and such that look like an option."""
    (folder / "g.csv").write_text("source,target\nNaN,-\n-,7\n8,NaN\n")
    assert run("convert", "g.csv", "--names")[0] == 0
    for given in ("NaN,-", "7,8", "-"):
        code, _, err = run("distances", "--sources", given)
        assert code == 2, err
        words = re.search(r"given one by one, `([^`]*)`, or in a @FILE$", err.strip())
        assert words, err
        code, out, err = run("distances", *shlex.split(words[1]), "--json")
        assert code == 0, err
        assert [each["source"] for each in json.loads(out)["sources"]] == given.split(",")
    (folder / "names").write_text("NaN\n-\n")
    code, _, err = run("distances", "--source", "7", "--targets", "NaN,-")
    assert code == 2 and "names stand in a file, one a line: --targets @FILE" in err
    assert run("distances", "--source", "7", "--targets", "@names")[0] == 0
