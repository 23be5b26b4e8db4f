"""How a graph file was made, as the keywords of a conversion that makes it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from bigbfs.conversion import cache
from bigbfs.conversion.folders import expand
from bigbfs.conversion.inputs import as_inputs_say
from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import UsageError

_RULES = {"names": ("names", True), "no_names": ("names", False)}
_RULES |= {"header": ("header", True), "no_header": ("header", False)}
"""Names in a record that stand for a keyword and its value."""


class Making(NamedTuple):
    """How a graph file was made, seen from one file, or one folder of tables, that it may be made of.

    Attributes
    ----------
    of_it, alone
        Whether that is one of its inputs, and whether it is the only one. What has changed in it since is no other.
    options
        The options that were not as they are by default, as fields of ConvertOptions.
    complete
        Whether they are all: False where the record has what this version does not know, or lacks something.
    """

    of_it: bool
    alone: bool
    options: dict[str, Any]
    complete: bool


def making(path: Path, source: Path) -> Making | None:
    """Return how the graph file ``path`` was made, seen from ``source``; None where there is no such file.

    Raises
    ------
    FileAccessError, InputError, UsageError
        ``source`` cannot be read, or is no folder of tables.
    """
    inputs = expand([source])
    usual = as_inputs_say(inputs, ConvertOptions()).identity()
    record = cache.recorded(path)
    if record is None:
        return Making(False, False, {}, False) if path.exists() else None
    before = {str(each.get("path")) for each in record.get("sources") or ()}
    places = {str(Path(each).parent) for each in before} if source.is_dir() else before
    here, was = str(source.resolve()), record.get("options") or {}
    options = _keywords(was, usual)
    try:
        again = as_inputs_say(inputs, ConvertOptions(**options)).identity() if options else usual
        complete = again == was
    except UsageError:  # a value that no option takes
        complete = False
    return Making(here in places, places == {here}, options, complete)


def _keywords(was: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """Return what differs in the options of a record, as fields of ConvertOptions."""
    found: dict[str, Any] = {}
    for name in ConvertOptions.__dataclass_fields__.keys() | _RULES.keys():
        value = was.get(name)
        if value is None or value == usual.get(name):
            continue
        if name == "directed":
            found["directed" if value else "undirected"] = True
        elif name in _RULES:
            keyword, value = _RULES[name]
            found[keyword] = value
        elif name != "in_edges":
            found[name] = tuple(value) if isinstance(value, list) else value
    if was.get("directed") and was.get("in_edges") is False:
        found["in_edges"] = False
    return dict(sorted(found.items()))
