"""A join that was stopped goes on where it was, and never into the file of another graph."""

import pytest
import zoo

import bigbfs
from bigbfs.errors import BigBfsError, UsageError
from bigbfs.formats.shards import under_way
from bigbfs.graph.graph import Graph


class Stop(BaseException):
    """As if the process were killed: nobody catches it."""


def stopped_join(folder, output, monkeypatch, after):
    """Join, and stop when the journal has been written ``after`` times."""
    monkeypatch.setattr(under_way, "NOTE_EVERY", 1)
    whole, calls = under_way.UnderWay.note, []

    def note(self, parts):
        whole(self, parts)
        calls.append(parts)
        if len(calls) == after:
            raise Stop

    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr(under_way.UnderWay, "note", note)
        bigbfs.join(folder, output)


def test_a_join_that_was_stopped_goes_on_where_it_was(tmp_path, graph, monkeypatch):
    bigbfs.split(graph, shards=5)
    folder, output = tmp_path / "g.shards", tmp_path / "back.ccsr"
    under = tmp_path / ".back.ccsr.joining"
    for after in (1, 3, 5):
        stopped_join(folder, output, monkeypatch, after)
        assert under.exists() and not output.exists()
        with pytest.raises(BigBfsError):
            bigbfs.open(under)
        assert bigbfs.join(folder, output).kept == after
        assert output.read_bytes() == graph.read_bytes() and not under.exists()
        output.unlink()
    stopped_join(folder, output, monkeypatch, 3)
    stopped_join(folder, output, monkeypatch, 1)  # and once more
    assert bigbfs.join(folder, output).kept == 4 and output.read_bytes() == graph.read_bytes()


def test_a_journal_that_is_torn_or_of_another_graph_counts_for_nothing(tmp_path, graph, monkeypatch):
    bigbfs.split(graph, shards=3)
    Graph.from_edges(*zoo.path(200)).compress().save(tmp_path / "other.ccsr")
    bigbfs.split(tmp_path / "other.ccsr", shards=3)
    folder, output, under = tmp_path / "g.shards", tmp_path / "back.ccsr", tmp_path / ".back.ccsr.joining"
    stopped_join(folder, output, monkeypatch, 2)
    assert bigbfs.join(tmp_path / "other.shards", output).kept == 0
    assert output.read_bytes() == (tmp_path / "other.ccsr").read_bytes()
    stopped_join(folder, output, monkeypatch, 2)
    content = bytearray(under.read_bytes())
    content[graph.stat().st_size + 30] ^= 1
    under.write_bytes(content)
    assert bigbfs.join(folder, output).kept == 0 and output.read_bytes() == graph.read_bytes()


def test_two_joins_to_one_file_do_not_mix(tmp_path, graph):
    bigbfs.split(graph, shards=2)
    with under_way.UnderWay(tmp_path / "back.ccsr", "00", [], 4096), pytest.raises(UsageError, match="another process"):
        bigbfs.join(tmp_path / "g.shards", tmp_path / "back.ccsr")
