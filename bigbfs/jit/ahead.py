"""The kernels of a first run, compiled side by side: by the process that needs them and by helpers that it starts.

Numba compiles one kernel at a time in a process, whatever the number of threads. Which kernels a command needs is known
from earlier runs (``needed.json``, written by ``tools/first_run.py --write``). When the first of them is in no cache,
processes are started that take one kernel after another, the slowest first, and so does the one that waits for them;
a lock on a byte of a file says that somebody is at it. What they make lies in the cache then, and is loaded from there.
It helps any other process that starts meanwhile, too, and nothing depends on it: what is not in the list, or was not
made, is compiled when it is called, as ever.

A command has a list for each kind of graph, and of work, that needs others. Which of them it is shows bit by bit: what
all lists that it may still be have in common is compiled, and the rest once a kernel of that is missed.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from bigbfs.jit import claims, compiling
from bigbfs.jit.kinds import UnknownKind, sample_of, written
from bigbfs.jit.processors import processors

NEEDED = Path(__file__).with_name("needed.json")
MOST_HELPERS = 3
"""Each imports Numba, some 1.5 s of a processor, and takes 150 MB: more would hardly save time."""
LINGER = 10.0
"""Seconds that a helper without work waits for more."""
_HELP = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from bigbfs.jit import ahead
ahead.help_with(sys.argv[2:])
"""

_missed: set[tuple[Any, ...]] = set()
_seen: set[Needed] = set()
_lock = threading.Lock()
_helpers: list[subprocess.Popen[bytes]] = []


class Needed(NamedTuple):
    """A kernel for some kinds of arguments; ``seconds`` that compiling took when the list was written."""

    module: str
    name: str
    kinds: Any
    seconds: float

    def kernel(self) -> Any:
        """Return the kernel."""
        return getattr(import_module(self.module), self.name)


@cache
def numbered(file: Path) -> list[Needed]:
    """Return the kernels of all lists, in the order of ``file``; nothing where that cannot be read."""
    with suppress(OSError, ValueError):
        found = json.loads(file.read_text(encoding="utf-8"))["kernels"]
        return [Needed(module, name, _tuples(kinds), seconds) for module, name, kinds, seconds in found]
    return []


@cache
def lists(file: Path) -> dict[str, list[Needed]]:
    """Return what is needed by command line, the slowest first; nothing where the list cannot be read."""
    with suppress(OSError, ValueError):
        found, kernels = json.loads(file.read_text(encoding="utf-8"))["commands"], numbered(file)
        return {line: _slowest_first({kernels[i] for i in places}) for line, places in found.items()}
    return {}


def _slowest_first(kernels: Iterable[Needed]) -> list[Needed]:
    return sorted(kernels, key=lambda kernel: (-kernel.seconds, kernel[:2], repr(kernel.kinds)))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def missed(kernel: Any, kinds: tuple[Any, ...]) -> None:
    """Have the kernels of this command compiled, ``kernel`` for ``kinds`` among them, where a list has it.

    To be called when it is in no cache; it may not be there afterwards either.
    """
    command = compiling.command
    if command is None:
        return
    with suppress(UnknownKind):
        wanted = kernel.__module__, kernel.__name__, tuple(map(written, kinds))
        with _lock:
            todo = _certain(command, wanted) - _seen
            if any(each[:3] == wanted for each in todo):
                _seen.update(todo)
                with compiling.measured("side by side"), _uncollected():
                    _side_by_side(_slowest_first(todo))


def _certain(command: str, wanted: tuple[Any, ...]) -> set[Needed]:
    """Return what all lists have in common that this run may have, now that ``wanted`` has been missed too."""
    having = []
    _missed.add(wanted)
    for line, needed in lists(NEEDED).items():
        words, names = line.split(), {each[:3] for each in needed}
        if words[0] == command and wanted in names:
            alike = sum((word in words) == (word in compiling.graph) for word in compiling.GRAPHS)
            having.append(((alike, len(names & _missed)), set(needed)))
    best = max((score for score, _ in having), default=None)
    found = [needed for score, needed in having if score == best]
    return set.intersection(*found) if found else set()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no garbage inside: a tenth of the time of compiling. What is there afterwards is not looked at again."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.freeze()
            gc.enable()


def _side_by_side(todo: list[Needed]) -> None:
    todo = [each for each in todo if not _is_there(each)]
    _ask_helpers(0 if compiling.shared else min(processors() - 1, MOST_HELPERS, len(todo) - 1), todo)
    took = _take(todo)
    give_up = time.monotonic() + claims.PATIENCE
    for each in todo:
        if each not in took:
            while not _is_there(each) and time.monotonic() < give_up:
                if each in _take([each]):
                    break
                time.sleep(claims.GLANCE)


def help_with(arguments: list[str]) -> None:
    """Compile what nobody has taken yet, as a helper does; ``arguments``: file of the lists, parent.

    A line of the standard input has the numbers of kernels; its end, or ``LINGER`` without one, ends the helper.
    """
    kernels, parent = numbered(Path(arguments[0])), int(arguments[1])
    with _uncollected(), open(0, "rb", buffering=0, closefd=False) as asked:
        while select.select([asked], [], [], LINGER)[0] and (line := asked.readline()):
            for number in map(int, line.split()):
                if os.getppid() != parent:  # it has ended, one way or another
                    return
                _take([kernels[number]])


def _take(todo: list[Needed]) -> set[Needed]:
    """Compile those of ``todo`` that no other process is at; return them, and those that were there by then."""
    took = set()
    for each in todo:
        with suppress(Exception), _claimed(each) as mine:  # whoever calls it is told what is wrong with it
            if mine:
                took.add(each)
                if not _is_there(each):
                    each.kernel().prepare(tuple(map(sample_of, each.kinds)))
    return took


def _is_there(each: Needed) -> bool:
    with suppress(Exception):
        path = each.kernel().path_of(each.kinds)
        return path is None or path.exists()  # None: no folder can be written, so nobody will put it there
    return True  # there is no such kernel: nothing to be done


@contextmanager
def _claimed(each: Needed) -> Iterator[bool]:
    """Hold the claim on ``each``, and tell whether no other process has it."""
    path = each.kernel().path_of(each.kinds)
    mine = claims.claim(path)
    try:
        yield mine
    finally:
        if mine:
            claims.release(path)


def _ask_helpers(count: int, todo: list[Needed]) -> None:
    """Have ``count`` helpers compile ``todo``: those that are there, and others that are started."""
    known = numbered(NEEDED)
    line = " ".join(str(known.index(each)) for each in todo).encode() + b"\n"
    _helpers[:] = [helper for helper in _helpers if helper.poll() is None]
    with suppress(OSError):  # no more processes: this one does the work
        while len(_helpers) < count:
            _start_helper()
    for helper in _helpers[: max(0, count)]:
        with suppress(OSError):  # it has just ended
            assert helper.stdin is not None
            helper.stdin.write(line)


def _start_helper() -> None:
    words = [sys.executable, "-P", "-c", _HELP, json.dumps(sys.path), str(NEEDED), str(os.getpid())]
    nothing = subprocess.DEVNULL
    _helpers.append(subprocess.Popen(words, bufsize=0, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing))


@atexit.register
def _stop_helpers() -> None:
    """End helpers that are still at it: nothing half-made is left, and nobody waits for it."""
    for helper in _helpers:
        helper.kill()
    for helper in _helpers:
        helper.wait()


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
os.register_at_fork(after_in_child=_helpers.clear)  # they are the parent's
