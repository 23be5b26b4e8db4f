"""A folder for temporary files that no crash leaves behind for long, in space that is reserved beforehand.

The folder is locked (flock) for as long as the process that made it lives, however it ends; the next conversion that
uses the same place removes every such folder that nobody holds a lock on. So no process id has to be trusted, and a
folder of a living process, on another machine too where the file system shares locks, is never touched. A folder with
a manifest (``KEPT``) is one that a second run can take up: it stays until a conversion to the same output has begun.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from bigbfs.errors import DoesNotFitError, FileAccessError, UsageError
from bigbfs.formats.atomic import access_error
from bigbfs.sizes import format_size

PREFIX = ".bigbfs-spill-"
KEPT = ".kept.json"
"""What the names of manifests end with."""
Made = tuple[Any, dict[str, Any]]
"""What a graph was made of: its sources, as ``cache.identify_sources`` says, and the options that change it."""
RESERVE_STEP = 64 << 20
"""The reservation gives way in steps of this many bytes."""


class Scratch:
    """A temporary folder, gone with its content when the context ends; a signal leaves one that can be taken up.

    Parameters
    ----------
    parent
        Folder to make it in.
    reserve
        Bytes to hold for the files to come, where the file system can; they give way as :meth:`wrote` says.
    output
        What is made by them: where ``parent`` is only its folder, it is what errors name.

    Raises
    ------
    FileAccessError
        The folder cannot be made.
    DoesNotFitError
        There is no room for ``reserve`` bytes.
    """

    def __init__(self, parent: Path, reserve: int = 0, output: Path | None = None) -> None:
        remove_stale(parent)
        self._named = _named(parent, output)
        self.written = 0
        self._left = 0
        self._reserve = -1
        try:
            self.folder, self._lock = _locked_folder(parent)
        except OSError as error:
            raise self.error(error) from error
        try:
            if reserve:
                self._hold(reserve)
        except BaseException:
            self.close()
            raise

    @classmethod
    def taken(cls, folder: Path, output: Path | None = None) -> Scratch | None:
        """Return the folder of a process that has ended, with what is in it; None where that is not certain."""
        handle = _opened_alone(folder)
        if handle is None:
            return None
        scratch = cls.__new__(cls)
        scratch.folder, scratch._lock = folder, handle
        scratch._named = _named(folder.parent, output)
        scratch.written = scratch._left = 0
        scratch._reserve = -1
        return scratch

    def _hold(self, size: int) -> None:
        self._reserve = os.open(self.folder / "reserve", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        error = _allocate(self._reserve, size)
        if error in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            path, where = self._named
            raise DoesNotFitError(
                f"{path}: the conversion needs about {format_size(size)} of temporary space {where or 'there'} "
                f"({os.strerror(error)})",
                remedies=("free some", ("tmp", None)),
            )
        if error == 0:
            self._left = size

    def wrote(self, size: int) -> None:
        """Count ``size`` bytes about to be written, and let go of as many of the reserved ones."""
        before = self.written
        self.written += size
        if self._left and before // RESERVE_STEP != self.written // RESERVE_STEP:
            self._left = max(0, self._left - (self.written // RESERVE_STEP - before // RESERVE_STEP) * RESERVE_STEP)
            os.ftruncate(self._reserve, self._left)

    def release(self) -> None:
        """Let go of what is still reserved."""
        if self._reserve >= 0:
            os.ftruncate(self._reserve, 0)
            os.close(self._reserve)
            self._reserve = -1
            self._left = 0

    def error(self, error: OSError) -> FileAccessError:
        """Return the error for a temporary file that cannot be written or read."""
        path, where = self._named
        found = access_error(path, error, f"write temporary files {where}".rstrip())
        found.rename({"output": "tmp"})
        return found

    def close(self) -> None:
        """Remove the folder."""
        with suppress(OSError):
            self.release()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stopped = kind is not None and not issubclass(kind, Exception)  # by a signal
        if stopped and manifests(self.folder):
            os.close(self._lock)
        else:
            self.close()


def _named(parent: Path, output: Path | None) -> tuple[Path, str]:
    """Return the path that an error names, and where temporary files are, from there."""
    if output is not None and output.parent.resolve() == parent.resolve():
        return output, "beside it"
    return parent, ""


def _locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        try:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            if parent.is_dir():
                continue  # another process took the folder for a stale one before it was locked
            raise
        if _lock(handle) and _is(folder, handle):
            return folder, handle
        os.close(handle)


def _lock(handle: int) -> bool:
    """Take the lock; False where another process holds it. A file system without locks gives it to everybody."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def _is(path: Path, handle: int) -> bool:
    with suppress(OSError):
        return os.path.samestat(path.stat(), os.fstat(handle))
    return False


