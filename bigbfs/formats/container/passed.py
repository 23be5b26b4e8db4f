"""What ``bigbfs check`` says of a check that holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passed:
    """A check that holds: its name, and what was looked at."""

    name: str
    detail: str
