"""The rooms: who may import whom, what the light paths must not load, and how fast help is."""

import json
import os
import resource
import subprocess
import sys

import check_imports
import numba
import pytest
from wide import split


@pytest.mark.wide
def test_no_import_points_upwards_or_in_a_circle():
    assert check_imports.objections() == []


def package_of(folder, files):
    """Return a package in ``folder`` with these files: path -> text."""
    for place, text in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("place", "text", "found"),
    [
        ("graph/bad.py", "from bigbfs.formats import opening\n", "graph/bad.py:1: graph must not import formats"),
        (
            "formats/readers/bad.py",
            "def f():\n    from bigbfs.engines.cpu.engine import CpuEngine\n",
            "bad.py:2: formats.readers must not import engines.cpu",
        ),
        (
            "engines/cpu/bad.py",
            "from bigbfs.engines.gpu.runtime import device\n",
            "bad.py:1: engines.cpu must not import engines.gpu.runtime",
        ),
        ("engines/cpu/bad.py", "import bigbfs.api\n", "bad.py:1: engines.cpu must not import api"),
        ("engines/cpu/bad.py", "import cupy as cp\n", "bad.py:1: only engines/gpu may import cupy"),
        ("algorithms/new/bad.py", "", "bad.py: algorithms.new.bad is in no room of tools/check_imports.py"),
        ("algorithms/bfs/gpu/bad.py", "import cupyx.scipy\n", "bad.py:1: only engines/gpu may import cupy"),
        ("cli/bad.py", "def f():\n    from cupy.cuda import runtime\n", "bad.py:2: only engines/gpu may import cupy"),
        ("engines/cpu/bad.py", "from ..api import bfs\n", "bad.py:1: engines.cpu must not import (relative"),
        ("engines/cpu/bad.py", "from . import rows\n", "bad.py:1: engines.cpu must not import (relative"),
        ("mystery/bad.py", "x = 1\n", "mystery.bad is in no room"),
    ],
)
def test_a_wrong_import_is_named(tmp_path, place, text, found):
    (line,) = check_imports.objections(package_of(tmp_path, {place: text}))
    assert found in line


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("formats/good.py", "from bigbfs.graph.rows import Rows\nimport bigbfs.errors\nimport numpy\n"),
        ("formats/good.py", "from bigbfs.formats.readers.text import TextReader\n"),
        ("engines/gpu/runtime/good.py", "import cupy\n"),
        ("cli/good.py", "import bigbfs\nfrom bigbfs.api import bfs\n"),
    ],
)
def test_an_import_downwards_or_at_home_is_fine(tmp_path, place, text):
    assert check_imports.objections(package_of(tmp_path, {place: text})) == []


def test_a_circle_inside_a_folder_is_named(tmp_path):
    files = {
        "graph/rows.py": "from bigbfs.graph.codec import decode\n",
        "graph/codec.py": "def f():\n    from bigbfs.graph import views\n",
        "graph/views.py": "import bigbfs.graph.rows\n",
        "graph/flags.py": "from bigbfs.graph import rows\n",
    }
    found = check_imports.objections(package_of(tmp_path, files))
    assert found == ["import circle: graph.codec <-> graph.rows <-> graph.views"]


def test_an_import_for_types_closes_no_circle(tmp_path):
    files = {
        "graph/rows.py": "from bigbfs.graph import codec\n",
        "graph/codec.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bigbfs.graph import rows\n",
    }
    assert check_imports.objections(package_of(tmp_path, files)) == []
    files["graph/codec.py"] += "else:\n    from bigbfs.graph import rows\n"
    found = check_imports.objections(package_of(tmp_path, files))
    assert found == ["import circle: graph.codec <-> graph.rows"]


def test_circles_are_found_among_arrows():
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"f"}, "g": {"a"}}
    assert sorted(check_imports.circles(arrows)) == [["a", "b", "c"], ["d", "e"], ["f"]]
    assert check_imports.circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_a_crowded_root_is_refused(tmp_path, monkeypatch):
    names = [f"module{i}" for i in range(check_imports.MOST_AT_ROOT + 1)]
    monkeypatch.setattr(check_imports, "ROOMS", (tuple(names),))
    package = package_of(tmp_path, {f"{name}.py": "" for name in names[:-1]})
    assert check_imports.objections(package) == []
    (line,) = check_imports.objections(package_of(tmp_path, {f"{names[-1]}.py": ""}))
    assert line.startswith("9 modules at the root of the package, 8 at most: module0.py")


