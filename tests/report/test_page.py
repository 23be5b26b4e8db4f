"""The report: one file, no network, every chart with its data; and the same in a real browser."""

import json
import re
from html.parser import HTMLParser

import bench_records as records
import pytest

from bigbfs.errors import UsageError
from bigbfs.report import page, pictures
from bigbfs.report.level_charts import thinned, way_values
from bigbfs.report.rows import Levels

pytest.importorskip("jinja2", reason="the extra `report` is not installed")
pytest.importorskip("altair", reason="the extra `report` is not installed")
pytest.importorskip("vl_convert", reason="the extra `report` is not installed")


class Links(HTMLParser):
    """What the elements of a page ask for; scripts are not looked into, the browser does that."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The report of a made-up record, on disk."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    size = page.write_page(records.record(), path)
    assert size == path.stat().st_size
    return path


def test_one_file_below_two_megabytes_that_asks_for_nothing(written):
    text = written.read_text()
    assert len(text.encode()) < page.MOST_BYTES
    parser = Links()
    parser.feed(text)
    assert parser.found == ["data:,"]
    assert not re.search(r"@import|url\(", text[: text.index("</style>")])


def test_every_chart_is_there_with_its_specification(written):
    specs = re.findall(
        r'<script type="application/json" id="spec-(\w+)">(.*?)</script>', written.read_text(), re.DOTALL
    )
    assert [name for name, _ in specs] == ["heat", "rates", "roofline", "frontier", "checked", "time", "ends"]
    for _, spec in specs:
        assert json.loads(spec)["width"] == "container"


def test_names_from_outside_are_escaped(tmp_path):
    bad = "</script><script>alert(1)</script>"
    records.GRAPHS[bad] = records.GRAPHS["as-caida2007"]
    try:
        text = page.render(records.record(graphs=(bad,), strategies=("auto",)))
    finally:
        del records.GRAPHS[bad]
    assert "<script>alert" not in text


def test_a_report_too_large_gets_fewer_points(tmp_path, monkeypatch):
    made = records.record(graphs=("grid3d 300^3",), strategies=("auto", "queue"))
    full = len(page.render(made).encode())
    monkeypatch.setattr(page, "MOST_BYTES", full - 1)
    assert page.write_page(made, tmp_path / "a.html") < full


def test_levels_are_thinned_to_means():
    levels = Levels("tttbb", (1, 3, 10, 20, 2), (), (), (0.001, None, 0.003, 0.005, None))
    assert thinned(levels, 3) == [
        {"level": 0, "direction": "down", "frontier": 2.0, "ms": 1.0},
        {"level": 2, "direction": "down", "frontier": 15.0, "ms": 4.0},
        {"level": 4, "direction": "up", "frontier": 2.0},
    ]


def test_what_one_direction_reads_is_drawn_once_for_each_graph():
    made = records.record(graphs=("as-caida2007",), strategies=("auto", "queue"))
    assert way_values(made) == []
    levels = Levels("tb", (1, 2), (3, 4), (), (None, None), (3, 40), (50, 4))
    made.add(records.row("as-caida2007", "topdown", levels=levels))
    made.add(records.row("as-caida2007", "scan", levels=levels))
    found = [(value["contender"], value["level"], value["checked"]) for value in way_values(made)]
    down, up = "every level top-down", "every level bottom-up"
    assert found == [(down, 0, 3.0), (down, 1, 40.0), (up, 0, 50.0), (up, 1, 4.0)]


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"jinja2 and altair and vl_convert: pip install 'bigbfs\[report\]'"):
        page.require_extra()
    monkeypatch.setattr(pictures, "find_spec", lambda name: None if name == "altair" else object())
    with pytest.raises(UsageError, match=r"pictures need altair: pip install 'bigbfs\[plot\]'"):
        pictures.require_extra()


@pytest.fixture
def opened(browser, written):
    """The report in the browser, drawn; what the console says and what it asks the network for is kept."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    tab = context.new_page()
    tab.set_default_timeout(120_000)
    said, asked = [], []
    tab.on("console", lambda message: said.append((message.type, message.text)))
    tab.on("pageerror", lambda error: said.append(("error", str(error))))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(written.as_uri())
    assert tab.evaluate("ready") == 7
    yield tab, said, asked
    context.close()


def column(tab, name):
    """The texts of a column of the table of all numbers."""
    at = page.COLUMNS.index(name) + 1
    return tab.eval_on_selector_all(f"#table tbody td:nth-child({at})", "cells => cells.map(cell => cell.textContent)")


def numbers(texts):
    return [float(text.replace(",", "")) for text in texts if text != "-"]


