"""Levels as columns are the sequence of records that they stand for."""

import math

import numpy as np
import pytest

from bigbfs.algorithms.bfs.level_records import LevelRecords, table_of
from bigbfs.record import LevelRecord

RECORDS = (
    LevelRecord(0, "top-down", 1, 0.5, 3),
    LevelRecord(1, "bottom-up", 3, math.nan, None, 7, 2),
    LevelRecord(2, "top-down", 2**40, 0.0, 2**50, 0, 0, "cpu"),
)


def test_records_come_back_as_they_were():
    levels = LevelRecords.of(RECORDS)
    assert tuple(levels) == RECORDS == tuple(levels[i] for i in range(3)) == levels[:]
    assert levels[-1] == RECORDS[-1] and levels[1:] == RECORDS[1:] and len(levels) == 3
    assert [type(value) for value in (levels[2].frontier, levels[0].seconds, levels[0].level)] == [int, float, int]
    assert levels == RECORDS and levels == LevelRecords.of(levels) and LevelRecords.of(levels) is levels
    assert levels != RECORDS[:2] and levels != "abc" and levels != (*RECORDS[:2], RECORDS[0])
    assert levels.index(RECORDS[2]) == 2 and RECORDS[1] in levels
    assert "3 levels" in repr(levels)
    with pytest.raises(IndexError):
        levels[3]


def test_tables_stand_one_behind_the_other():
    parts = [table_of(2, frontier=[5, 6]), table_of(1, on_cpu=True, direction=True, seconds=0.25, edges=9)]
    levels = LevelRecords(parts)
    assert [each.level for each in levels] == [0, 1, 2]
    assert levels[1] == LevelRecord(1, "top-down", 6, math.nan)
    assert levels[2] == LevelRecord(2, "bottom-up", 0, 0.25, 9, backend="cpu")
    assert len(LevelRecords(())) == 0 and not LevelRecords(())
    assert LevelRecords([table_of(40_000, frontier=np.arange(40_000))])[39_999].frontier == 39_999
    assert (
        sum(each.level == each.frontier for each in LevelRecords([table_of(40_000, frontier=np.arange(40_000))]))
        == 40_000
    )
