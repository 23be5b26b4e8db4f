"""What a command imports: told on a terminal, and without a look for garbage, of which there is none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from bigbfs.report.progress import Progress


@contextmanager
def loading() -> Iterator[None]:
    """Import inside, which takes a second on a busy machine; from then on garbage is looked for, but not in that.

    In a process that looked for garbage before, as one that calls this from Python, nothing else is taken for none.
    """
    freeze = not gc.isenabled() or gc.get_freeze_count() > 0
    gc.disable()
    try:
        with Progress().step("start"):
            yield
    finally:
        if freeze:
            gc.freeze()
        gc.enable()
