"""``path --verify``. `small` is the path 10-20-30, and 40-50."""

from __future__ import annotations

import json


def test_paths_are_verified(run, small, monkeypatch):
    assert ", verified" in run("path", 10, 30, "--verify")[1]
    assert ", verified" in run("path", 10, 50, "--verify")[1]
    assert json.loads(run("path", 10, 30, "--verify", "--json")[1])["verified"] is True
    assert json.loads(run("path", 10, 30, "--json")[1])["verified"] is None
    monkeypatch.setattr("bigbfs.measures.paths.ShortestPath.distance", 7)
    code, _, err = run("path", 10, 30, "--verify")
    assert code == 3 and "the path from 10 to 30 has 7 edges, and the search from there says 2" in err