def test_every_room_is_there_and_stands_once():
    rooms = [room for floor in check_imports.ROOMS for room in floor]
    assert len(set(rooms)) == len(rooms)
    for room in rooms:
        place = check_imports.PACKAGE / room.replace(".", "/")
        assert place.is_dir() or place.with_suffix(".py").is_file(), f"{room} is no module of the package"


def loaded_after(code):
    line = f"import sys\n{code}\nprint(' '.join(m for m in ('numpy', 'numba', 'cupy', 'scipy') if m in sys.modules))"
    return subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True).stdout.split()


def test_import_bigbfs_loads_nothing_heavy():
    assert loaded_after("import bigbfs") == []


def test_help_loads_nothing_heavy():
    code = "import contextlib, io\nfrom bigbfs.cli.main import run\n"
    code += "with contextlib.redirect_stdout(io.StringIO()): run(['--help'])"
    assert loaded_after(code) == []


def test_cpu_paths_never_import_cupy():
    code = "import bigbfs\ng = bigbfs.Graph.from_csr([0, 1, 2], [1, 0])\nbigbfs.bfs(g, 0, backend='cpu')"
    assert "cupy" not in loaded_after(code)


def user_seconds(*command: str) -> float:
    """Return the least processor time that Python took for ``command``, of five runs."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


MODULES = """
import json, sys
from bigbfs.cli.main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
NOBODY = {"numba", "scipy", "pyarrow", "pandas", "cupy", "mpi4py", "networkx", "vl_convert", "altair"}
NOBODY |= {"statistics", "fractions", "decimal", "xml.etree.ElementTree", "tomllib", "subprocess", "secrets", "asyncio"}
NOBODY |= {"unittest", "bigbfs.formats.shards.split", "bigbfs.measures.distances", "bigbfs.generate.catalogue"}
READS = NOBODY | {"zstandard", "difflib", "bigbfs.conversion", "bigbfs.formats.readers"}
NEVER = {
    "info": READS | {"llvmlite", "tempfile", "random", "bigbfs.jit.njit", "bigbfs.engines.cpu"},
    "bfs": READS | {"bigbfs.algorithms.components.cpu", "bigbfs.algorithms.many.cpu", "bigbfs.graph.varint_kernels"},
    "cc": READS | {"bigbfs.algorithms.bfs.cpu", "bigbfs.algorithms.many.cpu", "bigbfs.graph.varint_kernels"},
    "convert": NOBODY
    | {"bigbfs.engines.cpu", "bigbfs.conversion.names", "bigbfs.conversion.on_disk.convert", "bigbfs.conversion.moving"}
    | {"bigbfs.conversion.into_shards", "bigbfs.graph.varint_kernels"},
}
"""What a command on a small graph has no use for, once its kernels are cached."""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is cached")
@pytest.mark.parametrize("command", split(NEVER, lambda command: command in ("bfs", "info")))
def test_a_command_imports_what_it_uses(tmp_path, command):
    rows = "".join(f"{u} {(u * 7) % 50}\n{u} {(u * 3) % 50}\n" for u in range(1, 50))
    (tmp_path / "graph.txt").write_text(rows)
    keep = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_") or name in keep}
    words = ["graph.txt", "--force"] if command == "convert" else ["graph.csrbin"]
    words += ["--source", "1"] if command == "bfs" else []
    for line in (
        ["convert", "graph.txt", "--force"],
        [command, *words],
        [command, *words],
    ):  # twice: kernels are cached
        start = [sys.executable, "-c", MODULES, *line]
        done = subprocess.run(start, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert (code, sorted(NEVER[command] & set(modules))) == (0, [])


def test_help_is_fast():
    # beside what it cannot do without, so that a slow or busy machine says nothing about the program
    assert user_seconds("-m", "bigbfs", "--help") < 2 * user_seconds("-c", "import click") + 0.02


def test_unknown_attribute():
    import bigbfs

    with pytest.raises(AttributeError, match="no attribute 'bsf'"):
        bigbfs.bsf  # noqa: B018
    assert "connected_components" in dir(bigbfs)
