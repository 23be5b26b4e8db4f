"""TOML read into frozen dataclasses; an unknown key is an error that names the nearest one."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bigbfs.errors import ConfigError, FileAccessError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def from_table(kind: type[T], table: dict[str, Any], where: str) -> T:
    """Return the dataclass ``kind`` made of a TOML ``table``.

    Raises
    ------
    ConfigError
        A key is unknown (the nearest one is named), missing, of the wrong type, or has a value that cannot be.
    """
    known = {item.name: item for item in fields(kind)}
    for key in table:
        if key not in known:
            import difflib

            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            raise ConfigError(f"{where}: unknown key {key!r}; {hint}")
    values = {}
    for name, item in known.items():
        if name not in table:
            if item.default is MISSING and item.default_factory is MISSING:
                raise ConfigError(f"{where}: key {name!r} is missing")
            continue
        value = tuple(table[name]) if isinstance(table[name], list) else table[name]
        if item.type == "float" and type(value) is int:
            value = float(value)
        expected = {"str": str, "int": int, "float": float, "bool": bool}.get(str(item.type).split("[")[0])
        expected = expected or (tuple if str(item.type).startswith("tuple") else dict)
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise ConfigError(f"{where}: key {name!r} is {table[name]!r}; it must be {item.type}")
        values[name] = value
    try:
        return kind(**values)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the tables of the TOML file ``path``.

    Raises
    ------
    FileAccessError
        It cannot be read.
    ConfigError
        It is no TOML.
    """
    import tomllib

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileAccessError(f"{path}: cannot read: {error.strerror}; check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
