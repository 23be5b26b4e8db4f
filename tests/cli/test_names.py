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
    assert code == 2
    assert "names.txt:2: graph.csrbin: no vertex is called 'nobody': there are 5 names" in err
    assert "beside it in byte order 'carol' and 'erin'" in err


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


LONG = "n" * 4_990 + "0123456789"
"""Nobody reads it in a table; what it ends with tells it from others."""


@pytest.mark.parametrize(
    "command",
    [
        ("bfs", "--source", LONG, "--target", "o", "--backend", "cpu"), ("cc", "--backend", "cpu"),
        ("closeness", "--top", "9"), ("eccentricity",), ("diameter",), ("hops", "--source", LONG),
        ("path", LONG, "o"), ("distances", "--source", LONG),
    ],
    ids=lambda command: command[0],
)  # fmt: skip
def test_very_long_names_are_shortened_for_people(command, run, folder):
    (folder / "graph.csv").write_text(f"source,target\n{LONG},o\no,p\np,{LONG}2\n", encoding="utf-8")
    assert run("convert", "graph.csv")[0] == 0
    code, out, err = run(command[0], "graph.csrbin", *command[1:])
    assert code == 0, err
    assert max(map(len, out.splitlines())) < 300
    assert "nnn...nn" in out and "0123456789 (5,000 characters)" in out.replace("\n            ", " ")


def test_a_very_long_name_that_is_not_there(run, named):
    code, _, err = run("bfs", "graph.csrbin", "--source", LONG, "--backend", "cpu")
    assert code == 2 and len(err) < 400
    assert "0123456789' (5,000 characters): there are 5 names" in err


def test_ends_of_lines_in_a_path_are_escaped(run, folder):
    """A message is one line, whoever named the file; a terminal is told nothing by a name."""
    odd = "a\nb\x1b[31m"
    (folder / f"{odd}.txt").write_text("0 1\n1 2\n")
    for words in (
        ("convert", f"{odd}.txt"), ("info", f"{odd}.csrbin"), ("bfs", f"{odd}.csrbin", "--source", "0"),
        ("bfs", f"{odd}.csrbin", "--source", "7"), ("check", f"{odd}.csrbin"), ("info", f"{odd}.none"),
        ("cc", f"{odd}.txt", "-o", f"{odd}.csv"), ("export", f"{odd}.csrbin", "--to", "csv", "-o", f"{odd}-2.csv"),
        ("split", f"{odd}.csrbin", "--shards", "2"), ("members", f"{odd}.csrbin", "--vertex", "9"),
    ):  # fmt: skip
        _, out, err = run(*words)
        assert "a\\nb\\x1b[31m" in out + err, words
        assert "a\nb" not in out + err and "\x1b" not in out + err, words


def test_a_carriage_return_in_a_field_without_quotes(run, folder):
    (folder / "graph.csv").write_bytes(b"source,target\na,b\nc,d\re\ng,h\n")
    code, _, err = run("convert", "graph.csv")
    assert code == 1
    assert "has 1 field, and 2 are expected: 'e'" in err and "a carriage return alone" in err and "needs quotes" in err


def test_a_vertex_that_is_not_there_is_named_with_its_place_in_the_file(run, folder):
    (folder / "graph.txt").write_text("1 2\n3 4\n")
    assert run("convert", "graph.txt")[0] == 0
    (folder / "ids.txt").write_text("# c\n1 2\n\n3 999\n999 1000\n")
    for arguments in (
        ("distances", "--sources", "@ids.txt", "-o", "d.npy"),
        ("distances", "--source", 1, "--targets", "@ids.txt"),
        ("hops", "--sources", "@ids.txt"),
        ("bfs", "--sources", "@ids.txt", "--backend", "cpu"),
        ("path", "--pairs", "@ids.txt"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert "ids.txt:4: graph.csrbin: no vertex 999" in err
