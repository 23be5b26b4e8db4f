"""``njit`` whose cache on disk belongs to one state of the whole package.

Numba keys a cached kernel by the file that it stands in, not by the functions of other files that it was compiled with:
after an edit there (an update, say) the old machine code would go on running. Here every file of the package is part of
the key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from bigbfs.jit import compiling
from bigbfs.jit.kernel_cache import KernelFiles

PACKAGE = Path(__file__).resolve().parent.parent


class _Listener(event.Listener):
    """Passes on to ``compiling`` what Numba says."""

    def on_start(self, event: Any) -> None:
        """A kernel is compiled."""
        compiling.begins()

    def on_end(self, event: Any) -> None:
        """It has been."""
        compiling.ends()


event.register("numba:compile", _Listener())


@cache
def package_stamp(package: Path = PACKAGE) -> str:
    """Return a hash of the names, sizes and modification times of the package's Python files (about 1 ms)."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        status = path.stat()
        digest.update(f"{path.relative_to(package)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _forgive(store: Any) -> None:
    """Let the cache of one kernel fail without a word: compile again instead of reading, go on instead of writing."""
    load, save = store.load_overload, store.save_overload

    def load_overload(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except Exception:  # damaged, by a machine that lost its power say; what pickle raises then has no limits
            with suppress(OSError):
                store.flush()
            return None

    def save_overload(*arguments: Any) -> None:
        with suppress(OSError):
            save(*arguments)

    store.load_overload, store.save_overload = load_overload, save_overload


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile as :func:`numba.njit` does; with ``cache=True`` the kernel is compiled again after any edit here.

    A cache is a convenience: where it is damaged or cannot be written (a full disk, a read-only home), kernels work all
    the same.
    """
    if function is None:
        return lambda decorated: njit(decorated, **options)
    try:
        compiled = numba.njit(**options)(function)
    except RuntimeError:  # no folder for the cache
        compiled = numba.njit(**options | {"cache": False})(function)
    store = getattr(compiled, "_cache", None)
    kept = getattr(store, "_cache_file", None)  # none without cache, or without compiler
    if store is not None and kept is not None:
        _forgive(store)
        state = (kept._version, kept._source_stamp, package_stamp())
        name = kept._index_name.removesuffix(".nbi")
        store._cache_file = KernelFiles(Path(kept._cache_path), name, state, kept._dump)
    return compiled
