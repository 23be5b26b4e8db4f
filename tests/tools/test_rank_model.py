"""The model of the largest graphs: its table in the docs is up to date, and it says what its text says."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "tools"))

import rank_model  # noqa: E402


def test_the_table_in_the_docs_is_up_to_date():
    assert rank_model.table() in (HERE / "docs" / "distributed.md").read_text()


def test_two_dimensions_pay_for_many_gpus_alone():
    small, large = rank_model.graph500(36), rank_model.graph500(41)
    assert rank_model.seconds(small, 64, True) > rank_model.seconds(small, 64, False)
    assert rank_model.seconds(large, 8192, True) < rank_model.seconds(large, 8192, False)


def test_bitmaps_of_all_vertices_fill_a_gpu_at_scale_40():
    size = rank_model.INPUTS["gpu_bytes"]
    assert rank_model.memory(rank_model.graph500(38), 512, grid=False) < size
    assert rank_model.memory(rank_model.graph500(40), 2048, grid=False) > size
    assert rank_model.memory(rank_model.graph500(40), 2048, grid=True) < size


def test_a_search_tells_some_three_tenths_of_a_byte_a_vertex():
    kronecker = rank_model.Work("Kronecker 20", 2.0**20, 0.62, 31.4e6, 4.0, 16.0)
    assert 0.15 < 2 * rank_model.told(kronecker, 2) / kronecker.n < 0.3