def remove_stale(parent: Path) -> int:
    """Remove the scratch folders in ``parent`` that no living process holds and none can take up; return how many."""
    return sum(_removed(folder) for folder in _folders(parent) if not manifests(folder))


def remove_kept(parent: Path, output: Path, made: Made | None = None) -> int:
    """Remove what runs to ``output`` have left to be taken up, those of living processes aside; return how many.

    ``made``: only what is of these sources and options, since others may still be taken up.
    """
    wanted: dict[str, Any] = {"output": str(output)}
    if made is not None:
        wanted |= json.loads(json.dumps({"sources": made[0], "options": made[1]}))
    return sum(_removed(folder) for folder in _folders(parent) if _is_kept_for(folder, wanted))


def remove_left(parent: Path, output: Path, made: Made | None = None) -> int:
    """Remove what was left to be taken up for ``output``, and stale folders.

    ``made``: the output is there, of these sources and options. None: it is made anew, and
    all that was left for it goes.
    """
    return remove_kept(parent, output, made) + remove_stale(parent)


def without_inputs(parent: Path) -> tuple[str, ...]:
    """Return, for people, a note for each folder in ``parent`` that is kept to be taken up, and whose inputs are gone.

    It is not removed: a disk that is not mounted has no files either.
    """
    notes = []
    for folder in _folders(parent):
        missing = _missing_input(folder)
        if missing is not None and _unheld(folder):
            with suppress(OSError):
                size = format_size(sum(path.stat().st_size for path in folder.iterdir()))
                notes.append(
                    f"{folder}: {size} of a killed run wait to be taken up, and its input {missing} is gone; unless it "
                    f"comes back, remove that folder"
                )
    return tuple(notes)


def _missing_input(folder: Path) -> str | None:
    """Return an input that a manifest in a scratch folder names, and that is not there."""
    for manifest in manifests(folder):
        with suppress(OSError, ValueError, KeyError, TypeError):
            for source in json.loads(manifest.read_bytes())["whose"]["sources"] or ():
                if not os.path.lexists(source["path"]):
                    return str(source["path"])
    return None


def _unheld(folder: Path) -> bool:
    """Return whether no living process holds a folder."""
    handle = _opened_alone(folder)
    if handle is None:
        return False
    os.close(handle)
    return True


def _is_kept_for(folder: Path, wanted: dict[str, Any]) -> bool:
    """Return whether a manifest in a scratch folder says so of its run."""
    for manifest in manifests(folder):
        with suppress(OSError, ValueError, KeyError, TypeError):
            whose = json.loads(manifest.read_bytes())["whose"]
            if all(whose[name] == value for name, value in wanted.items()):
                return True
    return False


def manifests(folder: Path) -> list[Path]:
    """Return the manifests in a scratch folder; none where another process has just removed it."""
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(KEPT))
    except OSError:
        return []


def _folders(parent: Path) -> list[Path]:
    return sorted(parent.glob(PREFIX + "*")) if parent.is_dir() else []


def _opened_alone(folder: Path) -> int | None:
    """Open a folder that nobody holds, and hold it; None where it is held, or the file system has no locks."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle
    except OSError:
        os.close(handle)
        return None


def _removed(folder: Path) -> bool:
    """Remove a folder that nobody holds; return whether it is gone."""
    handle = _opened_alone(folder)
    if handle is None:
        return False
    try:
        shutil.rmtree(folder)
        return True
    except OSError:
        return False  # not ours to remove
    finally:
        os.close(handle)


def _allocate(handle: int, size: int) -> int:
    """Allocate ``size`` bytes of a file; return 0 or the error number.

    The system call itself: the C library's posix_fallocate would write to every block where the file system cannot.
    """
    try:
        allocate = ctypes.CDLL(None, use_errno=True).fallocate
    except (OSError, AttributeError):
        return errno.EOPNOTSUPP
    allocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong]
    while allocate(handle, 0, 0, size) != 0:
        if ctypes.get_errno() != errno.EINTR:
            return ctypes.get_errno()
    return 0


def require_folder(folder: Path | None) -> None:
    """Refuse a folder that cannot take temporary files, also where the graph may turn out to need none.

    Raises
    ------
    UsageError
        It is none, or not to be written to.
    """
    if folder is None:
        return
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "there is no such folder"
        raise UsageError(f"{what}; name one that exists", about=(("tmp", folder),))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError("no permission to write there; name another folder", about=(("tmp", folder),))
