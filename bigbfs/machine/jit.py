"""``njit`` whose cache on disk belongs to one state of the whole package.

Numba keys a cached kernel by the file that it stands in, not by the functions of other files that it was compiled with:
after an edit there (an update, say) the old machine code would go on running. Here every file of the package is part of
the key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).resolve().parent.parent


@cache
def package_stamp(package: Path = PACKAGE) -> str:
    """Return a hash of the names, sizes and modification times of the package's Python files (about 1 ms)."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        status = path.stat()
        digest.update(f"{path.relative_to(package)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile as :func:`numba.njit` does; with ``cache=True`` the kernel is compiled again after any edit here."""
    if function is None:
        return lambda decorated: njit(decorated, **options)
    compiled = numba.njit(**options)(function)
    kept = getattr(getattr(compiled, "_cache", None), "_cache_file", None)  # none without cache, or without compiler
    if kept is not None:
        kept._source_stamp = (kept._source_stamp, package_stamp())
    return compiled
