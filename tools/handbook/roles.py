"""The Griffe extension of the documentation site that reads the roles of docstrings (``:func:`bfs```) as code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:func|class|meth|mod|data|attr|exc):`~?([^`]+)`")


class Roles(Extension):
    """Rewrites docstrings once they are read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Put what a role names between backticks alone."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(r"`\1`", obj.docstring.value)
