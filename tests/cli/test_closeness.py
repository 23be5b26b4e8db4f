"""``closeness`` of a sample: who is listed, and what is said of the rest. `small` is the path 10-20-30, and 40-50."""

from __future__ import annotations

import json


def test_a_sample_says_who_is_not_listed(run, small):
    code, out, err = run("closeness", "--sources", "random:1", "-o", "c.csv")
    assert code == 0, err
    found = json.loads(run("closeness", "--sources", "random:1", "--json")[1])
    assert found["unknown"] == 5 - len(found["top"]) > 0
    assert f"unknown     {found['unknown']} vert" in out and "that fewer than 1 source reach" in out
    assert (small / "c.csv").read_text().count("nan") == found["unknown"]
    ids = {row["id"] for row in found["top"]}
    assert {40, 50} <= ids and all(row["error"] == 0 for row in found["top"] if row["id"] in (40, 50))
    assert "no mean distance of those listed is off by more than" in " ".join(out.split())
