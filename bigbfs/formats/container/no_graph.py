"""The error for a file that is no graph file: where it is text it may be an edge list, which `convert` makes one of."""

from __future__ import annotations

import re
from pathlib import Path

from bigbfs.errors import Argument, Call, FormatError, Remedy

_NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
"""What no line of an edge list holds."""


def no_graph(path: Path, start: bytes) -> FormatError:
    """Return the error for the file ``path``, whose first bytes are ``start``.

    An edge list that has the name of a graph file cannot be converted to the file of that name, which it is itself.
    """
    what = (
        f"{path}: no graph file: it has neither the magic of a bigbfs container nor a size that fits a raw .csrbin or "
        "a GAP .sg"
    )
    if not start.strip() or _NO_TEXT.search(start):
        return FormatError(what)
    other = path.with_name(f"{path.stem}-graph.csrbin")
    beside = (path.with_suffix(".csrbin"), path.with_name(f"{path.name}.csrbin"))  # what it becomes unless told
    output = (Argument("output", str(other)),) if any(each.exists() for each in beside) else ()
    convert = Call("convert", str(path), (Argument("format", "text"), *output))
    return FormatError(what, remedies=(Remedy(convert, "an edge list becomes one by {}"),))
