"""Errors carry arguments and remedies as data; Python users read keyword arguments, users of commands read options."""

import ast
import copy
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import bigbfs
from bigbfs import errors
from bigbfs.cli import main
from bigbfs.cli.wording import in_options, named_command, printable
from bigbfs.errors import Argument, Call, DoesNotFitError, FileAccessError, FormatError, Remedy, UsageError, naming

PACKAGE = Path(bigbfs.__file__).parent
OPTION = re.compile(r"(?<![\w-])(--[a-z]|-o\b)")
FOREIGN = {
    *("--always", "--dirty=+", "--abbrev=12", "--exclude=*", "--version"),
    "; processes in containers need one IPC namespace (--ipc=host) and must see all the GPUs",
}
"""Options of git, for the commit of a run, of mpiexec, and of what starts containers."""


def strings(tree):
    """Return every string constant of a module but its docstrings."""
    docstrings = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                docstrings.add(id(statement.value))
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]


def test_no_option_of_the_command_line_is_named_below_it():
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value!r}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "cli"
        for node in strings(ast.parse(path.read_text(encoding="utf-8")))
        if OPTION.search(node.value) and node.value not in FOREIGN
    ]
    assert found == []


def test_the_search_for_options_finds_them():
    tree = ast.parse('"""--fine"""\nraise ValueError(f"{x}: say --tmp")\nraise ValueError("elsewhere (-o)")')
    assert [bool(OPTION.search(node.value)) for node in strings(tree)] == [True, True]


def test_no_command_repairs_messages_by_regular_expression():
    for path in (PACKAGE / "cli").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        assert "re" not in imported, path.name


def command(*names):
    return named_command(main.cli, names)


BOTH = [
    (UsageError("wrong"), "bfs", "wrong", "wrong"),
    (
        DoesNotFitError("3 GiB", remedies=(("memory", None), "free some")),
        "convert",
        "3 GiB; allow more with memory=..., or free some",
        "3 GiB; allow more with --memory, or free some",
    ),
    (
        DoesNotFitError("no room", remedies=(("residency", "mapped"), ("compressed", True), ("backend", "cpu"))),
        "bfs",
        'no room; use residency="mapped", use Graph.compress() (fewer bytes for the same edges), or use backend="cpu"',
        "no room; use --residency mapped, use --compressed (fewer bytes for the same edges), or use --backend cpu",
    ),
    (
        UsageError("there is no such folder", about=(("tmp", Path("a b")),)),
        "convert",
        'tmp="a b": there is no such folder',
        "--tmp 'a b': there is no such folder",
    ),
    (
        UsageError("for a GPU", about=(("vram_budget", None), ("ram_budget", None)), remedies=(("in_edges", False),)),
        "bfs",
        "vram_budget, ram_budget: for a GPU; use in_edges=False",
        "--vram-budget, --ram-budget: for a GPU",
    ),
    (
        FormatError(
            "a.csrbin: no graph file",
            remedies=(Remedy(Call("convert", "a b.txt", (Argument("format", "text"),)), "try {}"),),
        ),
        "info",
        'a.csrbin: no graph file; try `bigbfs.convert("a b.txt", format="text")`',
        "a.csrbin: no graph file; try `bigbfs convert 'a b.txt' --format text`",
    ),
    (
        UsageError("both", remedies=(("in_edges", False), ("keep_ids", True))),
        "convert",
        "both; use in_edges=False, or leave keep_ids=True out (ids with gaps are renumbered by default)",
        "both; use --no-in-edges, or leave --keep-ids out (ids with gaps are renumbered by default)",
    ),
]


@pytest.mark.parametrize(("error", "name", "keywords", "options"), BOTH)
def test_one_error_in_the_words_of_both(error, name, keywords, options):
    assert str(error) == keywords
    assert in_options(error, command(name)) == options


def test_a_remedy_that_a_command_has_not_is_left_out():
    error = errors.NoDeviceError("no driver", remedies=(("backend", "cpu"),))
    assert in_options(error, command("plan")) == "no driver"
    assert in_options(error, command("bfs")) == "no driver; use --backend cpu"
    assert in_options(error, command("bench", "cc")) == "no driver; use --backend cpu"
    assert in_options(error, command("bench")) == "no driver"
    assert in_options(error, command("--help")) == "no driver"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["cc", "-o", "D.xyz"], "-o"),
        (["cc", "-oD.xyz"], "-o"),
        (["cc", "--output=D.xyz"], "--output"),
        (["cc", "--labels", "D.xyz"], "--labels"),
        (["cc"], "--labels"),
    ],
)
def test_an_option_of_several_names_is_called_as_it_was_given(given, words):
    error = UsageError("no", about=(("labels", Path("D.xyz")),))
    assert in_options(error, command("cc"), given) == f"{words} D.xyz: no"


def test_a_very_long_word_is_shown_by_its_beginning_and_end():
    text = str(UsageError("is unknown", about=(("kind", "x" * 10_000 + "y"),)))
    assert len(text) < 200 and text.startswith('kind="xxx') and text.endswith('xy": is unknown')
    path = "/".join(["d" * 255] * 15)
    assert path in str(FileAccessError(f"{path}: cannot read"))
    text = str(errors.ArgumentError("no", about=(("sources", [10**5000]),)))  # which Python does not write
    assert text == "sources=... (list): no"


