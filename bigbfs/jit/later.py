"""Things of Numba's that are named when a module is imported and wanted when a kernel is compiled.

Importing Numba takes longer than most runs of a small graph; machine code that lies in the cache needs none of it
(:mod:`bigbfs.jit.loaded`). So modules of kernels name what they take from Numba by :class:`Later`, and :func:`real`
puts the things themselves in when a kernel is compiled, in a copy of the function whose globals and closure have them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from types import CellType, FunctionType
from typing import Any


class Later:
    """``module.name``, or with an empty name the module, imported when something is asked of it."""

    def __init__(self, module: str, name: str = "") -> None:
        self._module, self._name = module, name

    def real(self) -> Any:
        """Return it."""
        module = import_module(self._module)
        return getattr(module, self._name) if self._name else module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.real(), name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it."""
        return self.real()(*arguments, **options)

    def __repr__(self) -> str:
        return f"Later({self._module!r}, {self._name!r})"

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for in a kernel that is not ours."""
        return type_of(self.real())


def type_of(value: Any) -> Any:
    """Return what Numba takes ``value`` for where a kernel names it."""
    context = import_module("numba.core.registry").cpu_target.typing_context
    context.refresh()  # it may have been made a moment ago
    return context.resolve_value_type(value)


def real(value: Any) -> Any:
    """Return what a kernel that is compiled calls ``value``: the thing itself where that was left for later."""
    made = getattr(type(value), "real", None)
    return made(value) if made is not None and type(value).__module__.startswith("bigbfs.jit.") else value


def translated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` as Numba compiles it: the same code, with real things for its globals and in its closure."""
    assert isinstance(function, FunctionType)
    names = dict(function.__globals__)
    for name in _names_in(function.__code__) & names.keys():
        names[name] = real(names[name])
    closure = None
    if function.__closure__ is not None:
        closure = tuple(_cell(cell) for cell in function.__closure__)
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, closure)
    for name in ("__qualname__", "__doc__", "__kwdefaults__", "__module__"):
        setattr(copy, name, getattr(function, name))
    return copy


def _names_in(code: Any) -> set[str]:
    """Return the names that ``code``, and the functions inside it, take from their globals."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names_in(constant)
    return found


def _cell(cell: CellType) -> CellType:
    try:
        return CellType(real(cell.cell_contents))
    except ValueError:  # empty: a function that names itself
        return cell


_overloads: list[tuple[Any, Callable[..., Any]]] = []


def overload(target: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate as :func:`numba.extending.overload` does, once Numba is there."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        _overloads.append((target, function))
        return function

    return decorate


def declare() -> None:
    """Tell Numba of what has been declared since the last call."""
    extending = import_module("numba.extending")
    while _overloads:
        target, function = _overloads.pop(0)
        extending.overload(target)(_of_types(function))


def _of_types(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function``, which chooses an implementation, with what it chooses translated."""

    @wraps(function)
    def choose(*arguments: Any, **options: Any) -> Any:
        chosen = function(*arguments, **options)
        return None if chosen is None else translated(chosen)

    return choose


int64: Any = Later("numba", "int64")
uint64: Any = Later("numba", "uint64")
