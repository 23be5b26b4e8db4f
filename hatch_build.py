"""Ships the manual page in wheel and sdist where there is one: tools/make_dist.py makes it before it builds.

A build from a checkout (``pip install .``) has none, because making it needs the package and all that it imports.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "man/bigbfs.1"


class ManualPage(BuildHookInterface):
    """Adds the page to what is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the page, and where it goes."""
        page = Path(self.root, PAGE)
        if version == "editable" or not page.is_file():
            return
        if self.target_name == "sdist":
            build_data["force_include"][str(page)] = PAGE  # the wheel is built from the sdist
        else:
            build_data["shared_data"][str(page)] = "share/man/man1/bigbfs.1"
