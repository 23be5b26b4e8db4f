"""Levels of a search are written as JSON in pieces; the text is that of an object for each."""

import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from bigbfs.algorithms.bfs.level_records import LevelRecords, table_of
from bigbfs.record import LevelRecord
from bigbfs.report import jsonout, level_text


def plain(value):
    """The same without columns: what JSON's own encoder takes."""
    if isinstance(value, LevelRecords):
        records = [asdict(each) for each in value]
        return [each | {"seconds": None if math.isnan(each["seconds"]) else each["seconds"]} for each in records]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def mixed(count):
    """Levels of which now this and now that is known."""
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(-1, 2, count) * 2**40 for name in ("edges", "checked", "enqueued")}
    columns = {name: np.where(values < 0, -1, values) for name, values in columns.items()}
    seconds = np.where(rng.random(count) < 0.5, np.nan, rng.random(count) * 10.0 ** rng.integers(-9, 3, count))
    direction, on_cpu = rng.random(count) < 0.5, rng.random(count) < 0.1
    columns |= {"frontier": rng.integers(1, 2**40, count), "seconds": seconds}
    return table_of(count, direction=direction, on_cpu=on_cpu, **columns)


@pytest.mark.parametrize("piece", [1, 7, 1 << 14])
@pytest.mark.parametrize("table", [mixed(0), mixed(50), table_of(50, frontier=3, edges=np.arange(50))])
def test_the_text_is_that_of_objects(table, piece, monkeypatch):
    monkeypatch.setattr(level_text, "PIECE", piece)
    found = {
        "runs": [{"levels": LevelRecords([table]), "name": 'a "b" %d'}, {"levels": LevelRecords(()), "path": [1, 2]}],
        "none": None, "list": [], "object": {}, "deep": [[{"a": 1}], "x"], "pair": (1, {"b": 2.5}),
    }  # fmt: skip
    assert jsonout.dumps(found) == json.dumps(plain(found))


def test_a_long_text_comes_in_pieces_and_a_short_one_in_one():
    few = {"levels": LevelRecords([table_of(20, frontier=1)])}
    assert len(list(jsonout.pieces(few))) == 1
    many = {"levels": LevelRecords([table_of(40_000, frontier=1)])}
    parts = list(jsonout.pieces(many))
    assert 3 <= len(parts) <= 5 and len(json.loads("".join(parts))["levels"]) == 40_000


def test_what_json_has_not_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        jsonout.dumps({"a": {"b": math.inf}})


def test_a_record_made_by_hand_is_written_too():
    levels = LevelRecords.of([LevelRecord(0, "top-down", 1, 0.25)])
    assert json.loads(jsonout.dumps({"levels": levels}))["levels"][0]["seconds"] == 0.25
