"""NetworkX's own tests of every function that the backend claims."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("networkx")

from bigbfs.networkx.info import FUNCTIONS

SUITES = {
    "components.tests.test_connected": "",
    "components.tests.test_weakly_connected": "",
    "traversal.tests.test_bfs": "",
    "shortest_paths.tests.test_generic": "",
    "shortest_paths.tests.test_unweighted": "",
    "centrality.tests.test_closeness_centrality": "TestClosenessCentrality",
    "centrality.tests.test_harmonic_centrality": "",
    "tests.test_distance_measures": "(TestDistance or TestWeightedDistance) and not test_use_bounds",
    "tests.test_dag": "descendants or topological_generations",
}
"""Modules of NetworkX's tests, and which tests of them."""
MANY = {"tests.test_distance_measures": "test_use_bounds and (-11- or -14- or -17- or -19-)"}
"""Hundreds of random graphs, of 11, 14, 17 and 19 vertices: four of the ten sizes."""

COUNTING = """
from functools import wraps
from bigbfs.networkx import backend
from bigbfs.networkx.info import FUNCTIONS

calls, now = {name: set() for name in FUNCTIONS}, [""]

def counted(name, function):
    @wraps(function)
    def call(*arguments, **keywords):
        calls[name].add(now[0])
        return function(*arguments, **keywords)
    return call

for each in FUNCTIONS:
    setattr(backend, each, counted(each, getattr(backend, each)))

def pytest_runtest_setup(item):
    now[0] = item.nodeid

def pytest_sessionfinish():
    print("\\ntests:", ", ".join(f"{name} {len(tests)}" for name, tests in calls.items()))
"""


def passed(suites, env, folder):
    """Run NetworkX's tests and return how many passed, and how many of them called each function of ours."""
    (folder / "counting.py").write_text(COUNTING)
    each = [f"({module.rpartition('.')[2]}{f' and ({only})' if only else ''})" for module, only in suites.items()]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "counting",
        "-k",
        " or ".join(each),
    ]
    modules = ["--pyargs", *(f"networkx.algorithms.{module}" for module in suites)]
    env = env | {"NETWORKX_TEST_BACKEND": "bigbfs", "NETWORKX_FALLBACK_TO_NX": "1"}
    env["PYTHONPATH"] += os.pathsep + str(folder)
    env.pop("PYTEST_ADDOPTS", None)  # those of this run
    done = subprocess.run([*command, *modules], capture_output=True, text=True, env=env, cwd=folder)
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|xfailed|error)", done.stdout)}
    assert done.returncode == 0 and set(counts) == {"passed"}, done.stdout[-3000:] + done.stderr[-3000:]
    (line,) = re.findall(r"^tests: (.*)$", done.stdout, re.MULTILINE)
    called = {name: int(count) for name, count in (word.rsplit(" ", 1) for word in line.split(", "))}
    print(f"\n{counts['passed']} passed;", line)
    return counts["passed"], called


def test_networkx_own_tests_of_every_claimed_function_pass(entry_points, tmp_path):
    """NetworkX turns every graph of its tests into one of ours, and compares what its functions return."""
    count, called = passed(SUITES, entry_points, tmp_path)
    assert count > 140 and set(called) == set(FUNCTIONS) and all(called.values()), called


@pytest.mark.wide
def test_networkx_own_tests_on_hundreds_of_graphs_pass(entry_points, tmp_path):
    count, called = passed(MANY, entry_points, tmp_path)
    assert count == 200 and called["diameter"] == count
