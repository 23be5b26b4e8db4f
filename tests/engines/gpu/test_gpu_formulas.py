"""Formulas of sizes."""

import gc
import re
from pathlib import Path

import pytest

import bigbfs
from bigbfs.engines.gpu.placement import formulas
from bigbfs.engines.gpu.placement.arrays import Sizes

SIZES = Sizes(n=65, m=1000, chunks=3, id=8, reachable=33)


@pytest.mark.parametrize(
    ("formula", "value"),
    [("1", 1), ("n + 1", 66), ("2 * (m // 7)", 284), ("words", 3), ("max(n, reachable_words) - 1", 64), ("n % 2", 1)],
)
def test_values(formula, value):
    assert formulas.evaluate(formula, SIZES.__getattribute__) == value


@pytest.mark.parametrize("formula", ["n / 2", "'n'", "None"])
def test_what_is_no_whole_number_is_refused(formula):
    with pytest.raises(ValueError, match=f"{re.escape(repr(formula))} is .*, no whole number"):
        formulas.evaluate(formula, SIZES.__getattribute__)


def test_formulas_see_sizes_and_nothing_else():
    with pytest.raises(AttributeError, match="open"):
        formulas.evaluate("open", SIZES.__getattribute__)


def test_one_may_be_evaluated_within_another():
    """As where ranks are threads: whatever allocates may collect garbage, and that lets another thread go on.

    Nodes of ``ast`` are not safe from each other then: ``ast.parse`` fails, in Python up to 3.11.7 and 3.12.1
    (python/cpython#106905).
    """
    inner: set[int] = set()
    within: list[str] = []

    def collected(phase, details):
        if not within:
            within.append(phase)
            formulas._compiled.cache_clear()
            inner.add(deeper(20))
            within.clear()

    def deeper(frames):
        return deeper(frames - 1) if frames else formulas.evaluate("n + 1", SIZES.__getattribute__)

    threshold = gc.get_threshold()
    gc.callbacks.append(collected)
    try:
        gc.set_threshold(1)
        for _ in range(20):
            formulas._compiled.cache_clear()
            assert formulas.evaluate("n * 2 + (m + 1) // 32 * 4", SIZES.__getattribute__) == 254
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(collected)
    assert inner == {66}


def test_no_module_needs_nodes_of_ast():
    package = Path(bigbfs.__file__).parent
    needs = re.compile(r"^\s*(import|from) ast\b", re.MULTILINE)
    assert not [path for path in package.rglob("*.py") if needs.search(path.read_text("utf-8"))]
