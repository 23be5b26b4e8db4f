"""``pytest --cpu FILE``: what a test and its processes take is told, by test and by folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cpu_seconds import CpuSeconds, folder_of, function_of, summed, used

NAMES = {"tests/cli/test_a.py::test_x[1-2]": 1.5, "tests/cli/test_a.py::test_x[3]": 2.0, "tests/test_b.py::test_y": 4.0}


def test_seconds_are_summed_by_folder_and_function():
    assert summed(NAMES, folder_of) == {"tests/cli": 3.5, "tests": 4.0}
    assert summed(NAMES, function_of) == {"tests/cli/test_a.py::test_x": 3.5, "tests/test_b.py::test_y": 4.0}


def test_processes_that_have_ended_count():
    before = used()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)
    assert used() - before >= 0.2


class Item:
    """A test by its name."""

    nodeid = "tests/test_b.py::test_y"


@pytest.mark.parametrize("failed", [False, True])
def test_a_line_for_each_test_that_fails_or_not(failed, tmp_path):
    path = tmp_path / "cpu.jsonl"
    path.write_text('{"test": "before", "cpu": 1.0}\n')
    counted = CpuSeconds(path).pytest_runtest_protocol(Item())
    next(counted)
    end = os.times().user + 0.05
    while os.times().user < end:
        pass
    with pytest.raises(ValueError if failed else StopIteration):
        counted.throw(ValueError()) if failed else next(counted)
    before, line = map(json.loads, Path(path).read_text().splitlines())
    assert before == {"test": "before", "cpu": 1.0}
    assert line["test"] == Item.nodeid and line["cpu"] >= 0.04
