"""tools/make_dist.py: every extra has its trial, every trial is a command there is; the page goes where man looks."""

from __future__ import annotations

import shlex
import sys
import tomllib
from pathlib import Path

import click
import make_dist
import pytest

from bigbfs.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]


def test_every_extra_has_a_trial():
    there = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert sorted(there) == sorted([*make_dist.EXTRAS, *make_dist.OURS])


def test_every_trial_is_a_command_with_options_that_exist():
    lines = [*make_dist.GRAPH, *make_dist.TRIAL, *make_dist.STARTS, *sum(make_dist.EXTRAS.values(), ())]
    for line in lines:
        program, *words = shlex.split(line)
        if program == "python":
            compile(words[1], line, "exec")
        elif not words[0].startswith("--"):
            command, context = cli, click.Context(cli, info_name="bigbfs")
            while isinstance(command, click.Group):
                command = command.get_command(context, words.pop(0))
            command.make_context(line, words, parent=context)


@pytest.mark.parametrize(
    ("target", "version", "wanted"),
    [
        ("wheel", "standard", {"force_include": {}, "shared_data": {"PAGE": "share/man/man1/bigbfs.1"}}),
        ("sdist", "standard", {"force_include": {"PAGE": "man/bigbfs.1"}, "shared_data": {}}),
        ("wheel", "editable", {"force_include": {}, "shared_data": {}}),
    ],
)
def test_the_page_goes_where_man_looks(tmp_path, monkeypatch, target, version, wanted):
    pytest.importorskip("hatchling", reason="hatchling is not installed; building brings it")
    monkeypatch.syspath_prepend(ROOT)
    import hatch_build

    monkeypatch.delitem(sys.modules, "hatch_build")
    hook = hatch_build.ManualPage(str(tmp_path), {}, None, None, "", target)
    nothing = {"force_include": {}, "shared_data": {}}
    found = {name: dict(value) for name, value in nothing.items()}
    hook.initialize(version, found)
    assert found == nothing  # no page, nothing to ship
    page = tmp_path / "man" / "bigbfs.1"
    page.parent.mkdir()
    page.write_text("x")
    hook.initialize(version, found)
    assert found == {
        name: {str(page) if key == "PAGE" else key: where for key, where in value.items()}
        for name, value in wanted.items()
    }
