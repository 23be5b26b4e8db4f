"""What a message offers works as typed: of files of edges that are named, headed or written as graph files are not."""

from __future__ import annotations

import re
import shlex

import pytest


def offered(err):
    """Return the words of the only command line between backquotes of an error message."""
    (line,) = re.findall(r"`bigbfs ([^`]*)`", err)
    return shlex.split(line)


@pytest.mark.parametrize(("name", "output"), [("my el.csrbin", "my el-graph.csrbin"), ("el.ids", "el.ids.csrbin")])
def test_an_edge_list_named_as_a_graph_becomes_one_of_another_name(run, folder, name, output):
    (folder / name).write_text("1 2\n2 3\n")
    code, _, err = run("cc", name)
    assert code == 1 and "no graph file" in err
    words = offered(err)
    assert run(*words)[0] == 0
    assert (folder / name).read_text() == "1 2\n2 3\n" and run("cc", output)[0] == 0


def test_a_graph_that_is_there_is_not_replaced_by_what_is_offered(run, small):
    (small / "graph.sg").write_text("1 2\n2 3\n")
    before = (small / "graph.csrbin").read_bytes()
    words = offered(run("cc", "graph.sg")[2])
    assert run(*words)[0] == 0 and (small / "graph.csrbin").read_bytes() == before


@pytest.mark.parametrize("content", [b"\x7fELF\x02\x01\x01\0\0\0\0\0", b"1 2\0", b"\xff\xfe1\0 \0002\0"])
def test_what_is_no_text_is_not_offered_as_an_edge_list(run, folder, content):
    (folder / "ls.csrbin").write_bytes(content)
    code, _, err = run("cc", "ls.csrbin")
    assert code == 1 and "no graph file" in err and "`" not in err
