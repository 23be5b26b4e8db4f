"""Many searches that ended before all was known: what they say of that."""

import json


def test_who_is_stopped_says_so_and_names_nobody_whose_place_is_open(run, tmp_path, monkeypatch):
    """A grid whose first corner is searched from: it is the farthest, and known to be, while the centre is not."""
    monkeypatch.chdir(tmp_path)
    assert run("generate", "grid2d", "--scale", 10, "-o", "g.csrbin")[0] == 0
    code, out, err = run("eccentricity", "g.csrbin", "--seconds", 0)
    assert code == 0, err
    assert "centre      not known yet" in out and "known       1 of 1,024" in out
    found = json.loads(run("eccentricity", "g.csrbin", "--seconds", 0, "--json")[1])
    assert found["centre"] == [] and not found["exact"]
    code, out, err = run("closeness", "g.csrbin", "--seconds", 0)
    assert code == 0, err
    assert ("stopped" in out) == ("sample" in out)
    code, out, err = run("closeness", "g.csrbin", "--sources", "random:5")
    assert code == 0 and "sample" in out and "stopped" not in out, err
