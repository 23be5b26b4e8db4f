"""Which cases of a cross product ``make test`` runs, and which wait for ``make test-wide``.

The marker ``wide`` stands on the others: pytest by itself runs both, CI too. ``CORE`` is the part of the zoo that shows
the faults of a kernel wherever it is too dear to show it every graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

WIDE = pytest.mark.wide

CORE = (
    "empty", "path", "two-components", "two-hubs", "kronecker-dense", "wide-ids-hub", "directed-in-rows",
    "directed-multi",
)  # fmt: skip
"""No vertex; many levels; what is not reached; rows of several chunks; frontiers that meet; ids of 64 bits; edges one
way; edges more than once."""


CODECS = ("plain", "varint")


def in_turn(codec: str, *parts: str | int) -> bool:
    """Return whether ``codec`` is the one that a case of these names and numbers meets."""
    return CODECS[sum(part if isinstance(part, int) else len(part) for part in parts) % 2] == codec


def in_core(build: str, codec: str, name: str, *parts: str | int) -> bool:
    """Return whether ``make test`` runs graph ``name`` in a build that is not the plain one: a few, a codec in turn.

    Kernels are compiled for each width of ids and each codec, which takes the sanitizers longer than to run them: wide
    ids meet one codec under preemption, whose ids are the longest, and every build in ``test_kernels_rows.py``.
    """
    if "wide" in name:
        return name in CORE and (build, codec) == ("preempt", "varint")
    return name in CORE and in_turn(codec, build, name, *parts)


def split(cases: Iterable[Any], core: Callable[..., bool]) -> list[Any]:
    """Return ``cases`` for parametrize, each a tuple or one value; those for which ``core`` is not true are wide."""
    made = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        made.append(case if core(*values) else pytest.param(*values, marks=WIDE))
    return made


def damaged(here: Iterable[str]) -> list[Any]:
    """Return the builds ``here`` for a test of damaged input: what matters is where the kernel reads and stores."""
    return split(here, lambda build: build in ("plain", "asan"))


def racing(here: Iterable[str]) -> list[Any]:
    """Return the builds ``here`` for a test of threads in each other's way."""
    return split(here, lambda build: build != "asan")


def counted(here: Iterable[str]) -> list[Any]:
    """Return the builds ``here`` for a test of what is chosen, read or counted, which the build does not change."""
    return split(here, lambda build: build == "plain")
