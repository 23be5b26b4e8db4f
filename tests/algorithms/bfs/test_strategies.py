"""The catalogue of strategies, and that whatever knows strategies reads it."""

import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.engines.gpu.runtime.cuda import SOURCES
from bigbfs.errors import UsageError

TESTS = Path(__file__).resolve().parents[2]
MECHANICS = {"bottom_up", "swaps", "clears", "turn", "racing", "defines"}
"""Fields of an entry that may say that there is no such thing."""


def test_names_are_keys_every_field_says_something_and_files_exist():
    assert next(iter(STRATEGIES)) == "auto"
    for name, strategy in STRATEGIES.items():
        assert strategy.name == name
        assert all(getattr(strategy, field.name) for field in fields(strategy) if field.name not in MECHANICS), name
        assert (SOURCES / strategy.file).is_file()
        with pytest.raises(FrozenInstanceError):
            strategy.name = "other"


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_what_an_entry_names_is_there(strategy):
    arrays = {array.name for array in strategy.arrays}
    assert len(arrays) == len(strategy.arrays)
    assert {"levels", "parents"} <= arrays
    assert {name for pair in strategy.swaps for name in pair} | set(strategy.clears) <= arrays
    text = (SOURCES / strategy.file).read_text()
    for step in strategy.steps:
        assert f"ENTRY({step.kernel})" in text
        assert set(step.clears) <= arrays
        assert step.when in ("always", "narrow", "wide", "swept", "overflow")


def test_the_catalogue_loads_nothing_heavy():
    heavy = "[m for m in ('numpy', 'numba', 'cupy') if m in sys.modules]"
    code = f"import sys, bigbfs.algorithms.bfs.strategies\nprint({heavy})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(("backend", "residency"), [("cpu", "auto"), ("gpu", "streamed")])
def test_a_place_where_a_strategy_cannot_run_is_refused_by_name(backend, residency):
    with pytest.raises(UsageError, match=r"'queue'.*'auto'"):
        BfsOptions(strategy="queue").require_backend(backend, residency)
    BfsOptions(strategy="auto").require_backend(backend, residency)


NEWCOMER = """
import sys
from dataclasses import replace
from bigbfs.algorithms.bfs.strategies import STRATEGIES
STRATEGIES["newcomer"] = replace(STRATEGIES["queue"], name="newcomer", summary="a strategy of this test")
"""


def with_newcomer(code, *arguments, cwd=None):
    """Run ``code`` in a process whose registry has one entry more; return what it prints."""
    command = [sys.executable, "-c", NEWCOMER + code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


MAIN = "from bigbfs.cli.main import run\nsys.exit(run(sys.argv[1:]))"


def test_every_command_knows_a_strategy_that_was_added(tmp_path):
    assert "newcomer" in with_newcomer(MAIN, "bfs", "--help")
    assert "newcomer" in with_newcomer(MAIN, "bench", "bfs", "--help")
    assert "a strategy of this test" in with_newcomer(MAIN, "strategies")
    assert "queue_expand" in with_newcomer(MAIN, "strategies", "newcomer")
    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    with_newcomer(MAIN, "convert", tmp_path / "g.txt")
    plan = with_newcomer(MAIN, "plan", tmp_path / "g.csrbin", "--algorithm", "bfs", "--strategy", "newcomer")
    assert "next_queue" in plan and "visited" not in plan


def test_verify_defines_and_suites_know_a_strategy_that_was_added():
    settings = """
from bigbfs import verification
from bigbfs.algorithms import ALGORITHMS
found = {setting.strategy
    for setting in verification.settings(("gpu",), tuple(ALGORITHMS["bfs"].strategies))}
from bigbfs.algorithms.bfs.gpu.program import every_kernel
from bigbfs.algorithms.bfs.options import BfsOptions
kernels = BfsOptions(strategy="newcomer").kernels("vram")
print("newcomer" in found, set(kernels) <= set(every_kernel()),
    "next_queue;" in dict(kernels[0].defines)["SEARCH_ARRAYS"])
"""
    assert with_newcomer(settings) == "True True True\n"
    collect = "import pytest\nsys.exit(pytest.main(['-q', '--collect-only', '-p', 'no:cacheprovider', *sys.argv[1:]]))"
    emulated, gpu = TESTS / "emulated" / "test_kernels_strategies.py", TESTS / "gpu" / "test_gpu_engine.py"
    listed = with_newcomer(collect, emulated, gpu, "-k", "newcomer", cwd=TESTS)
    assert "test_bfs[" in listed and "newcomer" in listed and "test_gpu_engine.py" in listed
