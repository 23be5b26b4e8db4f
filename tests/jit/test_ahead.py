"""Kernels of a first run: what the lists say is true, and several processes make what one of them needs."""

import json
import os
import subprocess
import sys

import numba
import pytest
from wide import split

from bigbfs.jit import ahead, kinds
from bigbfs.jit.njit import Kernel

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

KERNELS = """
from bigbfs.jit.njit import njit

@njit(cache=True)
def one(array, number):
    return array[0] + number

@njit(cache=True)
def two(number):
    return number + 2

@njit(cache=True)
def three(number):
    return number + 3
"""
NEEDED = {
    "kernels": [
        ["kernels", "one", [["<u4", 1, 0x0501], "builtins.int"], 3.0],
        ["kernels", "two", ["builtins.int"], 2.0],
        ["kernels", "gone", ["builtins.int"], 1.0],
    ],
    "commands": {"demo": [0, 1, 2], "demo --more": [0, 1, 2, 1]},
}
START = """
import json, sys
from pathlib import Path
sys.path.insert(0, ".")
import numpy as np
from bigbfs.jit import ahead, compiling
import kernels
compiling.command, compiling.log, ahead.NEEDED = "demo", [], Path("needed.json")
"""
USE = """
ahead.processors = lambda: HELPERS + 1
told = []
compiling.tell(lambda: told.append("numba" in sys.modules))
found = [int(kernels.one(np.full(3, 5, np.uint32), 1))]
here = [name for name, *_ in compiling.log]
compiling.log.clear()
found += [kernels.two(1), compiling.log == []]
print(json.dumps([found, here, told, len(list(Path("cache/loaded").glob("*.nbc")))]))
"""
HOLD = """
two = ahead.lists(ahead.NEEDED)["demo"][1]
with ahead._claimed(two) as mine:
    print(mine, flush=True)
    sys.stdin.readline()
    two.kernel().prepare((1,))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "needed.json").write_text(json.dumps(NEEDED))
    return tmp_path


def started(folder, script):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = kept | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", START + script], cwd=folder, env=environment, text=True, **pipes)


def run(folder, script, helpers=0, told=""):
    process = started(folder, script.replace("HELPERS", str(helpers)))
    said, errors = process.communicate(told, timeout=120)
    assert process.returncode == 0, errors
    return json.loads(said) if said else None


def test_the_first_kernel_that_is_missed_brings_the_others(folder):
    """And somebody is told of it before Numba is imported."""
    found, here, told, files = run(folder, USE)
    assert (found, told, files) == ([6, 3, True], [False], 2)
    assert here == ["kernels.one", "kernels.two", "side by side"]
    assert run(folder, USE)[1:3] == [[], []], "the second run compiles nothing"


def test_processes_of_one_command_line_start_no_helpers(folder):
    script = USE.replace("ahead.processors", "compiling.shared, ahead.processors", 1).replace(
        "= lambda", "= True, lambda"
    )
    assert run(folder, script + "assert not ahead._helpers", helpers=2)[1] == [
        "kernels.one",
        "kernels.two",
        "side by side",
    ]


@pytest.mark.wide
def test_helpers_compile_what_nobody_has_taken(folder):
    here = run(folder, USE, helpers=2)[1]
    assert set(here) <= {"kernels.one", "kernels.two", "side by side"}
    for path in (folder / "cache").rglob("*.nbc"):
        path.unlink()
    orphan = 'ahead.help_with(["needed.json", "1"])\nprint(json.dumps([compiling.log, "numba" in sys.modules]))'
    assert run(folder, orphan, told="0 1\n") == [[], False], "the parent has ended"
    helper = 'import os\nahead.help_with(["needed.json", str(os.getppid())])'
    run(folder, helper, told="1\n0 2\n")
    assert run(folder, USE)[1:] == [[], [], 2]


LISTS = {
    "demo": [0, 1],
    "demo more": [0, 3],
    "demo compressed": [0, 1, 3],
    "other": [0, 1, 2, 3],
}
NARROW = """
from bigbfs.jit.kinds import kind_of
def miss(kernel, *arguments):
    compiling.log.clear()
    ahead.missed(kernel, tuple(map(kind_of, arguments)))
    return sorted(name.removeprefix("kernels.") for name, *_ in compiling.log if name != "side by side")
compiling.graph = frozenset(GRAPH)
ahead.processors = lambda: 1
print(json.dumps([miss(kernels.one, np.full(3, 5, np.uint32), 1), miss(kernels.three, 1), miss(kernels.three, 1)]))
"""


@pytest.mark.parametrize(
    ("graph", "compiled"), [((), [["one"], ["three"], []]), (("compressed",), [["one", "three", "two"], [], []])]
)
def test_what_is_certain_is_compiled_and_the_rest_when_it_is_missed(folder, graph, compiled):
    """Lists of another kind of graph, or without what was missed before, are not gone by."""
    kernels = [*NEEDED["kernels"], ["kernels", "three", ["builtins.int"], 0.5]]
    (folder / "needed.json").write_text(json.dumps({"kernels": kernels, "commands": LISTS}))
    assert run(folder, NARROW.replace("GRAPH", repr(graph))) == compiled


@pytest.mark.wide
def test_a_helper_goes_on_with_what_is_missed_later(folder):
    kernels = [*NEEDED["kernels"], ["kernels", "three", ["builtins.int"], 0.5]]
    (folder / "needed.json").write_text(json.dumps({"kernels": kernels, "commands": {"demo": [0, 1, 3]}}))
    script = """
ahead._ask_helpers(1, [])
first = ahead._helpers[0]
todo = ahead.numbered(ahead.NEEDED)
ahead._ask_helpers(1, todo[1:2])
import time
end = time.monotonic() + 60
while not ahead._is_there(todo[1]) and time.monotonic() < end:
    time.sleep(0.05)
