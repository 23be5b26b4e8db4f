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
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from bigbfs.errors import UsageError
from bigbfs.jit import compiling
from bigbfs.jit.forking import Parallel
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

_LAYERS = {"tbb": "tbbpool", "omp": "omppool", "workqueue": "workqueue"}
_KINDS = ("default", "safe", "forksafe", "threadsafe")


def require_threading_layer(layer: str) -> None:
    """Refuse what NUMBA_THREADING_LAYER asks for where it is not there; Numba would say so in its first parallel loop.

    Raises
    ------
    UsageError
        Names the variable, its value, and the way out.
    """
    if layer in _KINDS:
        return
    way_out = "; unset the variable" + (", or pip install tbb" if layer == "tbb" else "")
    if layer not in _LAYERS:
        known = ", ".join([*_KINDS, *_LAYERS])
        raise UsageError(f"NUMBA_THREADING_LAYER={layer}: no threading layer of Numba's: {known}{way_out}")
    try:
        import_module(f"numba.np.ufunc.{_LAYERS[layer]}")
    except ImportError:
        raise UsageError(f"NUMBA_THREADING_LAYER={layer}: that library is not installed{way_out}") from None


require_threading_layer(numba.config.THREADING_LAYER)  # type: ignore[attr-defined]


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
    return Parallel(compiled) if options.get("parallel") and hasattr(compiled, "py_func") else compiled
