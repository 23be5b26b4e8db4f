"""What options of commands take: files, threads, seconds, sizes. No engine is imported for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from bigbfs.errors import UsageError
from bigbfs.sizes import counted, free_memory, parse_size

F = TypeVar("F", bound=Callable[..., Any])


class FileName(click.Path):
    """A path; an empty one, which Python takes for the current folder, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse an empty name."""
        if value == "":
            self.fail("it is empty; name a file.", param, ctx)
        return super().convert(value, param, ctx)


PATH = FileName(path_type=Path, readable=False)
"""A path that is not looked at: whoever opens the file says what is wrong with it, with the exit code for that."""


def only_one(context: click.Context, option: click.Parameter, given: tuple[Path, ...]) -> Path | None:
    """Return the one path of an option that takes several (``multiple=True``), None where it is not given.

    Raises
    ------
    UsageError
        There are more, of which click alone would take the last without a word.
    """
    if len(given) > 1:
        first, *others = option.opts
        name = f"{first} ({', '.join(others)})" if others else first
        raise UsageError(f"{name} is one output, and {len(given):,} are given: {', '.join(map(str, given))}; give one")
    return given[0] if given else None


class Output(click.Option):
    """An option that names a file to write, one and no more."""

    def __init__(self, names: Sequence[str], **how: Any) -> None:
        super().__init__(names, type=PATH, multiple=True, callback=only_one, **how)


def output_option(*names: str, **how: Any) -> Callable[[F], F]:
    """Return the option ``names`` that names a file to write, with the rest of what ``click.option`` takes."""
    return click.option(*names, cls=Output, **how)


class Threads(click.IntRange):
    """A number of CPU threads: one rule for all commands, no more than this process may use at a time."""

    def __init__(self) -> None:
        super().__init__(1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse more threads than there are CPUs, which gain nothing and take a buffer each."""
        number = super().convert(value, param, ctx)
        most = len(os.sched_getaffinity(0))
        if number > most:
            self.fail(f"{number:,} threads, and this process may use {counted(most, 'CPU')}.", param, ctx)
        return number


THREADS = Threads()


class Seconds(click.FloatRange):
    """A time; what is no number passes every range, and would never be over."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse nan."""
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return number


SECONDS = Seconds(0)


class Size(click.ParamType):
    """A byte count: ``6GiB``, ``5.8G``, ``500MB``, or plain bytes; ``of_free`` allows ``50%`` of the free memory."""

    name = "size"

    def __init__(self, *, of_free: bool = False) -> None:
        self._of_free = of_free

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse the text, turning a bad one into a usage error."""
        if isinstance(value, int):
            return value
        try:
            return parse_size(value, free_memory() if self._of_free else None)
        except UsageError as error:
            self.fail(str(error), param, ctx)


MEMORY = Size(of_free=True)
"""What every ``--memory`` takes."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print exactly one JSON object.")