def test_the_browser_has_nothing_to_complain_of_and_every_plot_has_its_data(opened):
    tab, said, asked = opened
    strategies, graphs = len(records.STRATEGIES), len(records.GRAPHS)
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    contenders = strategies + 2
    assert tab.locator("#heat .mark-text.role-mark text").count() == contenders * graphs
    assert tab.locator("#heat .mark-rect.role-mark path").count() >= contenders * graphs
    assert tab.locator("#rates .mark-symbol.role-mark path").count() == contenders * graphs
    assert tab.locator("#roofline .mark-symbol.role-mark path").count() == contenders * graphs
    for name in ("frontier", "checked", "time"):
        assert tab.locator(f"#{name} .mark-line.role-mark path").count() == strategies
        heights = tab.eval_on_selector_all(
            f"#{name} .mark-line.role-mark path", "all => all.map(x => x.getBBox().height)"
        )
        assert min(heights) > 20
    assert tab.locator("#ends .mark-rect.role-mark path").count() >= 6 * strategies


@pytest.mark.wide
def test_another_graph_is_drawn_when_it_is_picked(opened):
    tab, said, _ = opened
    line = "document.querySelector('#frontier .mark-line.role-mark path').getAttribute('d')"
    before = tab.evaluate(line)
    tab.select_option("#graph", "grid2d 5000 x 5000")
    tab.wait_for_function(f"before => {line} !== before", arg=before)
    assert said == []


@pytest.mark.wide
def test_the_table_sorts_both_ways_with_the_unknown_last(opened):
    tab, _, _ = opened
    head = tab.get_by_role("button", name="traversal ms")
    head.click()
    up = numbers(column(tab, "traversal ms"))
    assert up == sorted(up)
    assert len(set(up)) > 20
    head.click()
    down = numbers(column(tab, "traversal ms"))
    assert down == sorted(up, reverse=True)
    tab.get_by_role("button", name="strategy").click()
    names = column(tab, "strategy")
    assert names == sorted(names, key=str.lower)
    tab.get_by_role("button", name="launches").click()
    assert column(tab, "launches")[-1] == "-"
    assert "-" not in column(tab, "launches")[: len(records.STRATEGIES)]


def test_a_phone_scrolls_in_one_direction_alone_and_dark_is_dark(opened):
    tab, _, _ = opened
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    red, green, blue = map(int, re.findall(r"\d+", tab.evaluate("getComputedStyle(document.body).backgroundColor"))[:3])
    assert max(red, green, blue) < 64


TEXTS = """root => [...root.querySelectorAll('text:not([opacity="0"])')].filter(each => each.textContent).map(each => {
  const {left, right, top, bottom} = each.getBoundingClientRect();
  return [left, right, top, bottom, each.textContent];
})"""


@pytest.mark.parametrize("width", [390, pytest.param(1160, marks=pytest.mark.wide)])
def test_no_text_of_a_chart_is_cut_or_lies_over_another(browser, written, width):
    """Letters that lean are left out: the box of a name above the table of strategies says nothing."""
    with browser.new_context(viewport={"width": width, "height": 844}) as context:
        tab = context.new_page()
        tab.goto(written.as_uri())
        tab.evaluate("ready")
        for name in ("rates", "roofline", "frontier", "checked", "time", "ends"):
            drawn = tab.locator(f"#{name} svg")
            box = drawn.bounding_box()
            texts = drawn.evaluate(TEXTS)
            assert len(texts) > 10
            for left, right, top, bottom, text in texts:
                assert left >= box["x"] - 1 and right <= box["x"] + box["width"] + 1, (name, text)
                for other in texts:
                    apart = right <= other[0] or left >= other[1] or bottom - 3 <= other[2] or top + 3 >= other[3]
                    assert other[4] == text or apart, (name, text, other[4])


def test_points_are_packed_by_series_and_numbers_have_six_digits():
    points = [
        {"graph": "g", "contender": "a", "level": 0, "direction": "down", "frontier": 1.0, "ms": 0.123456789},
        {"graph": "g", "contender": "a", "level": 4, "direction": "up", "checked": 12345678.0},
        {"graph": "g", "contender": "b", "level": 0, "direction": "up"},
    ]
    assert page._series(points) == {
        "graphs": ["g"],
        "contenders": ["a", "b"],
        "series": [[0, 0, 2, 4, "du"], [0, 1, 1, 1, "u"]],
        "frontier": [1, None, None],
        "checked": [None, 12345700, None],
        "ms": [0.123457, None, None],
    }
    assert page.shortened({"a": [1.0, (2.5, "2.50")]}) == {"a": [1, [2.5, "2.50"]]}
