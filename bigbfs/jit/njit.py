"""``njit`` whose cache on disk belongs to one state of the whole package, and whose kernels start without Numba.

Numba keys a cached kernel by the file that it stands in, not by the functions of other files that it was compiled with:
after an edit there (an update, say) the old machine code would go on running. Here every file of the package is part of
the key.

A kernel whose machine code lies in the cache is called without importing Numba (:mod:`bigbfs.jit.loaded`); Numba is
imported when one has to be compiled, and then compiles it as ever. What a kernel's module takes from Numba it names by
:mod:`bigbfs.jit.later`.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from bigbfs.jit import compiling, settings
from bigbfs.jit.kernel_cache import KernelFiles
from bigbfs.jit.kinds import UnknownKind, kind_of, written
from bigbfs.jit.later import real, translated

__all__ = ["Alike", "Kernel", "njit", "package_stamp"]

PACKAGE = Path(__file__).resolve().parent.parent


@cache
def package_stamp(package: Path = PACKAGE) -> str:
    """Return a hash of the names, sizes and modification times of the package's Python files (about 2 ms)."""
    found = []
    folders = [str(package)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                elif entry.is_dir() and entry.name != "__pycache__":
                    folders.append(entry.path)
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()


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


def _stamp(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return what tells the sources of ``function`` from others: the package's, and size and time of its own file."""
    with suppress(OSError):
        status = Path(function.__code__.co_filename).stat()
        return package_stamp(), status.st_size, status.st_mtime_ns
    return (package_stamp(),)


def _dispatcher(
    function: Callable[..., Any], options: dict[str, Any], stamp: tuple[Any, ...]
) -> tuple[Any, KernelFiles | None]:
    """Return what Numba makes of a kernel, and its cache; ``stamp``: of the sources that it was made of."""
    from bigbfs.jit import compiler
    from bigbfs.jit.claims import ClaimedFiles

    numba = compiler.numba()
    copy, given = translated(function), {name: real(value) for name, value in options.items()}
    part = _only_for_kernels(function, options)
    # Who calls a kernel of kernels holds every array. Each access to one in a tuple would count it, atomically, and the
    # threads of a team would hand on the line of the count all the time. Said of the others too: they would inherit it
    # from a kernel that calls them.
    given["_nrt"] = not part or bool(given.pop("allocates", False))
    given["no_cpython_wrapper"] = part  # a fifth of all compiling: arguments taken from Python and counted
    given["no_cfunc_wrapper"] = True  # nobody calls it from C
    from bigbfs.jit.pipelines import pipeline  # numba first: it says that it is imported

    given["pipeline_class"] = pipeline(part=part, apart=given.pop("apart", False))
    try:
        compiled = numba.njit(**given)(copy)
    except RuntimeError:  # no folder for the cache
        compiled = numba.njit(**given | {"cache": False})(copy)
    store = getattr(compiled, "_cache", None)
    kept = getattr(store, "_cache_file", None)  # none without cache
    files = None
    if store is not None and kept is not None:
        _forgive(store)
        name = kept._index_name.removesuffix(".nbi")
        place = (sys.version, numba.__file__, str(PACKAGE))  # the processor is in Numba's own key
        state = (kept._version, *stamp)
        files = store._cache_file = ClaimedFiles(Path(kept._cache_path), name, place, state, kept._dump)
        compiled.compile = files.alone(compiled.compile, numba.core.compiler_lock.global_compiler_lock)
    return compiled, files


def _only_for_kernels(function: Callable[..., Any], options: dict[str, Any]) -> bool:
    """Tell whether other kernels alone call it: those of this package that Python calls are cached."""
    return not options.get("cache") and function.__module__.startswith("bigbfs.")


class Kernel:
    """A function that is compiled for the types of its arguments, or loaded, when it is first called with such.

    Parameters
    ----------
    function
        Python, in what Numba compiles.
    options
        Of :func:`numba.njit`.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func, self._options = function, options
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__doc__, self.__module__, self.__wrapped__ = function.__doc__, function.__module__, function
        # as of now: what is compiled later is made of what has been imported, whatever lies on the disk by then
        self._stamp = _stamp(function) if options.get("cache") else ()
        self._made: tuple[Any, KernelFiles | None] | None = None
        self._functions: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run it."""
        try:
            kinds = tuple([kind_of(argument) for argument in arguments])
            found = self._functions.get(kinds)
        except UnknownKind:
            return self.real()(*arguments, **named)
        if found is None or named:
            return self._first(kinds, arguments, named)
        return found(*arguments)

    def found(self, *arguments: Any) -> Callable[..., Any] | None:
        """Return what runs for arguments like these, after the first call with such; None where only Numba can tell."""
        try:
            return self._functions.get(tuple(map(kind_of, arguments)))
        except UnknownKind:
            return None

    def _first(self, kinds: tuple[Any, ...], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Run it for kinds of arguments that it has not been called with."""
        if _only_for_kernels(self.py_func, self._options):
            raise TypeError(f"{self.__module__}.{self.__qualname__} is called by kernels; here, call its py_func")
        count = self.py_func.__code__.co_argcount
        if named or len(arguments) != count or not self._options.get("cache") or not settings.without_numba():
            return self.real()(*arguments, **named)
        if compiling.used is not None:
            compiling.used.append((self.__module__, self.__name__, tuple(map(written, kinds))))
        found = self._load(kinds)
        if found is None:
            from bigbfs.jit import ahead

            compiling.announce()
            ahead.missed(self, kinds)
            found = self._load(kinds)
        if found is not None:
            return found(*arguments)
        compiled = self.real()
        result = compiled(*arguments)
        self._functions[kinds] = compiled
        self._keep(kinds, arguments)
        return result

    def _load(self, kinds: tuple[Any, ...]) -> Any:
        """Return the function for these kinds if it has been loaded or can be."""
        with _loading():
            found = self._functions.get(kinds) or self._loaded(kinds)
            if found is not None:
                self._functions[kinds] = found
        return found

    def prepare(self, arguments: tuple[Any, ...]) -> None:
        """Compile it for arguments like these and keep the machine code; do not run it."""
        compiled = self.real()
        compiled.compile(tuple(compiled.typeof_pyval(argument) for argument in arguments))
        self._keep(tuple(map(kind_of, arguments)), arguments)

    def path_of(self, kinds: tuple[Any, ...]) -> Path | None:
        """Return where its machine code lies for these kinds, as they are written, once it has been made."""
        files = self._files() if settings.without_numba() else None
        return None if files is None else files.path(kinds)

    def _loaded(self, kinds: tuple[Any, ...]) -> Any:
        """Return the function in the cache for these kinds, or None."""
        from bigbfs.jit import loaded

        with suppress(Exception):  # a cache is a convenience: Numba compiles what cannot be loaded
            files = self._files()
            code = None if files is None else files.load(tuple(map(written, kinds)))
            if code is not None:
                return loaded.function_of(code, self.__name__, self.__module__)
        return None

    def _keep(self, kinds: tuple[Any, ...], arguments: tuple[Any, ...]) -> None:
        """Put the machine code that Numba has made or loaded for these kinds into the cache of what needs no Numba."""
        from bigbfs.jit import loaded

        if self._made is None:
            return
        compiled, stored = self._made
        if stored is None:
            return
        wanted = tuple(compiled.typeof_pyval(argument) for argument in arguments)
        data = next((data for data in stored.passed if data[3].args == wanted), None)
        stored.passed.clear()
        with suppress(Exception):  # the kernel has run
            code = None if data is None else loaded.code_of(data)
            files = self._files()
            if code is not None and files is not None:
                files.save(tuple(map(written, kinds)), code)

    def _files(self) -> KernelFiles | None:
        """Return its part of the cache of what needs no Numba."""
        from bigbfs.jit import loaded

        code = self.py_func.__code__
        source = Path(code.co_filename)
        folder = _folder(source)
        if folder is None:
            return None
        state = (loaded.stamps(), *self._stamp, sorted(self._options.items()))
        name = f"{self.__module__}.{self.__qualname__}-{code.co_firstlineno}.loaded"
        return KernelFiles(folder, name, (loaded.place(), str(PACKAGE)), state, pickle.dumps)

    def real(self) -> Any:
        """Return what Numba makes of it."""
        if self._made is None:
            with _loading():
                if self._made is None:
                    self._made = _dispatcher(self.py_func, self._options, self._stamp)
        return self._made[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "py_func" not in vars(self):  # while it is being unpickled
            raise AttributeError(name)
        return getattr(self.real(), name)


class Alike:
    """A kernel for calls whose arguments are always of the same kinds: these are looked at once.

    To look at the kinds of two dozen arrays takes longer than a level of a small graph.
    """

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._kernel = kernel
        self._found: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Run it."""
        if self._found is not None:
            return self._found(*arguments)
        if not isinstance(self._kernel, Kernel):
            return self._kernel(*arguments)
        self._found = self._kernel.found(*arguments)
        return (self._found or self._kernel)(*arguments)


def _loading() -> Any:
    from bigbfs.jit import loaded

    return loaded.LOCK


def keeps() -> bool:
    """Return whether what is compiled can be kept for the next run."""
    return _folder(PACKAGE / "jit" / "njit.py") is not None


@cache
def _folder(source: Path) -> Path | None:
    """Return the folder for the machine code of kernels in ``source``, made if need be; None: there is none."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return _usable(Path(named) / "loaded")
    found = _usable(source.parent / "__pycache__")
    if found is None:
        with suppress(RuntimeError):  # no home
            kept = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            found = _usable(Path(kept) / "bigbfs" / "kernels")
    return found


def _usable(folder: Path) -> Path | None:
    """Return ``folder``, made if need be, where nobody else can put what this process would run; else None."""
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        others = status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o002
        if not others and os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile as :func:`numba.njit` does; with ``cache=True`` the kernel is compiled again after any edit here.

    A cache is a convenience: where it is damaged or cannot be written (a full disk, a read-only home), kernels work all
    the same. A kernel without ``cache=True``, which kernels alone call, returns no array, and needs ``allocates=True``
    to make one, or to call what does (sorting).
    """
    if function is None:
        return lambda decorated: njit(decorated, **options)
    if settings.interpreted():
        return function
    return Kernel(function, options)
