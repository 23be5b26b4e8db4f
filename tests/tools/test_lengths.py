"""How long files and functions are: house rule 2 of CONTRIBUTING.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 350
MOST_LINES_OF_A_FUNCTION = 60


def too_long(name: str, text: str) -> list[str]:
    """Return a line for a file that is too long, and for each function in it that is, from ``def`` to its end."""
    lines = len(text.splitlines())
    found = [f"{name}: {lines} lines, {MOST_LINES} at most"] if lines > MOST_LINES else []
    for node in functions(ast.parse(text)) if name.endswith(".py") else ():
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > MOST_LINES_OF_A_FUNCTION:
            found.append(f"{name}:{node.lineno}: {node.name}: {lines} lines, {MOST_LINES_OF_A_FUNCTION} at most")
    return found


def functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions in ``node``: among its statements alone, which are a tenth of what there is to walk."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, part, None)
        for each in inner if isinstance(inner, list) else ():
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                yield each
            yield from functions(each)


def test_files_and_functions_are_short() -> None:
    paths = [path for room in ("bigbfs", "tools", "tests") for path in (ROOT / room).rglob("*")]
    paths = [path for path in paths if path.suffix in (".py", ".cu", ".cuh", ".cpp", ".hpp")]
    assert len(paths) > 500
    found = [each for path in paths for each in too_long(str(path.relative_to(ROOT)), path.read_text("utf-8"))]
    assert found == []


def test_what_is_too_long_is_named() -> None:
    method = "class A:\n    @property\n    def {}(self):\n" + "        pass\n" * 59
    assert too_long("a.py", method.format("fits")) == []
    assert too_long("a.py", method.format("long") + "        pass\n") == ["a.py:3: long: 61 lines, 60 at most"]
    assert too_long("a.cu", "\n" * 351) == ["a.cu: 351 lines, 350 at most"]
    assert too_long("a.cu", "def f {\n" + "\n" * 100) == []