ahead._ask_helpers(1, todo[3:])
while not ahead._is_there(todo[3]) and time.monotonic() < end:
    time.sleep(0.05)
print(json.dumps([ahead._is_there(todo[1]), ahead._is_there(todo[3]), ahead._helpers == [first], compiling.log]))
"""
    assert run(folder, script) == [True, True, True, []]


@pytest.mark.wide
def test_what_another_process_compiles_is_waited_for(folder):
    other = started(folder, HOLD)
    assert other.stdout.readline() == "True\n", other.stderr.read()
    waiting = started(folder, USE.replace("HELPERS", "0"))
    other.communicate("\n", timeout=120)
    found, here, _, files = json.loads(waiting.communicate(timeout=120)[0])
    assert (found, files) == ([6, 3, True], 2)
    assert here == ["kernels.one", "side by side"]


def test_nobody_waits_for_what_no_folder_can_keep(folder):
    """Each compiles for itself: it had waited a minute for others to write what nobody could."""
    note = """
ahead.claims.PATIENCE, taken, take = 2.0, [], ahead._take
ahead._take = lambda todo: (taken.extend(todo), take(todo))[1]
"""
    closed = "\nfrom bigbfs.jit.njit import Kernel\nKernel._files = lambda self: None\n"  # root may write anywhere
    found, here, _, files = run(folder, note + closed + USE + "assert not taken and not ahead._helpers\n", helpers=2)
    assert (found, files) == ([6, 3, False], 0) and "kernels.one" in here


def test_the_lists_name_kernels_and_kinds_that_there_are():
    lists = ahead.lists(ahead.NEEDED)
    assert {"convert", "bfs", "bfs --compressed", "cc", "check", "hops", "eccentricity"} <= lists.keys()
    for each in {each for needed in lists.values() for each in needed}:
        assert isinstance(each.kernel(), Kernel)
        made = tuple(kinds.written(kinds.kind_of(kinds.sample_of(kind))) for kind in each.kinds)
        assert made == each.kinds, each


@pytest.mark.parametrize("command", ["hops", "distances", "closeness"])
@pytest.mark.parametrize("graph", [(), ("compressed",), ("directed",)])
def test_what_lists_of_few_and_of_many_sources_share_is_compiled_first(monkeypatch, command, graph):
    """Before, the wrong one of the two could be: 13 s of a processor instead of 8."""
    rows = "VarintRows" if graph == ("compressed",) else "PlainRows"
    lists = [needed for line, needed in ahead.lists(ahead.NEEDED).items() if line.split()[0] == command]
    first = next(each[:3] for needed in lists for each in needed if each.name == "_survey" and rows in repr(each.kinds))
    monkeypatch.setattr(ahead, "_missed", set())
    monkeypatch.setattr(ahead.compiling, "graph", frozenset(graph))
    certain = {(each.name, rows in repr(each.kinds)) for each in ahead._certain(command, first)}
    assert ("_fill_heads", True) in certain and "walk" not in {name for name, _ in certain}


COMMANDS = """
import json, sys
from bigbfs.cli.main import run
from bigbfs.jit import compiling
compiling.used = []
code = run(sys.argv[1:])
print(json.dumps([code, compiling.used]), file=sys.stderr)
"""


LINES = (
    ("convert", ["graph.txt", "--force"]),
    ("convert names", ["names.csv", "--force"]),
    ("bfs", ["graph.csrbin", "--source", "1"]),
    ("bfs --compressed", ["graph.csrbin", "--source", "1", "--compressed"]),
    ("cc of parts", ["graph.csrbin"]),  # thin
    ("check", ["graph.csrbin"]),
    ("distances", ["graph.csrbin", "--sources", "1,2,3", "-o", "d.npy", "--force", "--backend", "cpu"]),
    ("closeness", ["graph.csrbin", "--sources", "all", "--backend", "cpu"]),
    ("distances many", ["graph.csrbin", "--sources", "all", "-o", "d.npy", "--force", "--backend", "cpu"]),
    ("hops", ["graph.csrbin", "--backend", "cpu"]),
    ("hops few", ["graph.csrbin", "--sources", "random:20", "--backend", "cpu"]),
    ("path", ["graph.csrbin", "1", "2"]),
    ("diameter", ["graph.csrbin", "--backend", "cpu"]),
    ("eccentricity", ["graph.csrbin", "--backend", "cpu"]),
)


@pytest.mark.parametrize(("line", "arguments"), split(LINES, lambda line, arguments: line in ("bfs", "eccentricity")))
def test_what_a_command_uses_is_listed(tmp_path, line, arguments):
    """Else ``python tools/first_run.py --write`` has not been run since kernels or their arguments were changed."""
    rows = "".join(f"{u} {(u * 7) % 400}\n{u} {(u * 3) % 400}\n" for u in range(1, 400))
    (tmp_path / "graph.txt").write_text(rows)
    (tmp_path / "names.csv").write_text("".join(f"name {u},name {(u * 7) % 50}\n" for u in range(1, 50)))
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("NUMBA_") or name == "NUMBA_CACHE_DIR"
    }
    for words in (["convert", "graph.txt"], [line.split()[0], *arguments]):
        command = [sys.executable, "-c", COMMANDS, *words]
        done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=True)
    code, used = json.loads(done.stderr.splitlines()[-1])
    listed = {each[:3] for each in ahead.lists(ahead.NEEDED)[line]}
    assert code == 0
    assert [(module, name) for module, name, given in used if (module, name, ahead._tuples(given)) not in listed] == []
