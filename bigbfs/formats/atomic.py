"""Write a file so that a reader never sees half of it: a temporary name in the target folder, fsync, rename.

The temporary file is locked (flock) while its process lives. A process that is killed leaves it behind, unlocked: the
next one that writes the same target removes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from bigbfs.errors import FileAccessError, RemedyLike, of_file
from bigbfs.formats.mark import set_mark

_MODE = "change its mode or run as its owner"
_READ_ADVICE = {
    errno.ENOENT: "check the path (a pattern such as *.txt is the shell's to expand: no quotes around it)",
    errno.EACCES: f"you may not read it; {_MODE}",
    errno.EISDIR: "it is a folder; name the files in it",
    errno.ELOOP: "its symbolic links go round in a circle",
}
_WRITE_ADVICE: dict[int, tuple[RemedyLike, ...]] = {
    errno.ENOSPC: ("free some space", ("output", None, "write to another disk ({})")),
    errno.EDQUOT: ("free some of your quota", ("output", None, "write to another disk ({})")),
    errno.EFBIG: (
        ("output", None, "the file system or a limit (ulimit -f) allows no larger file; write elsewhere ({})"),
    ),
    errno.EACCES: (("output", None, "no permission to write there; choose another path ({})"),),
    errno.EPERM: (("output", None, "no permission to write there; choose another path ({})"),),
    errno.EROFS: (("output", None, "choose another path ({})"),),
    errno.ENOENT: ("the folder does not exist; create it first",),
    errno.EISDIR: ("it is a folder; name a file in it",),
    errno.ELOOP: ("its symbolic links go round in a circle",),
}


def access_error(path: str | Path, error: OSError, action: str) -> FileAccessError:
    """Return the FileAccessError that says what could not be done with ``path``, why, and the way out.

    ``action`` is a verb; "read", "open" and "map" get the advice for readers. In that for writers the argument that
    names the path is called ``output``: where it has another name, see :func:`bigbfs.errors.naming`.
    """
    reason = os.strerror(error.errno) if error.errno else str(error)
    if action in ("read", "open", "map"):
        closed = _closed_folder(Path(path)) if error.errno == errno.EACCES else None
        advice = _READ_ADVICE.get(error.errno or 0) if closed is None else f"{closed}; {_MODE}"
        remedies: tuple[RemedyLike, ...] = () if advice is None else (advice,)
    else:
        remedies = _WRITE_ADVICE.get(error.errno or 0, ())
        if error.errno == errno.ENOENT and Path(path).parent.is_dir():
            reason = "the file system there takes no new file"  # that of /proc, say
            remedies = (("output", None, "choose another path ({})"),)
    return of_file(error.errno)(f"{path}: cannot {action}: {reason}", remedies=remedies)


def behind_link(path: Path) -> Path:
    """Return what is replaced where ``path`` is written: of a symbolic link, the file that it points to.

    Raises
    ------
    FileAccessError
        Its links go round in a circle.
    """
    if not path.is_symlink():
        return path
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise access_error(path, OSError(errno.ELOOP, ""), "write")
    return found


def free_for(path: Path) -> int:
    """Return the bytes that are free where ``path`` is written, on the disk of the file that it is or points to.

    Raises
    ------
    OSError
        Its folder is not there.
    """
    return shutil.disk_usage(behind_link(path).parent).free


def _closed_folder(path: Path) -> str | None:
    """Say which folder on the way to ``path`` may not be entered; None: it is the file itself that is closed."""
    closed = (folder for folder in reversed(path.parents) if not os.access(folder, os.X_OK))
    return next((f"you may not enter the folder {folder}" for folder in closed), None)


def require_writable(target: Path) -> None:
    """Refuse a file that cannot be written, now and not after an hour of work.

    Raises
    ------
    FileAccessError
        Its folder, that of the file that a link points to, does not exist or takes no file, or it is itself a folder, a
        device or a pipe, or a link of a circle of them.
    """
    try:
        folder = behind_link(target).parent
        is_folder = target.is_dir()
    except FileAccessError:
        raise
    except OSError as error:  # a folder on the way to it is closed
        raise access_error(target, error, "write") from error
    if is_folder:
        raise FileAccessError(f"{target}: cannot write: it is a folder; name a file in it")
    if target.exists() and not target.is_file():
        raise FileAccessError(f"{target}: cannot write: it is a device or a pipe; name a file")
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "does not exist; create it first"
        raise FileAccessError(f"{target}: cannot write: the folder {folder} {what}")
    if not os.access(folder, os.W_OK | os.X_OK):
        read_only = bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
        raise access_error(target, OSError(errno.EROFS if read_only else errno.EACCES, ""), "write")
    if not os.statvfs(folder).f_blocks:  # /proc, /sys: they let root in, and take no file
        try:
            handle, name = _temporary(behind_link(target))
        except OSError as error:
            raise access_error(target, error, "write") from error
        os.close(handle)
        Path(name).unlink()


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``; on a clean exit it is synced and renamed to ``path``.

    On any error or interrupt the temporary file is removed and an existing ``path`` stays as it was. Where ``path`` is
    a symbolic link, the file that it points to is replaced, on its own disk.

    Raises
    ------
    FileAccessError
        The file cannot be created, written, synced or renamed (disk full, no permission, a folder, ...), or is a
        device or a pipe, which renaming would replace by a file.
    """
    target = Path(path)
    temporary = None
    try:
        require_writable(target)
        target = behind_link(target)
        remove_stale(target)
        handle, temporary = _temporary(target)
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            publish(stream.fileno(), Path(temporary), target)  # before it is closed, which unlocks it
            temporary = None
    except FileAccessError:
        raise
    except OSError as error:
        raise access_error(target, error, "write") from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()


def publish(handle: int, temporary: Path, target: Path) -> None:
    """Give the open file ``temporary``, which is complete, its name, such that it has that after a crash too.

    Raises
    ------
    OSError
        It cannot be synced or renamed.
    """
    umask = os.umask(0)
    os.umask(umask)
    os.fchmod(handle, 0o666 & ~umask)  # mkstemp makes files private; the result is no secret
    os.fsync(handle)
    set_mark(handle)
    temporary.replace(target)
    _sync_folder(target.parent)


def _temporary(target: Path) -> tuple[int, str]:
    """Create and lock a temporary file for ``target``; return its descriptor and name."""
    while True:
        import tempfile  # with it comes what reads no graph

        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        with suppress(OSError):  # a file system without locks: then nobody takes it for stale either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # else another process took it for stale between the two calls
            return handle, name
        os.close(handle)


def remove_stale(target: Path) -> None:
    """Remove the temporary files of ``target`` that killed processes left behind."""
    pattern = re.compile(re.escape(f".{target.name}.") + r"[a-z0-9_]{8}\.tmp")
    try:
        left = [path for path in target.parent.iterdir() if pattern.fullmatch(path.name)]
    except OSError:
        return  # no folder, or none to look into
    for path in left:
        with suppress(OSError):
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Make the rename durable; file systems that cannot sync a folder are left alone."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
