"""The documents: every link and every path leads somewhere, nothing was left to fill in."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def named(page):
    return str(page.relative_to(ROOT))


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links {target}"


def anchors(page):
    """Return the anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_to_headings(page):
    for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            there = anchors(page.parent / target if target else page)
            # headings of the reference of Python and of the commands are made with the site
            assert anchor in there or "reference/" in target, f"{page.name} links {target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_nothing_is_left_to_fill_in(page):
    assert not re.search(r"@[A-Z]+@|TBD|FIXME", page.read_text(encoding="utf-8"))


ROOMS = "bigbfs|tests|tools|configs|docs|engines|kernels|algorithms|formats|conversion|graph|generate|jit|report|cli"
TOPS = ("bigbfs", "tests", "tools", "configs")
MADE_LATER = re.compile(r"NAME|TARGET|WAIVED|\*")
OTHERS = ("bfs_32.cu", "cc_32.cu", "mbfs.cu")  # of the programs in docs/peers.md
OF_THEIR_DAY = [ROOT / "CHANGELOG.md", ROOT / "docs" / "lab-notebook.md", *(ROOT / "docs" / "notebook").glob("*.md")]


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OF_THEIR_DAY], ids=named)
def test_paths_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    paths = re.findall(rf"(?<![\w/.-])((?:{ROOMS})/[\w./*-]*\w)", text)
    homes = (ROOT, ROOT / "bigbfs", page.parent)
    lost = [path for path in paths if not MADE_LATER.search(path) and not any((home / path).exists() for home in homes)]
    names = re.findall(r"`([\w.]+\.(?:py|cu|cuh|hpp|cpp|toml))`", text)
    known = {path.name for top in TOPS for path in (ROOT / top).rglob("*.*")} | {path.name for path in ROOT.iterdir()}
    lost += [name for name in names if name not in OTHERS and name not in known]
    assert lost == [], f"{page.name} names {lost}"
