"""Build the documentation site to build/site, and check what was built; any finding fails.

Zensical builds it from docs/ and zensical.toml, and refuses links between pages that lead nowhere. It does not look at
what is made while it builds (docstrings, commands) and lets errors of mkdocstrings pass. So every link, anchor and
picture of the built pages is looked at here, and every public name and command must have its place in the reference.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import bigbfs
from bigbfs.cli.main import cli
from bigbfs.cli.manual import entries

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = Path("build") / "site"
"""Where zensical.toml puts the pages, beside the sources."""
TROUBLE = ("ERROR", "WARNING", "Traceback")
"""Words by which what runs within Zensical complains without stopping it."""


class Page(HTMLParser):
    """The anchors of a page, and what it asks for."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors = {""}
        self.asked: list[tuple[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids, links and sources."""
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.asked.append((tag, value))


def build(folder: Path) -> None:
    """Build the site of ``folder``, which has docs/ and zensical.toml; SystemExit with what is wrong."""
    shutil.rmtree(folder / OUTPUT, ignore_errors=True)
    paths = [str(ROOT), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode or any(word in done.stdout for word in TROUBLE):
        raise SystemExit(f"{done.stdout}\nzensical build: not built")


def lost(site: Path) -> Iterator[str]:
    """Yield what the pages of ``site`` ask for and is not there."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for tag, target in page.asked:
            parts = urlsplit(target)
            where = f"{path.relative_to(site)}: <{tag}> {target}"
            if parts.scheme or parts.netloc:
                if tag != "a":
                    yield f"{where}: is fetched from elsewhere"
                continue
            if path.name == "404.html":  # made for the root of a server
                continue
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = found / "index.html" if found.is_dir() else found
            if not found.is_file():
                yield f"{where}: no such file"
            elif found in pages and unquote(parts.fragment) not in pages[found].anchors:
                yield f"{where}: no such anchor"


def unnamed(site: Path) -> Iterator[str]:
    """Yield public names and commands that have no place in the reference."""
    python = Page(site / "reference" / "python.html").anchors
    for name in bigbfs.__all__:
        if name != "__version__" and not any(anchor.split(".")[-1] == name for anchor in python):
            yield f"reference/python.html: bigbfs.{name} is missing"
    commands = Page(site / "reference" / "commands.html").anchors
    for entry in entries(cli, "bigbfs"):
        if entry.depth and entry.path.replace(" ", "-") not in commands:
            yield f"reference/commands.html: {entry.path} is missing"


def main() -> int:
    """Build and check; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT, help="what has docs/ and zensical.toml (default: here)")
    folder = parser.parse_args().folder.resolve()
    start = time.monotonic()
    build(folder)
    site = folder / OUTPUT
    findings = [*lost(site), *unnamed(site)]
    print("\n".join(findings), end="\n" if findings else "")
    count = len(list(site.rglob("*.html")))
    print(f"{site}: {count} pages, {len(findings)} findings, {time.monotonic() - start:.1f} s")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
