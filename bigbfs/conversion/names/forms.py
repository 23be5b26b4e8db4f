"""Names that differ by Unicode normal form alone: different vertices, which is said."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from bigbfs.graph.names import Names


def same_but_for_form(odd: Sequence[bytes], names: Names) -> str | None:
    """Return a note about names of ``odd`` that differ from another by normal form alone; None: there are none."""
    found = []
    seen: set[str] = set()
    for name in odd:
        text = name.decode("utf-8", "surrogateescape")
        form = unicodedata.normalize("NFC", text)
        if form in seen or names.find(form.encode("utf-8", "surrogateescape")) is not None:
            found.append(text)
        seen.add(form)
    if not found:
        return None
    count = f"{len(found)} names differ" if len(found) > 1 else "1 name differs"
    return f"{count} from another by Unicode normal form alone ({found[0]!r}): they are kept apart"
