"""The page of the studies: what is reported beside what was measured."""

import json

import pytest
import study_page

from bigbfs.errors import InputError


def row(study, graph, **found):
    return {"study": study, "graph": graph, "device": "A GPU", "commit": "abc", "found": found}


def orders(**seconds):
    return row("orders", "dag 5,000", edges=9, rounds=5, widest=3, thin=5, seconds=seconds, ran={})


def test_reported_figures_stand_beside_ours_with_a_ratio():
    text = study_page.orders({"dag 5,000": orders(GPU=0.0493885, **{"depth-first search": 0.0094})})
    assert "| 18.8 / 9.4 **(2x)** | 493.9 / 49.39 **(10x)** |" in text
    assert "7,520.8 / - |" in text  # not run


def test_shares_of_false_negatives_are_in_per_cent_below_the_reported_ones():
    text = study_page.culling({"g": row("culling", "g", share={"bitmask": 0.0123, "atomicOr": 0.0})})
    lines = text.splitlines()
    assert lines[2] == "| report 004, 4.2: mean of 13 graphs | 6.4 % | - |"
    assert lines[3] == "| g | 1.23 % | 0 % |"


def test_rates_of_a_profile_leave_out_what_was_not_counted():
    kernel = dict.fromkeys(("registers", "theoretical", "achieved", "dram", "l2", "compute", "instructions"), 8.0)
    kernel |= {"strategy": "queue", "kernel": "k", "launches": 2, "nanoseconds": 2e6, "dram_read": 3e6}
    text = study_page.profile({"g": row("profile", "g", kernels=[kernel | {"dram_write": 1e6}])})
    assert "| g | queue | k | 2 | 8 | 8 | 8 | 2 | 2 | 8 | 8 | 8 | 2e-06 |" in text
    text = study_page.profile({"g": row("profile", "g", kernels=[kernel | {"dram_write": None}])})
    assert "| 2 | - | 8 |" in text


def test_directions_are_folded():
    found = {"down": [1, 9, 9], "up": [9, 4, 2], "best": 7, "ways": {"auto (CPU)": "tbb"}, "read": {"auto (CPU)": 7}}
    assert "| 19 | 15 | 7 | 7 | 1t 2b |" in study_page.directions({"g": row("directions", "g", **found)})


@pytest.mark.parametrize("text", ["", '{"graph": "g"}\n', "nothing\n"])
def test_rows_that_are_none_are_refused(text, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=r"tools/study\.py writes rows"):
        study_page.read([path])
    path.write_text(json.dumps(orders()) + "\n")
    assert list(study_page.read([path])) == ["orders"]


def test_profiles_of_several_strategies_are_joined_and_a_later_one_counts(tmp_path):
    def kernel(strategy, registers):
        return {"strategy": strategy, "kernel": "k", "registers": registers}

    first = row("profile", "g", kernels=[kernel("auto", 1), kernel("queue", 2)]) | {"commit": "one"}
    second = row("profile", "g", kernels=[kernel("queue", 3), kernel("scan", 4)]) | {"commit": "two"}
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    found = study_page.read([path])["profile"]["g"]
    assert [k["registers"] for k in found["found"]["kernels"]] == [1, 3, 4]
    assert found["commit"] == "one, two"


def test_what_somebody_found_stands_before_the_tables():
    text = study_page.page({"culling": {"g": row("culling", "g", share={"bitmask": 0.1})}}, {}, "studies", "Look here.")
    assert text.index("Look here.") < text.index("## False negatives")
