"""Run the commands and the Python of pages, top to bottom in an empty folder, and compare what they print.

Of a page are run: the lines that begin with ``$`` in fences of the kind ``console`` and in indented blocks (``bigbfs``
and ``cat``, also with ``| head -N`` and ``| tail -N``), and fences of ``python``, each by itself. A fence with
``title="NAME"`` is a file to write; with ``title="it prints"`` it is what the Python before it prints. ``--write`` puts
what is printed today into the pages. Times, rates, memory and the processor differ from run to run and are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PRINTS = "it prints"
VARYING = ("apart", "backend", "disturbed", "made from", "memory", "rate", "searches", "seconds", "time")
"""Lines that begin so are not compared, with what is indented below them."""
_FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?$")
_NUMBER = re.compile(r"^<?[\d,]+(\.\d+)?(e[+-]\d+)?[,;)]?$")
_UNITS = ("B", "KiB", "MiB", "GiB", "s", "ms")


@dataclass
class Step:
    """Something to do, and what the page says that it prints (None: it does not say)."""

    kind: str  # "command", "python", "file"
    what: str
    name: str = ""
    shown: list[str] | None = None
    at: tuple[int, int] = (0, 0)  # lines of the page that ``shown`` takes


def steps(text: str) -> list[Step]:
    """Return what the page tells its reader to do, in order."""
    found: list[Step] = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        if fence is None:
            if lines[number].startswith("    $ "):
                end = number
                while end < len(lines) and (lines[end].startswith("    ") or not lines[end]):
                    end += 1
                found += _commands(lines, number, end, "    ")
                number = end
            else:
                number += 1
            continue
        end = lines.index("```", number + 1)
        body = lines[number + 1 : end]
        if fence[1] == "console":
            found += _commands(lines, number + 1, end, "")
        elif fence[2] == PRINTS:
            found[-1].shown, found[-1].at = body, (number + 1, end)
        elif fence[2]:
            found.append(Step("file", "\n".join(body) + "\n", fence[2]))
        elif fence[1] == "python":
            found.append(Step("python", "\n".join(body) + "\n"))
        number = end + 1
    return found


def _commands(lines: list[str], start: int, end: int, indent: str) -> Iterator[Step]:
    prompts = [at for at in range(start, end) if lines[at].startswith(f"{indent}$ ")]
    for prompt, after in zip(prompts, [*prompts[1:], end], strict=True):
        shown = [line.removeprefix(indent) for line in lines[prompt + 1 : after]]
        while shown and not shown[-1].strip():
            shown.pop()
        command = lines[prompt].removeprefix(f"{indent}$ ")
        yield Step("command", command, indent, shown or None, (prompt + 1, prompt + 1 + len(shown)))


def in_this_process(words: list[str], folder: Path) -> str:
    """Run a command of bigbfs here, where what is compiled stays; return what it prints."""
    from bigbfs.cli.main import run

    printed = io.BytesIO()
    with io.TextIOWrapper(printed, encoding="utf-8", write_through=True) as text, contextlib.redirect_stdout(text):
        code = run(words)
        if code:
            raise SystemExit(f"bigbfs {shlex.join(words)} ended with {code}")
        return printed.getvalue().decode()


def in_its_own(words: list[str], folder: Path) -> str:
    """Run a command of bigbfs as a user does; return what it prints."""
    command = [sys.executable, "-m", "bigbfs", *words]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def _command(line: str, folder: Path, bigbfs: Callable[[list[str], Path], str]) -> list[str]:
    first, *filters = line.split(" | ")
    program, *words = shlex.split(first, comments=True)
    if program == "cat":
        text = "".join((folder / word).read_text(encoding="utf-8") for word in words)
    elif program == "bigbfs":
        text = bigbfs(words, folder)
    else:
        raise SystemExit(f"{line}: {program} is not run here")
    found = text.rstrip("\n").split("\n")
    for each in filters:
        name, count = each.split(" -")
        found = found[: int(count)] if name == "head" else found[-int(count) :]
    return found


def run(text: str, folder: Path, bigbfs: Callable[[list[str], Path], str]) -> Iterator[tuple[Step, list[str]]]:
    """Do what a page says, in ``folder``, which is the current one; yield each step with the lines that it printed."""
    for step in steps(text):
        printed = []
        if step.kind == "file":
            (folder / step.name).write_text(step.what, encoding="utf-8")
        elif step.kind == "command":
            printed = _command(step.what, folder, bigbfs)
        else:
            kept = io.StringIO()
            with contextlib.redirect_stdout(kept):
                names: dict[str, Any] = {"__name__": "__page__"}  # each block runs as it stands
                exec(compile(step.what, "page", "exec"), names)
            printed = kept.getvalue().rstrip("\n").split("\n")
        yield step, printed


def stable(lines: list[str]) -> list[str]:
    """Return the words of ``lines`` that are the same in every run and on every machine."""
    words: list[str] = []
    varying = False
    for line in lines:
        if not line.startswith("            "):
            varying = line.startswith(VARYING)
        if not varying:
            words += line.split()
    for number, word in enumerate(words[1:], 1):
        if word.rstrip(",;:)") in _UNITS and _NUMBER.match(words[number - 1]):
            words[number - 1], words[number] = "#.#", "#"
    return words


def differences(shown: list[str], printed: list[str]) -> list[str]:
    """Return where the page says something else than was printed; a number with a point stands for any number."""
    wanted, found = stable(shown), stable(printed)
    if len(wanted) != len(found):
        return [f"the page has {len(wanted)} words, and {len(found)} were printed"]
    return [
        f"{one} in the page, {other} printed"
        for one, other in zip(wanted, found, strict=True)
        if one != other and not ("." in one + other and _NUMBER.match(one) and _NUMBER.match(other))
    ]


def rewritten(text: str, folder: Path) -> str:
    """Return the page with what its commands print today."""
    lines = text.split("\n")
    for step, printed in reversed(list(run(text, folder, in_its_own))):
        if step.shown is not None:
            indent = step.name if step.kind == "command" else ""
            lines[slice(*step.at)] = [f"{indent}{line}".rstrip() for line in printed]
    return "\n".join(lines)


def main() -> int:
    """Run pages; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true", help="put what is printed into the pages")
    given = parser.parse_args()
    wrong = 0
    for page in (path.resolve() for path in given.pages):
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
            os.environ["COLUMNS"] = "80"
            if given.write:
                page.write_text(rewritten(text, Path(name)), encoding="utf-8")
                continue
            for step, printed in run(text, Path(name), in_its_own):
                found = differences(step.shown, printed) if step.shown is not None else []
                wrong += len(found)
                print("\n".join(f"{page.name}: {step.what}: {each}" for each in found), end="\n" if found else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
