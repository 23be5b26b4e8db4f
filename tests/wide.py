"""Which cases of a cross product ``make test`` runs, and which wait for ``make test-wide``.

The marker ``wide`` stands on the others: pytest by itself runs both, CI too. ``CORE`` is the part of the zoo that shows
the faults of a kernel wherever it is too dear to show it every graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

WIDE = pytest.mark.wide

CORE = (
    "empty", "path", "two-components", "two-hubs", "kronecker-dense", "wide-ids-hub", "directed-in-rows",
    "directed-multi",
)  # fmt: skip
"""No vertex; many levels; what is not reached; rows of several chunks; frontiers that meet; ids of 64 bits; edges one
way; edges more than once."""


CODECS = ("plain", "varint")


CODEC_OF = {"preempt": "varint", "asan": "varint", "tsan": "plain"}
"""The codec that ``make test`` runs in a build other than the plain one: it compiles longer than it runs. Bytes are
read in several steps where a value is encoded, which is what schedules and addresses are about; what the thread
sanitizer watches is not the rows."""


def in_turn(codec: str, *parts: str | int) -> bool:
    """Return whether ``codec`` is that of a build among ``parts``, else the one that these names and numbers meet."""
    for part in parts:
        if part in CODEC_OF:
            return codec == CODEC_OF[str(part)]
    return CODECS[sum(part if isinstance(part, int) else len(part) for part in parts) % 2] == codec


def in_core(build: str, codec: str, name: str, *parts: str | int) -> bool:
    """Return whether ``make test`` runs graph ``name`` in a build that is not the plain one: a few, in its codec.

    Kernels are compiled for each width of ids and each codec, which takes the sanitizers longer than to run them: wide
    ids, and both codecs, meet every build in ``test_kernels_rows.py``.
    """
    return name in CORE and "wide" not in name and in_turn(codec, build, name, *parts)


def once(build: str, codec: str, name: str, *parts: str | int) -> bool:
    """Return whether a case is one that there is at all: elsewhere than in the plain build, a codec for each.

    What the other codec would show there of the same graph and rule, the plain build shows, and every build on
    another graph. That codec is the build's where ``make test`` runs the graph.
    """
    return build == "plain" or (in_turn(codec, build) if name in CORE else in_turn(codec, name, *parts))


def met(build: str, name: str, number: int, rules: int, turns: Iterable[int]) -> bool:
    """Return whether graph ``name`` meets rule ``number`` of ``rules`` in ``build``: of each graph, those in ``turns``.

    Turn 0 is the graph's own rule, which differs from graph to graph and from build to build. Rules are independent of
    graphs: a few pairs of each show what all would.
    """
    return (number - sum(name.encode()) - len(build)) % rules in turns


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


def damaged_ids(here: Iterable[str]) -> list[Any]:
    """Return (build, dtype of ids) for a test of damaged input in each width of ids."""
    every = [(build, ids) for build in here for ids in (np.uint32, np.uint64)]
    return split(every, lambda build, ids: build == "plain" or (build == "asan" and ids is np.uint32))


def racing(here: Iterable[str]) -> list[Any]:
    """Return the builds ``here`` for a test of threads in each other's way."""
    return split(here, lambda build: build != "asan")


def counted(here: Iterable[str]) -> list[Any]:
    """Return the builds ``here`` for a test of what is chosen, read or counted, which the build does not change."""
    return split(here, lambda build: build == "plain")


def on_hosts(here: Iterable[str]) -> list[str]:
    """Return the builds ``here`` for a test of what hosts count, choose or find wrong: the plain one, if any.

    Kernels run there as in other tests, which the sanitizers watch; it is what becomes of their results that differs.
    """
    return [build for build in here if build == "plain"]


def in_bounds(here: Iterable[str]) -> list[str]:
    """Return the builds ``here`` for a test of where kernels read, given what they must not: plain and ``asan``."""
    return [build for build in here if build in ("plain", "asan")]


def covered(cases: list[dict[str, Any]], together: Iterable[str] = ()) -> set[int]:
    """Return the places of those among ``cases``, parameters and values, that show each value of each parameter.

    ``together`` has parameters of which each combination that there is shall be shown: ``"build+codec"``. Of cases that
    show equally much that is new, the one whose values have been shown least, so that values meet in turn.
    """
    parts = [names.split("+") for names in together]
    parts += [[name] for name in (cases[0] if cases else ())]
    shown = [{(*part, *(_told(case[name]) for name in part)) for part in parts} for case in cases]
    count: dict[Any, int] = {}
    missing, left, chosen = set().union(*shown), dict(enumerate(shown)), set()
    while missing:
        best = max(left, key=lambda place: (len(left[place] & missing), -sum(count.get(it, 0) for it in left[place])))
        for it in left.pop(best):
            count[it] = count.get(it, 0) + 1
            missing.discard(it)
        chosen.add(best)
    return chosen


def _told(value: Any) -> Any:
    """Return what tells a value of a parameter from others."""
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return (type(value), value)


def mark_covered(items: Iterable[Any]) -> None:
    """Mark as wide what ``pytest.mark.covered`` leaves out of each test function: see :func:`covered`."""
    groups: dict[str, list[Any]] = {}
    for item in items:
        if item.get_closest_marker("covered") and not item.get_closest_marker("wide"):
            groups.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in groups.values():
        chosen = covered([item.callspec.params for item in group], group[0].get_closest_marker("covered").args)
        for place, item in enumerate(group):
            if place not in chosen:
                item.add_marker(WIDE)


def deal(names: Iterable[str], shares: int) -> list[int]:
    """Return the share of each test, from 1: those of one function whose first two parameters agree go together.

    These are a build and a codec, or a build and a strategy, so that kernels are compiled in one share only. Groups are
    dealt in turn, as they come.
    """
    groups: dict[str, int] = {}
    return [1 + groups.setdefault(_group(name), len(groups)) % shares for name in names]


def _group(name: str) -> str:
    function, _, parameters = name.partition("[")
    return f"{function}[{'-'.join(parameters.split('-')[:2])}"
