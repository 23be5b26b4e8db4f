"""Commands speak names: sources, targets, tables, JSON, messages, cycles."""

import json

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
