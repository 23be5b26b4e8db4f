"""The pictures: up to date, whole, readable on light and dark pages, and true to the data that they are drawn from."""

import contextlib
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import check_imports
import draw
import pytest
from drawings import canvas, fit, rooms, times

from bigbfs.cli import main

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=sorted(draw.PICTURES), name="name")
def picture_name(request):
    return request.param


def test_the_file_is_what_the_script_draws(name):
    assert (draw.FOLDER / name).read_text(encoding="utf-8") == draw.PICTURES[name]().svg(), "run python tools/draw.py"


def test_no_other_picture_lies_there():
    assert sorted(path.name for path in draw.FOLDER.iterdir()) == sorted([*draw.PICTURES, "report.png"])  # a screenshot


def test_it_is_well_formed_and_says_in_words_what_it_shows(name):
    root = ElementTree.parse(draw.FOLDER / name).getroot()
    assert root.tag == f"{SVG}svg"
    assert len(root.find(f"{SVG}title").text) > 10
    assert len(root.find(f"{SVG}desc").text) > 60


def test_it_has_colours_for_dark_pages(name):
    text = (draw.FOLDER / name).read_text(encoding="utf-8")
    light, dark = re.findall(r"svg \{ (--page.*?) \}", text)
    assert "@media (prefers-color-scheme: dark)" in text
    named = set(re.findall(r"var\((--[a-z-]+)\)", text))
    for colours in (light, dark):
        assert named <= set(re.findall(r"(--[a-z-]+):", colours))
    assert not re.search(r'(fill|stroke)="#', text), "a colour that does not change with the page"


def test_no_text_lies_over_another_or_on_a_line(name):
    assert draw.PICTURES[name]().overlaps() == []


def test_text_that_does_not_fit_is_refused():
    picture = canvas.Canvas(100, 50, "a title", "what it shows")
    with pytest.raises(ValueError, match="leaves the picture"):
        picture.text(60, 20, "far too long", 13)
    with pytest.raises(ValueError, match=r"takes .* of 20 pixels"):
        picture.text(5, 20, "wide", 13, room=20)
    picture.text(5, 20, "one", 13)
    picture.text(8, 22, "two", 13)
    picture.line([(0, 40), (90, 18)])
    assert ("one", "two") in picture.overlaps()
    assert len(picture.overlaps()) == 3


def test_a_stale_picture_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(draw, "FOLDER", tmp_path / "images")
    assert draw.main(["--check"]) == 1
    assert "docs/images/edge.svg" in capsys.readouterr().out
    assert draw.main([]) == 0
    assert draw.main(["--check"]) == 0


def test_the_times_are_those_of_one_run():
    rows = times.rows_of_run()
    assert {row["commit"] for row in rows} == {times.RUN["commit"]}
    assert {row["place"] for row in rows} == set(times.PLACES)
    assert all(row["verified"] and row["trials"] for row in rows)
    drawn = (draw.FOLDER / "bfs-times.svg").read_text(encoding="utf-8")
    for row in rows:
        assert f">{1e3 * row['seconds']:.3g}</text>" in drawn
    stored = [json.loads(line) for line in times.ROWS.read_text().splitlines()]
    assert all(row in stored for row in rows)


def test_the_rooms_are_those_that_the_import_check_knows():
    known = {room for floor in check_imports.ROOMS for room in floor}
    height = {room: i for i, floor in enumerate(check_imports.ROOMS) for room in floor}
    drawn = [[room for room, _, _ in floor] for floor in reversed(rooms.FLOORS)]
    assert {room for floor in drawn for room in floor} <= known
    for lower, upper in pairwise(drawn):
        assert max(height[room] for room in lower) < min(height[room] for room in upper)


def device_bytes(folder, vertices):
    """Return the GPU memory that a plan for BFS asks for, edges aside, by the command that the page names."""
    graph = folder / f"g{vertices}.csrbin"
    assert (
        main.run(["generate", "uniform", "--vertices", str(vertices), "--edges", str(4 * vertices), "-o", str(graph)])
        == 0
    )
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        line = ["plan", str(graph), "--profile", "h200", "--algorithm", "bfs", "--residency", "vram", "--json"]
        assert main.run(line) == 0
    buffers = json.loads(printed.getvalue())["buffers"]
    return sum(buffer["bytes"] for buffer in buffers if buffer["where"] == "vram" and buffer["name"] != "indices")


def test_a_vertex_takes_the_bytes_that_the_picture_says(tmp_path, capsys):
    few, many = device_bytes(tmp_path, 100_000), device_bytes(tmp_path, 200_000)
    assert round((many - few) / 100_000) == fit.STATE_BYTES + fit.HEAD_BYTES
