"""Writing: all or nothing, whatever goes wrong, with the permissions that the user asked for."""

import os
import shutil
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
import zoo

from bigbfs.errors import FileAccessError
from bigbfs.formats.atomic import access_error, free_for, replacing, require_writable
from bigbfs.graph.graph import Graph

OLD = b"what was there before"


def write(path, content=b"new", *, fail=None):
    with replacing(path) as stream:
        stream.write(content)
        if fail:
            raise fail


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "graph.csrbin"
    path.write_bytes(OLD)
    return path


def untouched(path):
    return path.read_bytes() == OLD and [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_file_appears_whole(target):
    with replacing(target) as stream:
        stream.write(b"new")
        stream.flush()
        assert target.read_bytes() == OLD
    assert target.read_bytes() == b"new" and len(list(target.parent.iterdir())) == 1


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(143), MemoryError()])
def test_an_error_in_the_middle_leaves_the_old_file(target, error):
    with pytest.raises(type(error)):
        write(target, fail=error)
    assert untouched(target)


def test_an_operating_system_error_becomes_ours(target):
    with pytest.raises(FileAccessError, match=r"graph\.csrbin: cannot write: No space left on device; free some space"):
        write(target, fail=OSError(28, "x"))
    assert untouched(target)


def test_folder_missing_folder_and_name_too_long(tmp_path):
    for path, says in [
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "x", "none does not exist; create it first"),
        (tmp_path / ("x" * 300), "File name too long"),
    ]:
        with pytest.raises(FileAccessError, match=says):
            write(path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_should_be(target):
    with pytest.raises(FileAccessError, match=r"the folder .* is no folder"):
        write(target / "x")
    assert untouched(target)


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002, 0o000])
def test_the_umask_is_respected(target, umask):
    before = os.umask(umask)
    try:
        write(target)
    finally:
        assert os.umask(before) == umask
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask


def save_in_subprocess(path, limit):
    """Save a graph of about 500 kB where files may have at most ``limit`` bytes."""
    code = (
        "import resource, signal, sys; import numpy as np\n"
        "from bigbfs.graph.adjacency import PlainAdjacency; from bigbfs.errors import FileAccessError\n"
        "from bigbfs.graph import Graph\n"
        "v = np.arange(40_001, dtype=np.uint64)\n"
        "graph = Graph(PlainAdjacency(v, v[:-1].astype(np.uint32)))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "try:\n"
        f"    graph.save({str(path)!r})\n"
        "except FileAccessError as error:\n"
        "    sys.exit(str(error))\n"
    )
    whole = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}  # else modules that are imported on the way are cut off, too
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=whole)


@pytest.mark.parametrize("limit", [0, 5000, 200_000])
def test_a_graph_that_does_not_fit_on_the_disk(tmp_path, limit):
    path = tmp_path / "graph.csrbin"
    path.write_bytes(OLD)
    done = save_in_subprocess(path, limit)
    assert done.returncode == 1, done.stderr
    assert "graph.csrbin: cannot write" in done.stderr and "write elsewhere" in done.stderr
    assert untouched(path)


def test_disk_full_on_a_small_file_system(tmp_path):
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(mount)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("no permission to mount a small file system")
    try:
        path = mount / "graph.csrbin"
        path.write_bytes(OLD)
        graph = zoo.build(20_000, (range(20_000), range(20_000)), keep=True)
        with pytest.raises(FileAccessError, match="No space left on device; free some space"):
            graph.save(path)
        assert untouched(path)
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_a_folder_without_write_permission(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):
        # the superuser passes permission bits by; an immutable folder or a read-only mount stops even that one
        command = ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", str(folder)]
        try:
            mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            mounted = False
        if not mounted:
            pytest.skip("running as the superuser, who may write anywhere, and mounting is not allowed")
        try:
            with pytest.raises(
                FileAccessError, match=r"Read-only file system; choose another path \((path|output)=\.\.\.\)"
            ):
                write(folder / "g")
        finally:
            subprocess.run(["umount", str(folder)], check=True)
        return
    with pytest.raises(
        FileAccessError, match=r"no permission to write there; choose another path \((path|output)=\.\.\.\)"
    ):
        write(folder / "g")


def test_readers_see_one_of_the_two_graphs_never_a_mixture(tmp_path):
    path = tmp_path / "g.csrbin"
    graphs = [zoo.build(n, (range(n - 1), range(1, n))) for n in (10, 5000)]
    graphs[0].save(path)
    stop = threading.Event()

    def rewrite():
        while not stop.is_set():
            for graph in graphs:
                graph.save(path)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            with Graph.open(path) as graph:
                assert graph.n in (10, 5000) and graph.m == 2 * (graph.n - 1)
                assert int(graph.adjacency.indices[-1]) == graph.n - 2
    finally:
        stop.set()
        writer.join()


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(FileAccessError, match="pipe: cannot write: it is a device or a pipe; name a file"):
        write(path)
    assert path.is_fifo() and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("action", "says"), [("open", "check the path"), ("read", "check the path"), ("write", "the folder does not exist")]
)
def test_advice_fits_what_was_tried(action, says):
    assert says in str(access_error("missing/x", FileNotFoundError(2, ""), action))


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "file")
    with replacing(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "file").read_bytes() == b"new"
    assert len(list((tmp_path / "far").iterdir())) == 1


def test_what_is_looked_at_is_where_a_link_leads(tmp_path, monkeypatch):
    far = tmp_path / "far"
    far.mkdir()
    (tmp_path / "link").symlink_to("far/file")  # which is not there yet
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free={far: 7, tmp_path: 8}[folder]))
    assert [free_for(tmp_path / name) for name in ("link", "file", "far/file")] == [7, 8, 7]
    require_writable(tmp_path / "link")
    far.rename(tmp_path / "gone")
    with pytest.raises(FileAccessError, match=r"link: cannot write: the folder .*far does not exist; create it first"):
        require_writable(tmp_path / "link")


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    for tried in (require_writable, write):
        with pytest.raises(FileAccessError, match=r"one: cannot write: .*; its symbolic links go round in a circle"):
            tried(tmp_path / "one")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]
