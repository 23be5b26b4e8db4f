"""Kernels that are called without Numba do what they do with it, and whatever is unknown goes to Numba."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import bigbfs
from bigbfs.jit import kinds, loaded
from bigbfs.jit.njit import Kernel

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

KERNELS = """
from typing import NamedTuple
import numpy as np
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

class State(NamedTuple):
    rows: np.ndarray
    seed: np.uint64

@njit
def after(number):
    return number + 1

@njit(cache=True, nogil=True)
def serial(state, number, fail):
    total = state.seed
    for row in state.rows:
        total += np.uint64(row)
    if fail:
        raise ValueError("asked for")
    return total, after(number), state.rows[:3].copy(), None

@member
def _some(rows, out, claim, t):
    while True:
        i = fetch_add(claim, 0, np.uint64(1))
        if i >= np.uint64(len(rows)):
            break
        out[i] = 2 * rows[i]
        fetch_add(out, len(rows), rows[i])

@njit(cache=True, nogil=True)
def doubled(team, rows, out, claim):
    share(team, np.uint64(8), _some, (rows, out, claim))
"""
USE = """
import json, sys
sys.path.insert(0, ".")
import numpy as np
from bigbfs.jit.team import team_of
import kernels

state = kernels.State(np.arange(10, dtype=np.uint32), np.uint64(2))
total, number, rows, nothing = kernels.serial(state, 5, False)
out = np.zeros(1001, np.int64)
kernels.doubled(team_of(2), np.arange(1000), out, np.zeros(1, np.uint64))
try:
    kernels.serial(state, 5, True)
except ValueError as error:
    words = str(error)
found = [int(total), int(number), rows.tolist(), str(rows.dtype), nothing, int(out[:1000].sum()), int(out[1000]), words]
imported = "numba" in sys.modules
more = kernels.serial(state, np.uint8(7), False)[1]  # no such kind yet the first time
print(json.dumps([found, int(more), imported]))
"""
FOUND = [[47, 6, [0, 1, 2], "uint32", None, 999_000, 499_500, "asked for"], 8]


def run(folder, script=USE, **environment):
    """Return what the script prints, in an environment of Numba's where nothing but this is said."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = kept | {"NUMBA_CACHE_DIR": str(folder / "cache")} | environment
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with kernels that have been compiled once."""
    made = tmp_path_factory.mktemp("loaded")
    (made / "kernels.py").write_text(KERNELS)
    assert run(made) == [*FOUND, True]
    return made


def test_without_numba_the_same_comes_out(folder):
    assert run(folder) == [*FOUND, False]


def test_a_kernel_that_is_not_there_is_compiled_beside_those_that_are(folder):
    """Numba, imported late, takes the same libraries."""
    for path in (folder / "cache" / "loaded").glob("kernels.doubled-*"):
        path.unlink()
    assert run(folder) == [*FOUND, True]
    assert run(folder) == [*FOUND, False]


@pytest.mark.parametrize("environment", [{"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_DISABLE_JIT": "1"}])
def test_what_numba_is_told_is_numbas(folder, environment):
    assert run(folder, **environment) == [*FOUND, True]


def test_another_state_and_damage_are_seen(folder):
    kept = {path: path.read_bytes() for path in (folder / "cache" / "loaded").iterdir()}
    for path, content in kept.items():
        path.write_bytes(content[: len(content) // 2] + bytes(64) + content[len(content) // 2 + 64 :])
    assert run(folder) == [*FOUND, True]
    assert run(folder) == [*FOUND, False]
    for path in (folder / "cache").rglob("*.nbc"):  # a file that was renamed before it was written, and the power went
        path.write_bytes(b"")
    assert run(folder) == [*FOUND, True]
    newer = "from bigbfs.jit import loaded\nloaded.FORMAT += 1\n"
    assert run(folder, newer + USE) == [*FOUND, True]


def test_processors_that_share_a_folder_leave_each_others_kernels_alone(folder):
    other = "from bigbfs.jit import loaded\nhere = loaded.place()\nloaded.place = lambda: (*here, 'another')\n"
    run(folder)
    assert run(folder, other + USE) == [*FOUND, True]
    assert run(folder) == [*FOUND, False]
    assert run(folder, other + USE) == [*FOUND, False]


def test_no_two_kernels_have_the_same_name():
    """Neither LLVM's linker nor a cache would tell them apart."""
    found: dict[tuple[str, str], set[int]] = {}
    for info in pkgutil.walk_packages(bigbfs.__path__, "bigbfs."):
        if not any(part in info.name for part in ("__main__", ".gpu", ".kernels.")):
            for value in vars(importlib.import_module(info.name)).values():
                if isinstance(value, Kernel):
                    found.setdefault((value.__module__, value.__qualname__), set()).add(id(value))
    assert len(found) > 200
    assert [name for name, kernels in found.items() if len(kernels) > 1] == []


def test_kinds_tell_apart_what_numba_tells_apart():
    array = np.arange(6, dtype=np.uint32)
    frozen = array.view()
    frozen.flags.writeable = False
    values = [array, frozen, array[::2], array.reshape(2, 3), array.reshape(2, 3).T, array.astype(np.int64)]
    values += [array.view(np.uint8)[1:5].view(np.uint32), 1, True, 1.0, np.uint64(1), np.int64(1), None, (1, array)]
    values += [(1, frozen), (1, 2), (1, 2, 3), array.reshape(1, 6), array.reshape(6, 1), array.reshape(6, 1)[::2]]
    types = [numba.typeof(value) for value in values]
    written = [repr(kinds.written(kinds.kind_of(value))) for value in values]
    for i, one in enumerate(values):
        for j, other in enumerate(values):
            assert types[i] == types[j] or written[i] != written[j], (one, other)
    assert written[0] == repr(kinds.written(kinds.kind_of(array.copy())))
    rows = [kinds.kind_of(array.reshape(shape)) for shape in ((2, 3), (1, 6), (6, 1))]
    assert rows[0] == rows[1] == rows[2], "Numba compiles no kernel of its own for a table of one row"


@pytest.mark.parametrize("value", ["text", 2**63, [1], np.array(["a"]), np.zeros(2, ">u4"), {1: 2}])
def test_a_kind_that_only_numba_knows(value):
    with pytest.raises(kinds.UnknownKind):
        kinds.written(kinds.kind_of(value))


def test_no_module_of_a_command_imports_numba():
    """Kernels in the cache need none; a name taken from it when a module is imported brings it all."""
    names = ["convert", "bfs", "cc", "info", "toposort", "distances", "export", "generate"]
    modules = [f"bigbfs.cli.{name}" for name in names]
    modules += [
        "bigbfs.engines.cpu.engine",
        "bigbfs.engines.cpu.heads",
        "bigbfs.graph.rows",
    ]
    modules += ["bigbfs.algorithms.bfs.cpu.program", "bigbfs.algorithms.components.cpu.program"]
    modules += ["bigbfs.algorithms.many.cpu.program", "bigbfs.algorithms.topological.cpu.program"]
    script = f"import importlib, json, sys\nfor name in {modules}: importlib.import_module(name)\n"
    script += "print(json.dumps([name for name in ('numba', 'llvmlite.ir') if name in sys.modules]))"
    assert run(Path.cwd(), script) == []


def test_code_that_needs_more_than_there_is_is_not_kept():
    class Environment:
        env_name, consts = "one", (object(),)

    library = ("name", "object", (b"code", b""))
    data = [library, None, Environment(), None, False, (), "", (), ()]
    assert loaded.code_of(tuple(data)) is None
