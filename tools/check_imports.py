"""Fail on an import that runs upwards between the rooms of the package, on an import circle, and on a crowded root.

``ROOMS`` lists the rooms from the ground up. A module may import modules of its own room and of rooms below it, those
on the same floor excepted. ``import`` statements inside functions count too: a lazy import is still a dependency; those
under ``if TYPE_CHECKING`` do not make circles. Only the rooms of ``MAY_USE_CUPY`` may import CuPy.
"""

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "bigbfs"

ROOMS: tuple[tuple[str, ...], ...] = (
    ("errors", "record"),
    ("sizes", "config"),
    ("jit",),
    ("report.progress",),
    ("graph",),
    ("formats.mark", "formats.writeback"),
    ("formats.atomic",),
    ("formats.container", "formats.streams"),
    ("formats.tables", "formats.bvgraph", "formats.ours"),
    ("formats.shards",),
    ("formats.readers", "formats.writers"),
    ("formats",),
    ("conversion.orders",),
    ("conversion.report", "conversion.options", "conversion.numbering"),
    ("conversion.targets", "conversion.bvgraphs", "conversion.cache", "conversion.sampling", "conversion.sorting"),
    ("conversion.memory",),
    ("conversion.in_memory", "conversion.on_disk"),
    ("conversion.names",),
    ("conversion",),
    ("generate",),
    ("engines.backends", "engines.gpu.runtime", "engines.ranks"),
    ("engines.gpu.placement", "conversion.spread"),
    ("engines.gpu.streamed",),
    ("engines.engine",),
    ("engines.cpu", "engines.gpu"),
    ("engines",),
    ("algorithms.registry", "algorithms.columns", "algorithms.plain_rows", "algorithms.rules", "algorithms.serial"),
    ("algorithms.bfs", "algorithms.components", "algorithms.many", "algorithms.topological"),
    ("algorithms.sweeps",),
    ("algorithms",),
    ("api",),
    ("measures",),
    ("networkx",),
    ("report",),
    ("bench", "verification"),
    ("__init__",),
    ("cli",),
    ("__main__",),
)
"""From the ground up; a room with a dot lies inside another, whose other modules are above it."""

APART = (("engines.cpu", "engines.gpu"),)
"""Rooms that know nothing of each other, whatever their floors."""

MAY_USE_CUPY = ("engines.gpu",)

MOST_AT_ROOT = 8


def module_of(path: Path, package: Path) -> str:
    """Return the dotted name below the package of the module in ``path``."""
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def room_of(module: str) -> tuple[int, str] | None:
    """Return floor and name of the innermost room that holds ``module``; None: no room does."""
    found = [
        (floor, room)
        for floor, rooms in enumerate(ROOMS)
        for room in rooms
        if module == room or module.startswith(room + ".")
    ]
    return max(found, key=lambda entry: len(entry[1]), default=None)


def apart(module: str, target: str) -> bool:
    """Return whether two modules are in rooms that know nothing of each other."""

    def inside(name: str, room: str) -> bool:
        return name == room or name.startswith(room + ".")

    return any(inside(module, one) and inside(target, other) for pair in APART for one, other in (pair, reversed(pair)))


def imports(tree: ast.AST, modules: Iterable[str]) -> list[tuple[int, str]]:
    """Return (line, module below the package) of every import of the package in ``tree``."""
    known, found = set(modules), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names if name.name.split(".")[0] == "bigbfs"]
            found += [(node.lineno, name.partition(".")[2] or "__init__") for name in names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            found.append((node.lineno, "(relative; write the whole name)"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bigbfs":
            base = (node.module or "").partition(".")[2]
            for name in node.names:
                whole = f"{base}.{name.name}".lstrip(".")
                found.append((node.lineno, whole if whole in known else base or "__init__"))
    return found


def for_types_only(tree: ast.AST) -> set[int]:
    """Return the lines under ``if TYPE_CHECKING``."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            inside = [inner for statement in node.body for inner in ast.walk(statement)]
            lines |= {inner.lineno for inner in inside if isinstance(inner, ast.Import | ast.ImportFrom)}
    return lines


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import one another in a circle (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in sorted(arrows.get(module, ())):
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1 or module in arrows.get(module, ()):
                found.append(sorted(group))

    for module in sorted(arrows):
        if module not in index:
            visit(module)
    return found


def objections(package: Path = PACKAGE) -> list[str]:
    """Return one line for each arrow that runs upwards, circle, stray use of CuPy, and for a crowded root."""
    paths = {module_of(path, package): path for path in sorted(package.rglob("*.py"))}
    wrong: list[str] = []
    arrows: dict[str, set[str]] = {}
    for module, path in paths.items():
        relative = path.relative_to(package)
        own = room_of(module)
        if own is None or (own[1] == "algorithms" and len(relative.parts) > 2):  # each has a room of its own
            wrong.append(f"{relative}: {module} is in no room of tools/check_imports.py")
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        types_only = for_types_only(tree)
        for line, target in sorted(set(imports(tree, paths))):
            room = room_of(target)
            if room is None or (room[0] >= own[0] and room[1] != own[1]) or apart(module, target):
                wrong.append(f"{relative}:{line}: {own[1]} must not import {target}")
            if line not in types_only:
                arrows.setdefault(module, set()).add(target)
        if not any(module == room or module.startswith(room + ".") for room in MAY_USE_CUPY):
            wrong += [f"{relative}:{line}: only engines/gpu may import cupy" for line in cupy_lines(tree)]
    wrong += ["import circle: " + " <-> ".join(group) for group in circles(arrows)]
    root = sorted(path.name for path in package.glob("*.py"))
    if len(root) > MOST_AT_ROOT:
        wrong.append(f"{len(root)} modules at the root of the package, {MOST_AT_ROOT} at most: {', '.join(root)}")
    return wrong


def cupy_lines(tree: ast.AST) -> list[int]:
    """Return the lines that import CuPy."""
    found = []
    for node in ast.walk(tree):
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if any(name.split(".")[0] in ("cupy", "cupyx") for name in names):
            found.append(node.lineno)  # type: ignore[attr-defined]
    return found


def counts(package: Path = PACKAGE) -> str:
    """Return how many rooms the package has (folders and modules of its root), and what runs between them."""
    paths = {module_of(path, package): path for path in sorted(package.rglob("*.py"))}
    room = {module: path.relative_to(package).parts[0] for module, path in paths.items()}
    folder = [str(path.parent.relative_to(package)) for path in paths.values()]
    arrows: dict[str, set[str]] = {}
    closing: dict[str, set[str]] = {}
    for module, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        types_only = for_types_only(tree)
        found = {(target, line in types_only) for line, target in imports(tree, paths) if target in paths}
        arrows[module] = {target for target, _ in found}
        closing[module] = {target for target, only in found if not only}
    between = {(room[a], room[b]) for a, targets in arrows.items() for b in targets if room[a] != room[b]}
    fullest = max(set(folder), key=lambda name: (folder.count(name), name))
    return (
        f"{len(set(room.values()))} rooms, {folder.count('.')} of them modules at the root; {len(between)} arrows "
        f"between rooms; {len(circles(closing))} circles; {len(set(folder))} folders, the fullest is {fullest} with "
        f"{folder.count(fullest)} of {len(paths)} modules"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--count"]:
        print(counts(Path(sys.argv[2]) if sys.argv[2:] else PACKAGE))
        sys.exit()
    problems = objections()
    print("\n".join(problems) or "imports point the right way")
    sys.exit(bool(problems))
