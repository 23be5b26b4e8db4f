"""What a message offers works as typed: of files of edges that are named, headed or written as graph files are not."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
import subprocess

import pytest

from bigbfs.cli.wording import of_call
from bigbfs.errors import Argument


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


@pytest.mark.parametrize(
    "how",
    [
        ("--names",),
        ("--names", "--no-header"),
        ("--directed", "--no-in-edges", "--names", "--keep-self-loops"),
        ("--columns", "2,1", "--names", "--order", "degree"),
    ],
    ids=" ".join,
)
def test_the_graph_made_of_a_file_is_found_whatever_it_was_made_with(run, folder, how):
    (folder / "nm.txt").write_text("ann bob\nbob carl\ncarl ann\n")
    assert run("convert", "nm.txt", *how)[0] == 0
    before = (folder / "nm.csrbin").read_bytes()
    code, _, err = run("cc", "nm.txt", "--json")
    assert code == 0, err
    assert (folder / "nm.csrbin").read_bytes() == before
    said = re.search(r"bigbfs: found nm.csrbin of nm.txt(?:, columns ([\d,]+))?, made with (.*)\n", err)
    assert said is not None, err
    again = [*shlex.split(said[2]), *(("--columns", said[1]) if said[1] else ())]
    assert sorted(again) == sorted(how)
    code, _, _ = run("convert", "nm.txt", *again)
    assert code == 0 and (folder / "nm.csrbin").read_bytes() == before
    (folder / "nm.txt").write_text("ann bob\nbob carl\ncarl ann\ndora ann\n")  # made again, with the same
    code, _, err = run("info", "nm.txt", "--json")
    assert code == 0 and "bigbfs: made nm.csrbin of nm.txt" in err and said[2] in err


def test_a_graph_of_other_columns_made_with_options_is_not_replaced(run, folder):
    (folder / "q.csv").write_text("a,b,c\nann,bob,x\nbob,carl,y\n")
    assert run("convert", "q.csv", "--directed", "--no-header")[0] == 0
    code, _, err = run("cc", "q.csv", "--columns", "2,3")
    assert code == 2 and "q.csrbin: is there already, made of q.csv with other options (directed, header)" in err
    words = offered(err)
    assert words == ["convert", "q.csv", "--columns", "2,3", "--directed", "--no-header", "-o", "OUT.csrbin"]
    assert run(*words)[0] == 0 and run("cc", "OUT.csrbin")[0] == 0


def test_what_a_graph_of_several_files_was_made_with_is_offered_for_one(run, folder):
    (folder / "a.txt").write_text("ann bob\nbob carl\n")
    (folder / "b.txt").write_text("dora bob\nbob emil\n")
    assert run("convert", "a.txt", "b.txt", "--names")[0] == 0
    code, _, err = run("cc", "a.txt")
    assert code == 2 and "a.csrbin: is there already, made of a.txt and other files" in err
    assert run(*offered(err))[0] == 0 and run("cc", "OUT.csrbin")[0] == 0


def test_a_graph_that_says_nothing_of_its_making_stays(run, folder):
    (folder / "g.txt").write_text("1 2\n")
    (folder / "g.csrbin").write_bytes(b"something else")
    code, _, err = run("cc", "g.txt")
    assert code == 2 and "g.csrbin: is there already, and nothing says that it was made of g.txt" in err
    assert run(*offered(err))[0] == 0 and (folder / "g.csrbin").read_bytes() == b"something else"


def test_an_option_that_says_no_is_offered_as_such():
    assert of_call("convert", Argument("header", False)) == "--no-header"
    assert of_call("convert", Argument("header", True)) == "--header"


@pytest.mark.parametrize("row", ["1,2,3", "ann,bob,3"])
@pytest.mark.parametrize("columns", ["1,9", "9,1"])
def test_a_column_that_is_not_there_is_said_at_once(run, folder, row, columns):
    (folder / "q.csv").write_text(f"from,to,km\n{row}\n{row.replace('3', '4')}\n")
    code, _, err = run("cc", "q.csv", "--columns", columns)
    assert code == 1
    assert err == (
        "bigbfs: error: q.csv: no column 9: it has 3 ('from', 'to', 'km'); say --columns from,to for example\n"
    )
    assert run("cc", "q.csv", "--columns", "from,to")[0] == 0


@pytest.mark.parametrize("line", ["1 2", "1,2", "1\t2"])
def test_lines_without_a_header_are_counted_too(run, folder, line):
    (folder / "rnd.txt").write_text(f"# c\n{line}\n{line}\n")
    code, _, err = run("convert", "rnd.txt", "--columns", "1,3")
    assert code == 1 and "rnd.txt: line 2: " in err and "no column 3: the line has 2 columns; say --columns 1,2" in err
    assert run("convert", "rnd.txt", "--columns", "1,2")[0] == 0


def test_a_header_that_lacks_the_name_of_a_column_is_no_reason_to_refuse_it(run, folder):
    (folder / "r.txt").write_text("from to\nx 1 2\ny 2 3\n")  # as R writes tables with names of their rows
    assert run("convert", "r.txt", "--columns", "2,3")[0] == 0
    (folder / "s.txt").write_text("from to\n1\n")
    code, _, err = run("convert", "s.txt", "--columns", "2,3")
    assert code == 1 and "s.txt: no column 3: it has 2 ('from', 'to'); say --columns from,to for example" in err


@pytest.mark.parametrize("names", ['"a,b",c,d', "a,a,b"])
def test_columns_are_offered_by_number_where_their_names_would_not_do(run, folder, names):
    (folder / "q.csv").write_text(f"{names}\n1,2,3\n2,3,4\n")
    code, _, err = run("convert", "q.csv", "--columns", "x,y")
    assert code == 1 and "say --columns 1,2 for example" in err
    assert run("convert", "q.csv", "--columns", "1,2", "--header")[0] == 0


@pytest.mark.parametrize("text", ["a,b\n1,2\n,3\n", "1,2\n3,\n", "1,2\nx,,4\n", "1;2\n-1;\n"])
def test_names_are_not_offered_where_one_is_empty(run, folder, text):
    (folder / "gap.csv").write_text(text)
    code, _, err = run("convert", "gap.csv")
    line = text.count("\n")
    assert code == 1 and f"gap.csv: line {line}: " in err and "--names" not in err, err
    code, _, err = run("convert", "gap.csv", "--names")
    assert code == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b\n", "only a header, line 1: 'a,b'; an edge list needs"),
        ("# c\n\na,b\n", "only a header, line 3: 'a,b' and 2 comment and blank lines; an"),
        ("# c\n", "only a comment or blank line; an"),
    ],
)
def test_a_header_alone_is_called_one(run, folder, text, found):
    (folder / "head.csv").write_text(text)
    code, _, err = run("convert", "head.csv")
    assert code == 1 and f"head.csv: no edge in it, {found}" in err
    code, _, err = run("convert", "head.csv", "--names")
    assert code == 1 and ("a,b" not in text or f"no edge in it, {found.partition(':')[0]}; a graph" in err)


@pytest.mark.parametrize("name", ["lat.csv", "my lat.tsv"])
@pytest.mark.parametrize(("encoding", "called"), [("latin-1", "LATIN1"), ("utf-16", "UTF-16")])
def test_text_that_is_no_utf_8_is_told_how_to_become_so(run, folder, name, encoding, called):
    text = "from,to\nann,bob\nJosé,ann\n".replace(",", "\t" if name.endswith(".tsv") else ",")
    (folder / name).write_text(text, encoding=encoding)
    code, _, err = run("convert", name)
    assert code == 1 and (encoding == "utf-16" or f"{name}: line 3: 'Jos\\xe9' is no UTF-8" in err), err
    command = re.search(r"convert it first: (iconv .*)", err)[1]
    assert command.startswith(f"iconv -f {called} -t UTF-8 {shlex.quote(name)} > ")
    if shutil.which("iconv"):
        subprocess.run(command, shell=True, check=True)
        assert run("convert", shlex.split(command)[-1])[0] == 0


def test_a_header_in_latin_1(run, folder):
    (folder / "lat.csv").write_bytes(b"n\xe9,to\nann,bob\nbob,carl\n")
    code, _, err = run("convert", "lat.csv")
    assert code == 1 and "lat.csv: a column's name is no UTF-8" in err and "iconv -f LATIN1 -t UTF-8 lat.csv > " in err


def test_a_packed_file_is_not_given_to_iconv(run, folder):
    (folder / "lat.csv.gz").write_bytes(gzip.compress("from,to\nann,bob\nJosé,ann\n".encode("latin-1")))
    code, _, err = run("convert", "lat.csv.gz")
    assert code == 1 and err.endswith("if it is Latin-1, convert it first: iconv -f LATIN1 -t UTF-8\n")


def test_both_readers_name_the_line(run, folder):
    (folder / "gap.csv").write_text("a,b\n1,2\n,3\n")
    for how in ((), ("--names",)):
        code, _, err = run("convert", "gap.csv", *how)
        assert code == 1 and "gap.csv: line 3: " in err
