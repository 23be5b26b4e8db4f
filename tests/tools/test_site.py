"""The documentation site: it is built, dead links fail, and a browser shows pages, pictures and the search."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import make_site
import pytest

import bigbfs
from bigbfs.cli.main import cli
from bigbfs.cli.manual import entries

ROOT = Path(__file__).resolve().parents[2]


def make(folder):
    for name in ("zensical", "mkdocstrings"):
        pytest.importorskip(name, reason="the extra `site` is not installed")
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_site.py"), "--folder", str(folder)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
    )


def sources(folder):
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    return folder


@pytest.fixture
def site(tmp_path):
    """The site, built from a copy of the sources."""
    folder = sources(tmp_path)
    done = make(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / make_site.OUTPUT


def test_what_is_lost_is_found(tmp_path):
    (tmp_path / "index.html").write_text(
        '<h1 id="top">a</h1><a href="#top">a</a><a href="glossary.html#row">a</a><a href="https://example.org">a</a>'
        '<a href="nowhere.html">a</a><a href="glossary.html#nothing">b</a><img src="images/no.svg">'
        '<script src="https://example.org/x.js"></script>',
        encoding="utf-8",
    )
    (tmp_path / "glossary.html").write_text('<a name="row">a</a><a href=".">a</a>', encoding="utf-8")
    assert list(make_site.lost(tmp_path)) == [
        "index.html: <a> nowhere.html: no such file",
        "index.html: <a> glossary.html#nothing: no such anchor",
        "index.html: <img> images/no.svg: no such file",
        "index.html: <script> https://example.org/x.js: is fetched from elsewhere",
    ]


def test_names_and_commands_without_a_place_are_found(tmp_path):
    folder = tmp_path / "reference"
    folder.mkdir()
    names = [name for name in bigbfs.__all__ if name != "hops"]
    (folder / "python.html").write_text("".join(f'<h3 id="bigbfs.{name}">a</h3>' for name in names))
    commands = [entry.path.replace(" ", "-") for entry in entries(cli, "bigbfs")]
    commands.remove("bigbfs-bench-cc")
    (folder / "commands.html").write_text("".join(f'<h2 id="{name}">a</h2>' for name in commands))
    assert list(make_site.unnamed(tmp_path)) == [
        "reference/python.html: bigbfs.hops is missing",
        "reference/commands.html: bigbfs bench cc is missing",
    ]


def test_every_page_is_in_the_navigation():
    text = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs")
        if page.name != "notes.md":  # parts of other pages
            assert f'"{name}"' in text, f"nav in zensical.toml leaves out {name}"


@pytest.mark.parametrize(
    "planted",
    [
        {"[gone](nowhere.md)": "page does not exist", "[gone](glossary.md#nothing)": "anchor"},
        {"::: bigbfs.nothing_of_that_name": "nothing_of_that_name"},  # ends the build by itself
    ],
)
@pytest.mark.wide
def test_a_dead_link_fails_the_build(planted, tmp_path):
    folder = sources(tmp_path)
    page = folder / "docs" / "index.md"
    page.write_text("\n\n".join([page.read_text(encoding="utf-8"), *planted]), encoding="utf-8")
    done = make(folder)
    assert done.returncode != 0
    assert all(said in done.stdout + done.stderr for said in planted.values()), done.stdout + done.stderr


@pytest.fixture
def served(site):
    """The address of a server of the site on this machine."""
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.mark.wide  # `make site` builds it too
def test_it_is_built_and_a_browser_has_nothing_to_complain_of(served, browser):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    tab = context.new_page()
    tab.set_default_timeout(120_000)
    said, asked = [], []
    tab.on("console", lambda message: said.append((message.type, message.text)))
    tab.on("pageerror", lambda error: said.append(("error", str(error))))
    tab.on("request", lambda request: asked.append(request.url))
    for name, heading, pictures in (
        ("index.html", "bigbfs", 1),
        ("tutorial.html", "Tutorial", 0),
        ("how-it-works.html", "How it works", 3),
        ("results/studies.html", None, 14),
        ("reference/commands.html", "Command line", 0),
        ("reference/python.html", "Python", 0),
    ):
        tab.goto(f"{served}/{name}", wait_until="load")
        assert heading is None or tab.locator("article h1").inner_text().startswith(heading)
        assert tab.locator("article img").count() >= pictures
        shown = "[...document.querySelectorAll('article img')].every(img => img.loading == 'lazy' || img.naturalWidth)"
        tab.wait_for_function(shown)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, name
    assert tab.locator("#bigbfs\\.bfs").count() == 1
    assert said == []
    assert [url for url in asked if not url.startswith((served, "data:", "blob:"))] == []
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto(f"{served}/index.html")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("afforest")
    tab.wait_for_selector("text=How it works")
    context.close()
