"""What a command imports: told on a terminal, and without a look for garbage, of which there is none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from bigbfs.report.progress import Progress

OURS = "bigbfs.cli.loading.ours"
"""Key in what the contexts of a command share: whether nobody looked for garbage before it."""


@contextmanager
def loading() -> Iterator[None]:
    """Import inside, which takes a second on a busy machine; from then on garbage is looked for, but not in that.

    In a process that looked for garbage before, as one that calls this from Python, nothing else is taken for none,
    whatever it has frozen itself.
    """
    context = click.get_current_context(silent=True)
    shared: dict[str, Any] = {} if context is None else context.meta
    freeze = shared.setdefault(OURS, not gc.isenabled())
    gc.disable()
    try:
        with Progress().step("start"):
            yield
    finally:
        if freeze:
            gc.freeze()
        gc.enable()
