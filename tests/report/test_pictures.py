"""Pictures of runs and graphs: files that can be looked at, and refusals before any work."""

import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from bigbfs.algorithms.bfs.level_records import LevelRecords, table_of
from bigbfs.algorithms.bfs.result import RunRecord
from bigbfs.errors import FileAccessError, UsageError
from bigbfs.record import LevelRecord
from bigbfs.report import pictures, plot

pytest.importorskip("altair", reason="the extra `plot` is not installed")
pytest.importorskip("vl_convert", reason="the extra `plot` is not installed")

RUN = RunRecord(
    7, 111, 2, 500, 0.01,
    levels=(
        LevelRecord(0, "top-down", 1, 0.001),
        LevelRecord(1, "bottom-up", 10, math.nan),
        LevelRecord(2, "top-down", 100, 0.004, edges=300),
    ),
)  # fmt: skip
ROW = {"graph": "star", "codec": "plain", "backend": "cpu", "residency": "host", "median_gteps": 2.0}


def values(chart):
    """All points of a chart."""
    spec = pictures.specification(chart)
    return (
        [point for name in spec["datasets"].values() for point in name]
        if "datasets" in spec
        else spec["data"]["values"]
    )


@pytest.mark.parametrize(
    "draw", [lambda: plot.levels(RUN, "a run"), lambda: plot.rates([ROW, ROW | {"graph": "grid"}])]
)
def test_svg_is_readable_on_light_and_on_dark(tmp_path, draw):
    pictures.save(draw(), tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    style = root.find("{http://www.w3.org/2000/svg}style")
    assert "prefers-color-scheme:dark" in style.text
    text = (tmp_path / "a.svg").read_text()
    assert "currentColor" in text
    assert not any(each.get("fill") == "white" for each in root.iter() if each.get("class") == "background")


def test_png_is_a_picture(tmp_path):
    pictures.save(plot.levels(RUN, "a run"), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_many_levels_share_points():
    count = 2 * plot.POINTS + 1
    table = table_of(count, direction=np.arange(count) >= 3, frontier=np.arange(count), seconds=0.5)
    table["edges"][4] = 8
    points, together = plot.level_points(table)
    assert together == 3 and len(points) == -(-count // 3)
    nothing = {"edges": None, "checked": None, "ms": 500.0}
    assert points[:2] == [
        {"level": 0, "direction": "top-down", "frontier": 1.0} | nothing,
        {"level": 3, "direction": "bottom-up", "frontier": 4.0} | nothing | {"edges": 8.0},
    ]
    last = np.arange(3 * (count // 3), count)
    assert (points[-1]["level"], points[-1]["frontier"]) == (last[0], last.mean())
    run = replace(RUN, levels=LevelRecords([table]))
    spec = pictures.specification(plot.levels(run, "a run"))
    assert spec["title"] == "a run (a point: the mean of 3 levels)"
    assert spec["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, count - 1]


def test_few_levels_are_drawn_as_they_are():
    points, together = plot.level_points(LevelRecords.of(RUN.levels).table)
    assert together == 1
    assert points == [
        {"level": 0, "direction": "top-down", "frontier": 1, "edges": None, "checked": None, "ms": 1.0},
        {"level": 1, "direction": "bottom-up", "frontier": 10, "edges": None, "checked": None, "ms": None},
        {"level": 2, "direction": "top-down", "frontier": 100, "edges": 300, "checked": None, "ms": 4.0},
    ]


def test_the_levels_of_a_run_are_drawn_where_they_are_known(tmp_path):
    spec = pictures.specification(plot.levels(RUN, "a run"))
    titles = [panel["layer"][0]["encoding"]["y"]["title"] for panel in spec["vconcat"]]
    assert titles == ["vertices expanded", "edges of the frontier", "ms per level"]
    spans = [panel["layer"][0]["encoding"]["x"]["scale"]["domain"] for panel in spec["vconcat"]]
    assert spans == [[0, len(RUN.levels) - 1]] * 3
    with pytest.raises(UsageError, match="no levels"):
        plot.levels(RunRecord(0, 1, 0, 0, 0.1), "nothing")


def test_component_sizes_are_counted():
    chart = plot.component_sizes(np.array([3, 1, 2, 2]), "a graph")
    assert values(chart) == [{"x": 1, "y": 1}, {"x": 2, "y": 2}, {"x": 3, "y": 1}]
    with pytest.raises(UsageError, match="no component"):
        plot.component_sizes(np.empty(0, np.int64), "nothing")


def test_degrees_are_counted_low_ones_one_by_one():
    blocks = [np.array([0, 1, 1, 2], np.int64), np.array([3, 1000], np.int64)]
    points = values(plot.degree_distribution(blocks, "a graph"))
    assert points[:3] == [{"x": 1.0, "y": 2.0}, {"x": 2.0, "y": 1.0}, {"x": 3.0, "y": 1.0}]
    assert 800 < points[3]["x"] < 1300
    assert 0 < points[3]["y"] < 0.1
    with pytest.raises(UsageError, match="no vertex has an edge"):
        plot.degree_distribution([np.zeros(5, np.int64)], "nothing")


def test_every_degree_is_in_a_bin():
    degrees = np.array([1, 7, 40, 10**6, 2**40], np.int64)
    assert len(values(plot.degree_distribution([degrees], "a graph"))) == 5


def test_nothing_to_draw_is_refused():
    with pytest.raises(UsageError, match="nothing to draw"):
        plot.rates([ROW | {"median_gteps": None}])


def test_a_target_is_refused_before_any_work(tmp_path):
    pictures.check_picture(None)
    pictures.check_picture(tmp_path / "a.SVG")
    with pytest.raises(UsageError, match=r"plot=.*a\.jpg\": a picture is \.svg or \.png"):
        pictures.check_picture(tmp_path / "a.jpg")
    with pytest.raises(FileAccessError, match="does not exist"):
        pictures.check_picture(tmp_path / "none" / "a.svg")
