"""Conversion by ranks whose shares fit in memory: what decides that, and how keys are dealt to the owners of rows."""

import itertools
import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from spreading import keep_on_disk, require_same, send_messages, spread, written
from wide import split

from bigbfs.conversion import ConvertOptions
from bigbfs.conversion.on_disk.scratch import KEPT, Scratch
from bigbfs.conversion.sorting import lines
from bigbfs.conversion.spread import common, dealing, fitting, in_memory
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import DoesNotFitError
from bigbfs.formats.readers.estimates import InputEstimate


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("disk", [False, True])
def test_what_fits_in_memory_never_goes_to_disk(disk, monkeypatch):
    """In memory nothing is written but the graph; on disk it says how much and in how many parts."""
    if disk:
        keep_on_disk(monkeypatch)
    found = require_same(3, written("text"), compressed=True)
    assert found.method == "ranks" and (found.spilled_bytes > 0, found.partitions > 0) == (disk, disk)


@pytest.mark.parametrize("shared", [True, False])
def test_a_rank_that_is_killed_in_memory_leaves_nothing_to_take_up(shared, monkeypatch):
    """The second run begins anew, says nothing of the first, and removes what it has left."""
    if not shared:
        send_messages(monkeypatch)
    inputs = written("text")

    def end(*given, **named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(common if shared else lines, "keys_of", end)
        patch.setattr(Scratch, "close", lambda self: os.close(self._lock))
        with pytest.raises(KeyboardInterrupt):
            spread(3, inputs)
    assert not list(Path().glob(f"*/*{KEPT}")) and not list(Path().glob("many*"))
    assert not require_same(3, inputs).notes


@pytest.mark.parametrize("where", ["require_share", "EdgeBuffer", "require"])
def test_more_edges_than_were_expected_go_to_disk(where, monkeypatch):
    """Whether one rank's buffer is full while it reads, its share of the rows is too large for it, or what all see."""
    place = common if where == "require" else in_memory
    if where == "require_share":
        send_messages(monkeypatch)
    whole, calls = getattr(place, where), itertools.count()

    def refuse(*given, **named):
        if next(calls) == 1:
            raise DoesNotFitError("too many edges")
        return whole(*given, **named)

    monkeypatch.setattr(place, where, refuse)
    assert require_same(3, written("text"), directed=place is in_memory).spilled_bytes > 0
    assert next(calls) == 3


def test_what_a_rank_holds_is_guessed_by_who_reads_what():
    """The same edges fit four ranks that share them, and not one that reads them alone, nor two with large ids."""
    Path("g.txt").write_text("7 8\n" * 9)
    (guess,) = (InputEstimate(2**30, 10**8, 8 * 10**8),)
    options = ConvertOptions(memory=fitting.PROGRAM + 5 * 2**29)
    assert fitting.fits(["g.txt"], [guess], [None], options, 4)
    assert not fitting.fits(["g.txt"], [guess], [None], options, 1)
    assert not fitting.fits(["g.txt"], [guess], [2], options, 4)
    assert not fitting.fits(["g.txt"] * 3, [guess] * 3, [None, 0, 0], options, 4)
    Path("g.txt").write_text("7 8\n" * 9 + "10000000000 7\n" * 9)
    assert not fitting.fits(["g.txt"], [guess], [None], options, 4)


def test_ranks_on_one_state_hold_an_even_share_of_it(monkeypatch):
    """What two hold of the same lines is less where they have a state in common; then no id is looked at."""
    Path("g.txt").write_text("7 8\n" * 9)
    guess, looked = InputEstimate(2**30, 10**7, 8 * 10**7), []
    monkeypatch.setattr(fitting, "sample_ids", lambda inputs: looked.append(1) or np.array([10**9], np.uint64))

    def fits(memory, **how):
        return fitting.fits(["g.txt"], [guess], [None], ConvertOptions(memory=fitting.PROGRAM + memory), 2, **how)

    state = fitting.build_need(2 * 10**7, 10**7, 8 * 10**7, both=True) // 2 + fitting.OF_ALL * 2 * 10**7
    assert fits(state, common=True) and not looked
    assert not fits(state) and not fits(state - 1, common=True) and len(looked) == 2


def dealt(ranks, counts, stored, n, shift):
    """Deal keys that say who had them, in which bucket, and where; return what each rank gets, and its rows."""

    def work(group):
        mine = np.asarray(counts[group.rank])
        starts = np.concatenate([[0], np.cumsum(mine)])
        keys = np.concatenate(
            [
                np.empty(0, np.uint64),
                *(
                    (group.rank << 40) + (bucket << 20) + np.arange(count, dtype=np.uint64)
                    for bucket, count in enumerate(mine)
                ),
            ]
        )
        deal = dealing.Dealer(np.asarray(stored), n, shift, lambda lines, edges: None, group)
        first, second = deal(starts, keys.copy()), deal(starts, keys)
        assert all(np.array_equal(*pair) for pair in zip(first, second, strict=True))
        return *first, deal.rows

    return run(ranks, work)


@pytest.mark.covered
@pytest.mark.parametrize(
    ("ranks", "most"),
    split(product((1, 2, 3, 7), (8 << 20, 8 * 60, 1)), lambda ranks, most: most > 1 or ranks <= 2),
)
def test_keys_come_to_the_owner_of_their_rows_in_the_order_of_ranks(ranks, most, monkeypatch):
    """In one round, in some, and in more than there are buckets."""
    monkeypatch.setattr(dealing, "ROUND", most)
    rng = np.random.default_rng(ranks)
    counts = rng.integers(0, 50, (ranks, 40)) * (rng.random((ranks, 40)) < 0.7)
    found = dealt(ranks, counts, rng.integers(0, 90, 40), 40 * 8 - 3, 3)
    assert found[0][2][0] == 0 and found[-1][2][1] == 40 * 8 - 3
    for before, after in itertools.pairwise(found):
        assert before[2][1] == after[2][0]
    for starts, keys, (low, end) in found:
        own = range(low // 8, -(-end // 8))
        expected = [
            (rank << 40) + (bucket << 20) + at
            for bucket in own
            for rank in range(ranks)
            for at in range(counts[rank][bucket])
        ]
        assert keys.tolist() == expected
        lengths = np.diff(starts)
        assert lengths.sum() == lengths[own.start : own.stop].sum() == len(expected)


def test_rows_are_cut_where_the_work_is_even():
    """By lines to sort, and by edges to store; a rank for which nothing is left has no rows."""
    even = [rows for *_, rows in dealt(2, [[10, 10, 10, 10], [10] * 4], [0] * 4, 4, 0)]
    assert even == [(0, 2), (2, 4)]
    heavy = [rows for *_, rows in dealt(2, [[90, 10, 10, 10], [0] * 4], [0] * 4, 4, 0)]
    assert heavy == [(0, 1), (1, 4)]
    placed = [rows for *_, rows in dealt(2, [[10] * 4, [10] * 4], [0, 0, 0, 500], 4, 0)]
    assert placed == [(0, 3), (3, 4)]
    one = [rows for *_, rows in dealt(3, [[0, 90, 0, 0]] * 3, [0] * 4, 4, 0)]
    assert sorted(end - low for low, end in one)[:2] == [0, 1] or sum(end - low for low, end in one) == 4
