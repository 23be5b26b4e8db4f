"""The sources that a run on a GPU vouches for, and their hash: every kernel, and the code that launches kernels.

That is every .cu and .cuh of the package, the modules of engines/gpu/, and those of algorithms/*/gpu/ and strategies/.
What no device sees does not count: comments and layout, docstrings, line ends; nor which Python made the hash.
"""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "bigbfs"
MODULES = ("engines/gpu/**/*.py", "algorithms/*/gpu/**/*.py", "algorithms/*/strategies/**/*.py")


def source_files(package: Path = PACKAGE) -> list[Path]:
    """Return the files of ``package`` that the hash covers, in its order."""
    files = {path for pattern in ("**/*.cu", "**/*.cuh", *MODULES) for path in package.glob(pattern)}
    return sorted(files, key=lambda path: path.relative_to(package).as_posix())


def hash_of_sources(package: Path = PACKAGE) -> str:
    """Return the hash (SHA-256, hexadecimal) of the kernels and launching code of ``package``."""
    digest = hashlib.sha256()
    for path in source_files(package):
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
        text = code_of(text) if path.suffix == ".py" else kernel_code_of(text)
        name = path.relative_to(package).as_posix()
        digest.update(f"{len(name)} {name}\n{len(text)}\n{text}".encode())
    return digest.hexdigest()


def code_of(text: str) -> str:
    """Return the Python source ``text`` without comments, docstrings and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    return _dump(tree)


def _dump(node: object) -> str:
    """Return a tree in words; fields that are empty are left out, since Python's versions differ in them."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
        return f"{type(node).__name__}({', '.join(f'{name}={_dump(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{', '.join(map(_dump, node))}]"
    return repr(node)


def kernel_code_of(text: str) -> str:
    """Return the tokens of a CUDA source without comments and layout; a line of the preprocessor stays a line."""
    text = _NO_TOKEN.sub(lambda found: found[0] if found[0][0] in "\"'" else " ", text.replace("\\\n", " "))
    parts: list[str] = []
    for line in text.splitlines():
        tokens = _TOKEN.findall(line)
        parts += ["\n", *tokens, "\n"] if tokens[:1] == ["#"] else tokens
    return " ".join(parts)


_NO_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[\w.]+|\S")


def _is_text(node: ast.AST) -> bool:
    """Return whether ``node`` is a statement that is only a string: a docstring, or a note below a constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
