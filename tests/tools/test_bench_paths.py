"""The bench of paths prints a line for each turn, and what was read."""

from __future__ import annotations

import bench_paths
import zoo


def test_table(tmp_path, capsys):
    zoo.build(50, zoo.path(40)).save(tmp_path / "g.csrbin")
    bench_paths.main([str(tmp_path / "g.csrbin"), "--pairs", "5"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["median", "90", "%", "largest", "mean"]
    largest = float(lines[-1].split()[-2])
    assert lines[-1].startswith("ids read") and 0 < largest <= 2 * 39
