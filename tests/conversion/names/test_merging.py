"""Merging runs of names: the files that it opens at once."""

import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bigbfs.conversion import convert
from bigbfs.conversion.names import gather, merging, named, reading
from bigbfs.graph.graph import Graph


@pytest.mark.parametrize(("hard", "fits"), [(100_000, True), (700, False)])
def test_merging_many_runs_raises_the_limit_of_open_files(hard, fits, monkeypatch):
    """Two files of each run are open at once: more than the usual 1,024 from some hundred runs on."""
    asked = []
    monkeypatch.setattr(merging.resource, "getrlimit", lambda _: (256, hard))
    monkeypatch.setattr(merging.resource, "setrlimit", lambda _, limits: asked.append(limits))
    assert merging.may_hold(1_376) is fits
    if fits:
        assert asked[0][0] >= 1_376 + 64 and asked[0][1] == hard
    else:
        assert asked == []


def test_more_runs_than_files_may_be_open_are_merged(tmp_path, monkeypatch):
    """With ``ulimit -n 256``, soft and hard, a conversion of many names was refused."""
    names = [f"name {i * 7919 % 60_013:05d}" for i in range(30_000)]
    pq.write_table(pa.table({"source": names, "target": names[1:] + names[:1]}), tmp_path / "g.parquet")
    convert([tmp_path / "g.parquet"], tmp_path / "whole.csrbin")
    monkeypatch.setattr(reading, "room_for", lambda memory: 1 << 19)
    monkeypatch.setattr(gather, "PIECE_BYTES", 4_000)
    monkeypatch.setattr(gather, "PIECE_ROWS", 100)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    merge, runs = merging.merge_on_disk, []

    def with_few_files(given, *arguments):
        """Leave files for a third of the runs; only the soft limit can be put back, so it stands for the hard one."""
        runs.extend(given)
        here = len(list(Path("/dev/fd").iterdir()))
        resource.setrlimit(resource.RLIMIT_NOFILE, (here + len(given) // 3 + 3, hard))
        monkeypatch.setattr(merging, "may_hold", lambda count: False)
        try:
            merge(given, *arguments)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    monkeypatch.setattr(named, "merge_on_disk", with_few_files)
    convert([tmp_path / "g.parquet"], tmp_path / "merged.csrbin")
    assert len(runs) >= 6
    with Graph.open(tmp_path / "whole.csrbin") as one, Graph.open(tmp_path / "merged.csrbin") as other:
        assert all(np.array_equal(one.names.arrays()[name], array) for name, array in other.names.arrays().items())
        for name, array in other.adjacency.arrays().items():
            assert np.array_equal(one.adjacency.arrays()[name], array)
