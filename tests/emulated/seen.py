"""A pytest plug-in (``-p emulated.seen``): which kernels each test launched, and how it ended; chosen tests in order.

``SIMT_SEEN`` names a file of JSON lines. A test writes one as it begins (``test``, its id, and ``outcome`` "begun"),
and one as it ends: ``outcome`` (passed, failed, skipped), ``kernels`` (the .cu files whose kernels it launched),
``seconds``, and ``message`` where it failed; the run itself ends with ``{"exit": status}``. What has ended in that file
before the run is not run again: a process that a sanitizer ended without a word is so continued by the next one.
``SIMT_ORDER`` names a file of JSON: ``first`` (test ids of the plain build, in their order) and ``never``; tests that
neither names, which are new to who wrote it, come before all others. tools/mutants.py asks for both.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emulated import loader
from emulated.builds import KERNELS, REPOSITORY

SEEN_VARIABLE = "SIMT_SEEN"
ORDER_VARIABLE = "SIMT_ORDER"
REPORTS = pytest.StashKey[list[Any]]()


def read(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file; the last one may have been cut off."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def _write(**row: Any) -> None:
    path = os.environ.get(SEEN_VARIABLE)
    if path:
        with Path(path).open("a") as stream:
            stream.write(json.dumps(row) + "\n")


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what is to be left out, and put the rest in order."""
    seen, order = os.environ.get(SEEN_VARIABLE), os.environ.get(ORDER_VARIABLE)
    asked = json.loads(Path(order).read_text()) if order else {"first": [], "never": []}
    rows = read(Path(seen)) if seen else []
    never, place = set(asked["never"]), {test: number for number, test in enumerate(asked["first"])}
    ended = {row["test"] for row in rows if row.get("outcome", "begun") != "begun"}
    out = [item for item in items if item.nodeid in ended or in_plain(item.nodeid) in never]
    config.hook.pytest_deselected(items=out)
    gone = set(out)
    kept = [item for item in items if item not in gone]
    items[:] = sorted(kept, key=lambda item: place.get(in_plain(item.nodeid), -1))


def in_plain(test: str) -> str:
    """Return the id that the same test has in the plain build."""
    return re.sub(r"(?<=[\[-])(preempt|asan|tsan)(?=[]-])", "plain", test)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:
    """Tell that a test begins, and how it ended."""
    loader.launched.clear()
    item.stash[REPORTS] = []
    _write(test=item.nodeid, outcome="begun")
    result = yield
    _write(**_row(item.nodeid, item.stash[REPORTS]))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any) -> Iterator[None]:
    """Keep the reports of a test."""
    report = yield
    item.stash[REPORTS].append(report)
    return report


def pytest_sessionfinish(exitstatus: int) -> None:
    """Tell that the run has come to its end."""
    _write(exit=int(exitstatus))


def _row(test: str, reports: list[Any]) -> dict[str, Any]:
    ends = {report.outcome for report in reports}
    row = {
        "test": test,
        "outcome": next(outcome for outcome in ("failed", "skipped", "passed") if outcome in ends),
        "kernels": sorted({_name(source) for source in loader.launched}),
        "seconds": round(sum(report.duration for report in reports), 3),
    }
    if row["outcome"] == "failed":
        text = "\n".join(str(report.longrepr) for report in reports if report.failed)
        row["message"] = "\n".join(line for line in text.splitlines() if line.startswith("E  "))[:4000] or text[-4000:]
    return row


def _name(source: Path) -> str:
    """Return how a kernel is told in any checkout: its path below the package, or below the repository."""
    return str(source.relative_to(KERNELS if source.is_relative_to(KERNELS) else REPOSITORY))
