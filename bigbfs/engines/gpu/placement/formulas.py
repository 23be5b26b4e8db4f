"""Formulas of sizes, as arrays and strategies declare them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CodeType

_FUNCTIONS = {"__builtins__": {}, "min": min, "max": max}


def evaluate(formula: str, size: Callable[[str], int]) -> int:
    """Return the value of a formula of whole numbers, sizes by name, + - * // % and parentheses, min and max.

    Parameters
    ----------
    formula
        One of the package's own: it is run as Python.
    size
        Gives the size of that name.

    Raises
    ------
    ValueError
        If the value is no whole number.

    Notes
    -----
    Ranks that are threads evaluate at once. ``ast.parse`` is no help to them: before Python 3.11.8 and 3.12.2 it fails
    at random in one thread while another one parses (python/cpython#106905). Compiling makes no nodes for Python.
    """
    code = _compiled(formula)
    value = eval(code, _FUNCTIONS, {name: size(name) for name in code.co_names if name not in _FUNCTIONS})
    if not isinstance(value, int):
        raise ValueError(f"{formula!r} is {value!r}, no whole number")
    return value


@cache
def _compiled(formula: str) -> CodeType:
    return compile(formula, "<formula>", "eval")