def test_a_caller_names_its_own_arguments():
    with pytest.raises(FileAccessError) as caught, naming(output="levels"):
        raise FileAccessError("l.npy: cannot write", remedies=(("output", None), ("memory", None)))
    assert str(caught.value) == "l.npy: cannot write; name another file with levels=..., or allow more with memory=..."
    with pytest.raises(UsageError, match=r"^path=1: no$"), naming(output="path"):
        raise UsageError("no", about=(("output", 1),))
    assert "levels" in in_options(caught.value, command("bfs"))


@pytest.mark.parametrize(
    "kind", [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.BigBfsError)]
)
def test_every_error_is_copied_and_pickled_with_its_remedies(kind):
    error = kind("a: b", about=(("tmp", "x"),), remedies=(("memory", None),))
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), error.saying("a: b")):
        assert type(other) is kind and str(other) == str(error) == 'tmp="x": a: b; allow more with memory=...'


def test_a_conversion_refused_in_both_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text("0 1\n")
    with pytest.raises(UsageError, match=r'^tmp="nowhere": there is no such folder; name one that exists$'):
        bigbfs.convert("g.txt", tmp=Path("nowhere"))
    assert main.run(["convert", "g.txt", "--tmp", "nowhere"]) == 2
    assert capsys.readouterr().err == "bigbfs: error: --tmp nowhere: there is no such folder; name one that exists\n"
    Path("bad.txt").write_text("0 1\n2 x\n")
    said = r"correct the line, skip such lines with skip_bad_lines=\.\.\., or read every id as a name with names=True$"
    with pytest.raises(errors.InputError, match=said):
        bigbfs.convert("bad.txt")
    assert main.run(["convert", "bad.txt"]) == 1
    said = "correct the line, skip such lines with --skip-bad-lines N, or read every id as a name with --names\n"
    assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["bsf"], "no such command 'bsf' (did you mean 'bfs'?); see `bigbfs --help`"),
        (["Clossness", "g"], "no such command 'Clossness' (did you mean 'closeness'?); see `bigbfs --help`"),
        (["qqqq"], "no such command 'qqqq'; see `bigbfs --help`"),
        (["bench", "reporx"], "no such command 'reporx' (did you mean 'report'?); see `bigbfs bench --help`"),
        (["bfs", "--treads", "1"], "no such option"),
        (
            ["bfs", "--threads", "x"],
            "invalid value for '--threads': 'x' is not a valid integer range; see `bigbfs bfs --help`",
        ),
        (["convert"], "missing argument 'INPUT...'; see `bigbfs convert --help`"),
        (["generate", "star"], "missing option '-o' / '--output'; see `bigbfs generate star --help`"),
    ],
)
def test_usage_errors_of_both_kinds_have_one_style(line, message, capsys):
    assert main.run(line) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"bigbfs: error: {message}") and err.count("\n") == 1 and err.endswith("--help`\n")


def test_what_a_terminal_would_act_on_is_shown_in_full_and_escaped(tmp_path, capsys):
    assert printable("a\x1b[31mb\tc\x85\u200b é\n") == r"a\x1b[31mb\tc\x85\u200b é\n"
    assert main.run(["info", str(tmp_path / "red\x1b[31m.csrbin")]) == 1
    assert r"red\x1b[31m.csrbin: cannot open" in capsys.readouterr().err


def test_the_group_itself_has_no_options_with_values():
    """Else :func:`named_command` would take a value for a command."""
    groups = [main.cli, command("bench"), command("generate")]
    for group in groups:
        assert isinstance(group, click.Group)
        assert all(option.is_flag for option in group.params), group.name


@pytest.mark.parametrize(
    ("layer", "says"),
    [("tbb", "not installed; unset the variable, or pip install tbb"), ("fish", "no threading layer of Numba's")],
)
def test_a_threading_layer_that_is_not_there_is_named(tmp_path, layer, says):
    (tmp_path / "g.txt").write_text("0 1\n")
    if layer == "tbb":
        hidden = tmp_path / "sitecustomize.py"  # wherever the tests run, its library is not installed
        hidden.write_text("import sys\nsys.modules['numba.np.ufunc.tbbpool'] = None\n")
    paths = os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])
    environment = os.environ | {"NUMBA_THREADING_LAYER": layer, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-m", "bigbfs", "convert", "g.txt"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stderr.startswith(f"bigbfs: error: NUMBA_THREADING_LAYER={layer}: ")
    assert says in done.stderr and "Traceback" not in done.stderr


def test_tables_and_the_line_of_the_graph_fit_eighty_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "a-name-of-fifty-characters-or-so-is-no-rare-thing.csrbin"
    bigbfs.generate.graph("kronecker", scale=10, seed=1).save(name)
    for line in (["bench", "cc", name, "--trials", "1"], ["plan", name], ["bfs", name, "--source", "0"], ["cc", name]):
        assert main.run([*line, *([] if line[0] == "plan" else ["--backend", "cpu"])]) == 0
        printed = capsys.readouterr().out.splitlines()
        assert printed[0] == f"graph       {name}:"
        tables = [text for text in printed if not text.startswith(("backend", "device", "residency", "apart"))]
        assert max(map(len, tables)) <= 80, max(tables, key=len)


def test_names_in_the_output_are_escaped_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("red\x1b[31m.txt").write_text("0 1\n")
    assert main.run(["convert", "red\x1b[31m.txt"]) == 0
    assert main.run(["info", "red\x1b[31m.csrbin"]) == 0
    assert main.run(["bfs", "red\x1b[31m.csrbin", "--source", "0", "--backend", "cpu"]) == 0
    out = capsys.readouterr().out
    assert out.count(r"red\x1b[31m.csrbin: ") == 3 and "\x1b" not in out
    assert "2 vertices, 2 directed edges" in out
