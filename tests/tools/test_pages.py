"""What the pages tell their reader to run: it runs, it prints what they say, and every option that they name exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import run_pages

from bigbfs.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
HOWTO = sorted((ROOT / "docs" / "howto").glob("*.md"))
RUN = ["README.md", "docs/tutorial.md", "docs/networkx.md", *(f"docs/howto/{page.name}" for page in HOWTO)]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
REAL = re.compile(r"^    \$ bigbfs convert luxembourg.*?^$", re.MULTILINE | re.DOTALL)
"""Commands on a real graph, which a fresh clone does not have."""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty folder, tables as wide as in the pages, no GPU, and settings of NetworkX that are put back."""
    pytest.importorskip("pyarrow", reason="pages use the extra tables")
    nx = pytest.importorskip("networkx", reason="pages use the extra networkx")
    pytest.importorskip("scipy", reason="pages use SciPy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    before = nx.config.backend_priority
    yield tmp_path
    nx.config.backend_priority = before


@pytest.mark.parametrize("name", RUN)
def test_a_page_runs_and_prints_what_it_says(name, elsewhere):
    text = REAL.sub("", (ROOT / name).read_text(encoding="utf-8"))
    wrong = {}
    for step, printed in run_pages.run(text, elsewhere, run_pages.in_this_process):
        found = run_pages.differences(step.shown, printed) if step.shown is not None else []
        if found:
            wrong[step.what] = found
    assert wrong == {}


def swallowed(text):
    """Return the indented lines that follow a list: they are text of its last item there, and no block of code."""
    found, inside, before = [], False, ""
    for line in re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).splitlines():
        if re.match(r"([-*]|\d+\.) ", line):
            inside = True
        elif line.startswith("#") or (line and not line.startswith(" ") and not before):
            inside = False
        elif inside and re.match(r"    \S", line) and not before:
            found.append(line)
        before = line.strip()
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_list_swallows_a_block_of_code(page):
    assert swallowed(page.read_text(encoding="utf-8")) == []


def test_the_check_of_lists_finds_one_that_swallows():
    assert swallowed("- one\n  more\n\n    code\n\nText.\n\n    code\n") == ["    code"]
    assert swallowed("1. one\n\nThen:\n\n    code\n") == swallowed("- one\n# Head\n\n    code\n") == []


def test_every_page_with_something_to_run_is_run():
    names = [str(page.relative_to(ROOT)) for page in PAGES if run_pages.steps(page.read_text(encoding="utf-8"))]
    assert set(names) <= set(RUN)


def lines_of(text):
    """Yield the command lines of bigbfs in a page: in blocks of code, and between backticks."""
    text = text.replace("\\\n", " ")
    blocks = re.findall(r"^(?:    |\$ )+(bigbfs .*)$", text, re.MULTILINE)
    inline = re.findall(r"`(bigbfs [^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [line.replace("\\|", "|").split(" | ")[0].split(" > ")[0] for line in (*blocks, *inline)]


def unknown_options(line):
    """Return the long options of a command line that its command does not have."""
    words = shlex.split(line, comments=True)[1:]
    command, context = cli, click.Context(cli)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        if words[0].isupper():  # a word that stands for many
            return []
        command = command.get_command(context, words.pop(0).split("|")[0])
        if command is None:
            return ["no such command"]
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    known |= {"--help", "--version"}
    return [word for word in words if word.startswith("--") and word.split("=")[0].split("|")[0] not in known]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_in_a_page_exists(page):
    wrong = {}
    for line in lines_of(page.read_text(encoding="utf-8")):
        if line.startswith(("bigbfs COMMAND", "bigbfs ...")):
            continue
        found = unknown_options(line.replace("...", ""))
        if found:
            wrong[line] = found
    assert wrong == {}


def test_the_check_of_options_finds_one_that_is_not_there():
    assert unknown_options("bigbfs bfs g.csrbin --sorce 1 --json") == ["--sorce"]
    assert unknown_options("bigbfs bench cc --nothing") == ["--nothing"]
    assert unknown_options("bigbfs bsf --json") == ["no such command"]


PAGE = """
```csv title="a.csv"
source,target
1,2
```

```console
$ cat a.csv | head -1
source,target
$ cat a.csv | tail -1
1,2
```

    $ cat a.csv
    source,target
    1,3

```python
print(2 + 2)
```

```text title="it prints"
4
```
"""


def test_steps_and_what_they_print(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = list(run_pages.run(PAGE, tmp_path, run_pages.in_this_process))
    assert [(step.kind, step.shown) for step, _ in ran] == [
        ("file", None),
        ("command", ["source,target"]),
        ("command", ["1,2"]),
        ("command", ["source,target", "1,3"]),
        ("python", ["4"]),
    ]
    assert [bool(step.shown and run_pages.differences(step.shown, printed)) for step, printed in ran] == [
        *(False, False, False),
        True,
        False,
    ]
    assert run_pages.rewritten(PAGE, tmp_path) == PAGE.replace("1,3", "1,2")


def test_what_varies_is_not_compared_and_all_else_is():
    shown = [
        "backend     cpu: A,",
        "            edges in host",
        "7  0.25 ms  12 KiB  3.5,",
        "time        1 s",
    ]
    other = ["backend     cpu: B, edges in host", "7  123 s  1.5 MiB  700,", "time        2 min"]
    assert run_pages.differences(shown, other) == []
    assert run_pages.differences(["7 vertices"], ["8 vertices"]) == ["7 in the page, 8 printed"]
    assert run_pages.differences(["7"], ["7", "8"]) == ["the page has 1 words, and 2 were printed"]
