"""``bigbfs man``: the page has every command and option, groff and mandoc take it, nothing of the help is lost."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from bigbfs.cli import main, man
from bigbfs.cli.bench import BENCHES
from bigbfs.cli.manual import EXIT_CODES, Paragraph, entries, paragraphs
from bigbfs.generate.catalogue import KINDS

ROOT = Path(__file__).resolve().parents[2]
WIDE = "-rLL=4000n"  # lines so long that nothing is broken


@pytest.fixture(scope="module")
def page():
    return man.page(main.cli)


def groff(page, *options):
    """Return what groff prints of ``page``, and what it complains of."""
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-Tutf8", "-P-cbou", "-ww", *options]
    done = subprocess.run(command, input=page, capture_output=True, text=True, encoding="utf-8")
    return done.stdout, done.stderr


def test_the_command_prints_it(page, capsys):
    assert main.run(["man"]) == 0
    assert capsys.readouterr().out == page


def test_every_command_has_its_section(page):
    named = re.findall(r"^\.SS (.*)$", page, re.MULTILINE)
    wanted = [f"bigbfs {name}" for name in main.COMMANDS]
    wanted += [f"bigbfs generate {name}" for name in KINDS] + [f"bigbfs bench {name}" for name in BENCHES]
    assert sorted(named) == sorted(wanted)


def test_every_option_is_there_with_its_help(page):
    text, _ = groff(page, WIDE)
    text = " ".join(text.split())
    count = 0
    for entry in entries(main.cli, "bigbfs"):
        for names, help_text in entry.options:
            count += 1
            assert f"{names} {' '.join(help_text.replace('`', '').split())}" in text, f"{entry.path} {names}"
    assert count > 200


def test_groff_and_mandoc_have_nothing_to_say(page):
    text, complaints = groff(page)
    assert complaints == ""
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "EXAMPLES"):
        assert re.search(rf"^{heading}$", text, re.MULTILINE)
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "error"], input=page, capture_output=True, text=True)
        assert lint.returncode == 0, lint.stdout


def test_man_shows_it(page, tmp_path):
    if not shutil.which("man"):
        pytest.skip("man is not installed")
    path = tmp_path / "bigbfs.1"
    path.write_text(page, encoding="utf-8")
    done = subprocess.run(["man", "-l", str(path)], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    if "minimized" in done.stdout:
        pytest.skip("man of a minimized system shows nothing")
    assert done.returncode == 0, done.stderr
    assert "bigbfs toposort" in re.sub(".\b", "", done.stdout)


def test_what_groff_would_take_for_a_request_is_printed():
    @click.command(help="Reads\n.csrbin and 'a-b', \\fB and é.\n\n\b\n.el  as it\n  stands")
    @click.option("--sign", help=".TH of `it`")
    def program(sign):
        pass

    text, complaints = groff(man.page(program), WIDE)
    text = " ".join(text.split())
    assert complaints == ""
    assert "Reads .csrbin and 'a-b', \\fB and é." in text
    assert ".el as it stands" in text
    assert "--sign TEXT .TH of it" in text


def test_paragraphs_are_those_of_click():
    text = "One\n  line.\n\n\b\nas\n  it stands\n\nLast.\fnot shown"
    assert paragraphs(text) == (Paragraph("One line."), Paragraph("as\n  it stands", verbatim=True), Paragraph("Last."))
    assert paragraphs(None) == ()


def test_a_hidden_command_is_not_in_it():
    group = click.Group("g", commands=[click.Command("seen", help="Seen."), click.Command("kept", hidden=True)])
    assert [entry.path for entry in entries(group, "g")] == ["g", "g seen"]


def test_the_readme_has_the_same_exit_codes():
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Exit codes")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([\d, ]+) \| (.*) \|$", text, re.MULTILINE)
    assert dict(rows) == EXIT_CODES


def test_the_help_of_the_program_has_examples_that_are_commands(capsys):
    assert main.run(["--help"]) == 0
    text = capsys.readouterr().out
    lines = re.findall(r"^ +(bigbfs .*?)(?:  .*)?$", text.partition("Examples:")[2], re.MULTILINE)
    assert len(lines) >= 5
    for line in lines:
        _, name, *words = line.split()
        command = main.cli.get_command(click.Context(main.cli), name)
        command.make_context(name, words, resilient_parsing=False)  # a UsageError where an option is not there
