"""Refusals of commands of many searches: each names a way out, and what it names works."""

from __future__ import annotations

import json
import math
import re
import shlex

import click
import pytest

import bigbfs
from bigbfs.cli.main import COMMANDS, cli
from bigbfs.cli.wording import named_command

LIST = "list them with `bigbfs cc graph.csrbin --labels ids.csv`"


def commands_in(err):
    """Return the command lines between backquotes of an error message."""
    return [shlex.split(each)[1:] for each in re.findall(r"`(bigbfs [^`]*)`", err)]


@pytest.mark.parametrize(
    "words",
    [
        ("distances", "--source", 4),
        ("distances", "--sources", "4,10"),
        ("hops", "--sources", "@ids.txt"),
        ("path", 4, 10),
        ("path", "--pairs", "@ids.txt"),
        ("bfs", "--source", 4),
    ],
    ids=str,
)
def test_who_names_no_vertex_is_told_how_to_find_one(run, small, words):
    (small / "ids.txt").write_text("10 20\n4 10\n")
    code, out, err = run(*words)
    assert (code, out) == (2, "") and "no vertex 4: 5 ids between 10 and 50; give one of the ids of its input" in err
    assert LIST in err
    for line in commands_in(err):
        assert run(*line)[0] == 0
    assert (small / "ids.csv").read_text().split()[:2] == ["id,component", "10,10"]


def test_names_too(run, folder):
    (folder / "graph.csv").write_text("source,target\nbob,carol\n")
    (folder / "names.txt").write_text("bob\nzoe\n")
    assert run("convert", "graph.csv")[0] == 0
    for word in (("--source", "zoe"), ("--sources", "@names.txt")):
        code, _, err = run("distances", *word)
        assert code == 2 and "no vertex is called 'zoe'" in err and "give one of the names of its input" in err
        assert LIST in err


def test_python_users_read_of_functions(small):
    with pytest.raises(
        bigbfs.UsageError, match=r"50; give .* input, or list them with Graph\.original_ids\(\)$"
    ) as got:
        bigbfs.distances("graph.csrbin", [4])
    assert got.value.remedies
    graph = bigbfs.Graph.from_csr([0, 1, 2], [1, 0])
    with pytest.raises(bigbfs.UsageError, match=r"^graph: no vertex 7: ids are 0 to 1; give one of these$"):
        bigbfs.shortest_path(graph, 0, 7)


@pytest.mark.parametrize("depth", [None, 0])
def test_an_average_of_no_pairs_is_none(run, folder, depth):
    """Of a graph without edges, and of one in which nobody looks at any; others have no average either way."""
    lines = "%%MatrixMarket matrix coordinate pattern symmetric\n" + ("5 5 0\n" if depth is None else "5 5 1\n2 1\n")
    (folder / "graph.mtx").write_text(lines)
    assert run("convert", "graph.mtx")[0] == 0
    words = () if depth is None else ("--max-depth", depth)
    code, out, err = run("hops", *words)
    assert code == 0 and "effective diameter 0, no average distance: no pairs of two different vertices" in out, err
    found = json.loads(run("hops", *words, "--json")[1])
    assert (found["within"], found["effective_diameter"], found["average_distance"]) == ([5], 0.0, None)
    assert math.isnan(bigbfs.hops("graph.csrbin", max_depth=depth).average_distance)


def test_the_effective_diameter_counts_who_is_with_himself_and_the_average_does_not(run, small):
    """13 pairs, of which 5 are of one vertex, 6 of neighbours, 2 at two hops: 90 % are 11.7."""
    found = bigbfs.hops("graph.csrbin")
    assert found.effective_diameter == pytest.approx(1 + (11.7 - 11) / 2)
    assert found.average_distance == (6 * 1 + 2 * 2) / 8
    said = " ".join(run("hops", "--help")[1].split())
    assert "a vertex with itself counted, as in ANF; the average distance leaves those out" in said


@pytest.mark.parametrize("command", ["diameter", "eccentricity"])
@pytest.mark.parametrize("named", [False, True])
def test_a_directed_graph_that_is_not_strong_is_answered_with_what_makes_one_that_is(run, folder, command, named):
    lines = ("a b", "b c", "c a", "c d") if named else ("1 2", "2 3", "3 1", "3 4")
    (folder / "my graph.txt").write_text("".join(f"{line}\n" for line in lines))
    assert run("convert", "my graph.txt", "--directed", *(("--names",) if named else ()))[0] == 0
    code, out, err = run(command, "my graph.csrbin")
    one, other = ("a", "d") if named else (1, 4)
    assert (code, out) == (2, "") and f"{one} cannot be reached from {other}; make a graph without directions" in err
    (line,) = commands_in(err)
    assert line == ["convert", "my graph.csrbin", "--undirected", "-o", "my graph-undirected.csrbin"]
    assert run(*line)[0] == 0
    assert json.loads(run(command, line[-1], "--json")[1])["diameter"] == [2, 2]


def test_in_neighbours_that_are_not_stored_are_added(run, folder):
    (folder / "graph.txt").write_text("1 2\n2 3\n3 1\n")
    assert run("convert", "graph.txt", "--directed", "--no-in-edges")[0] == 0
    code, out, err = run("diameter", "graph.csrbin")
    assert (code, out) == (2, "") and "in-neighbours, which it does not store; add them with" in err
    (line,) = commands_in(err)
    assert run(*line)[0] == 0
    assert json.loads(run("diameter", line[line.index("-o") + 1], "--json")[1])["diameter"] == [2, 2]


def test_python_users_get_the_call(folder):
    graph = bigbfs.Graph.from_csr([0, 1, 2, 2], [1, 2], directed=True)
    with pytest.raises(bigbfs.UsageError, match=r"`bigbfs\.convert\("):
        bigbfs.eccentricity(graph)


@pytest.mark.parametrize("words", [("-o", "a.npy", "--labels", "b.npy"), ("--labels", "b.npy", "--output=a.npy")])
def test_one_output_of_several_names_is_given_once(run, small, words):
    code, out, err = run("cc", "graph.csrbin", *words)
    assert (code, out) == (2, "") and "--labels (-o, --output) is one output, and 2 are given" in err
    assert "a.npy" in err and "b.npy" in err and not list(small.glob("*.npy"))
    assert run("cc", "graph.csrbin", words[0], words[1])[0] == 0 and len(list(small.glob("*.npy"))) == 1


WRITING = {"-o", "--levels", "--parents", "--sizes", "--largest", "--plot", "--report"}
LINES = [*((name,) for name in COMMANDS), ("bench", "bfs"), ("bench", "report"), ("generate", "star")]


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_no_output_is_named_twice(run, folder, words):
    command = named_command(cli, words)
    others = ["a"] * sum(each.required and isinstance(each, click.Argument) for each in command.params)
    for name in WRITING & {name for option in command.params for name in option.opts}:
        code, out, err = run(*words, *others, name, "x", name, "y")
        assert (code, out) == (2, "") and "is one output, and 2 are given: x, y" in err
        assert name in re.findall(r"-[\w-]+", err)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("text", ["", "a,,b", ","])
def test_no_name_is_offered_that_is_empty(run, small, text):
    code, _, err = run("distances", "--sources", text)
    assert code == 2 and "`--source NAME --source NAME`" in err and "''`" not in err
