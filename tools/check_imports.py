"""Fail on an import that points the wrong way between the layers of the package.

The layers are listed from the bottom; a module may import modules of its own layer's group and of the layers named
for it. ``import`` statements inside functions count too: a lazy import is still a dependency.
"""

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "bigbfs"

BASE = {"errors", "record", "sizes", "config", "components", "flags", "backends"}
FILES = BASE | {"adjacency", "edges", "machine", "structure", "formats", "rows", "row_kernels"}
GRAPH = FILES | {"graph", "original_ids"}
MAY_IMPORT = {
    "errors": set(),
    "record": set(),
    "sizes": {"errors"},
    "config": {"errors"},
    "components": {"errors"},
    "backends": {"errors"},
    "flags": set(),
    "adjacency": {"errors"},
    "edges": set(),
    "machine": set(),
    "structure": {"adjacency", "errors", "machine"},
    "row_kernels": {"adjacency", "machine"},
    "rows": FILES,
    # readers of .sg and .csrbin inputs open them as graphs: the one arrow from formats to graph
    "formats": FILES | {"graph"},
    "original_ids": {"adjacency", "errors", "flags"},
    "graph": FILES | {"formats", "original_ids"},
    "conversion": GRAPH,
    "generate": GRAPH | {"conversion"},
    "reference": GRAPH,
    "cpu": GRAPH,
    "gpu": GRAPH,
    "report": GRAPH | {"api"},
    "engine": {"components", "record"},
    "api": GRAPH | {"engine", "conversion", "reference", "cpu", "gpu"},
    "verification": GRAPH | {"generate", "reference", "api", "report"},
    "cli": GRAPH
    | {"conversion", "generate", "reference", "cpu", "gpu", "report", "api", "verification", "__version__"},
    "__init__": set(),
    "__main__": {"cli"},
}


def layer(module: str) -> str:
    """Return the layer of ``bigbfs.<layer>...``; the package itself exports ``__version__`` alone."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__version__"


def imports(tree: ast.AST) -> list[tuple[int, str]]:
    """Return (line, module) of every import of the package in ``tree``."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, name.name) for name in node.names if name.name.split(".")[0] == "bigbfs"]
        elif isinstance(node, ast.ImportFrom) and node.level:
            found.append((node.lineno, "bigbfs.(relative; write the whole name)"))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "bigbfs":
            if node.module == "bigbfs":
                found += [(node.lineno, f"bigbfs.{name.name}") for name in node.names]
            else:
                found.append((node.lineno, node.module))
    return found


def wrong_arrows(package: Path = PACKAGE) -> list[str]:
    """Return one line for each import that the table does not allow, and for each import of CuPy outside gpu/."""
    wrong = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        own = relative.parts[0].removesuffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if own not in MAY_IMPORT:
            wrong.append(f"{relative}: layer {own!r} has no entry in tools/check_imports.py")
            continue
        for line, module in imports(tree):
            target = layer(module)
            if target != own and target not in MAY_IMPORT[own]:
                wrong.append(f"{relative}:{line}: {own} must not import {target}")
        for node in ast.walk(tree):
            names = [n.name for n in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if own != "gpu" and any(name.split(".")[0] in ("cupy", "cupyx") for name in names):
                wrong.append(f"{relative}:{node.lineno}: only gpu/ may import cupy")  # type: ignore[attr-defined]
    return wrong


if __name__ == "__main__":
    problems = wrong_arrows()
    print("\n".join(problems) or "imports point the right way")
    sys.exit(bool(problems))
