"""The errors that bigbfs raises, each with the exit code that the command line turns it into.

Every message names the file, the line or byte, the value, and the way out. Each class is also the built-in
exception that a caller of the Python interface would expect.

An argument is never part of a message's text, because a Python user knows it as a keyword and a user of the command
line as an option. An error holds it as data instead: ``about`` (the arguments that are wrong, with their values) and
``remedies`` (those that would help). ``str(error)`` words them as keyword arguments (``residency="mapped"``), the
command line as options (``--residency mapped``, bigbfs/cli/wording.py).
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

WORDS = {
    "compressed": "use {} (fewer bytes for the same edges)",
    "format": "give the right {}",
    "keep_ids": "leave {} out (ids with gaps are renumbered by default)",
    "memory": "allow more with {}",
    "output": "name another file with {}",
    "skip_bad_lines": "skip such lines with {}",
    "tmp": "name another folder with {}",
}
"""How a remedy is worded that does not say so itself, by the argument's name; others: ``use {}``."""

_CALLS = {"compressed": "Graph.compress()", "original_ids": "Graph.original_ids()"}
"""What a Python user writes instead of an argument that only commands have."""


DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says of a disk that takes no more, by errno."""

_LONGEST = 80
"""Characters of a value that is no name of a file."""

_LONG_WORD = re.compile(r"[^\s/]{300,}")
"""What no name in a path is, 255 bytes at most."""
_HEAD, _TAIL = 50, 30


class Argument(NamedTuple):
    """An argument of a function, an option of a command: its ``name`` as a keyword, and a ``value`` or None."""

    name: str
    value: Any = None


class Call(NamedTuple):
    """Another function, a command of its own: the ``name`` of both, a ``path`` to give to it, and further arguments."""

    name: str
    path: str
    arguments: tuple[Argument, ...] = ()


class Remedy(NamedTuple):
    """A way out: an argument or a call (None: neither), and a sentence with ``{}`` where that goes."""

    what: Argument | Call | None
    words: str


RemedyLike = str | tuple[str, Any] | tuple[str, Any, str] | Remedy
"""``("memory", None)``, ``("residency", "mapped")``, one with words of its own as a third, or a sentence alone."""

Spell = Callable[[Argument | Call], str | None]
"""Returns an argument or call in the words of a reader, or None: that reader has no such thing."""


def keyword(what: Argument | Call) -> str:
    """Return ``what`` as Python users write it: ``residency="mapped"``, ``memory=...``, ``bigbfs.convert("a.txt")``."""
    if isinstance(what, Call):
        return f"`bigbfs.{what.name}({', '.join([_literal(what.path), *map(keyword, what.arguments)])})`"
    if what.name in _CALLS:
        return _CALLS[what.name]
    return f"{what.name}={'...' if what.value is None else _literal(what.value)}"


def _literal(value: Any) -> str:
    """Return a value as Python source, strings and paths in double quotes; of one that takes lines, the beginning."""
    if hasattr(value, "__fspath__"):
        value = str(value)
    try:
        text = '"' + repr(value + "'")[1:-2] + '"' if isinstance(value, str) and '"' not in value else repr(value)
    except ValueError:  # a number in it of more digits than Python writes
        return f"... ({type(value).__name__})"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= _LONGEST or isinstance(value, str) else f"{text[:_LONGEST]}... ({type(value).__name__})"


def _remedy(given: RemedyLike) -> Remedy:
    if isinstance(given, Remedy):
        return given
    if isinstance(given, str):
        return Remedy(None, given)
    name, value, *words = given
    return Remedy(Argument(name, value), words[0] if words else WORDS.get(name, "use {}"))


def brief(text: str) -> str:
    """Return a message with the beginnings and ends of words that are longer than any file's name."""
    return _LONG_WORD.sub(lambda word: f"{word[0][:_HEAD]}...{word[0][-_TAIL:]}", text)


def alternatives(ways: list[str]) -> str:
    """Return ``a``, ``a, or b``, ``a, b, or c``."""
    return ", ".join([*ways[:-1], f"or {ways[-1]}"]) if len(ways) > 1 else "".join(ways)


class BigBfsError(Exception):
    """Base of all errors raised on purpose; ``exit_code`` is what the command line ends with.

    Attributes
    ----------
    message
        What is wrong, in words that name no argument.
    about
        The arguments that cannot work, with their values.
    remedies
        What would help, most helpful first.
    names_ranks
        Whether the message says itself which ranks it is about: nobody puts a rank before it then.
    """

    exit_code = 1

    def __init__(
        self,
        message: str = "",
        *,
        about: tuple[tuple[str, Any], ...] = (),
        remedies: tuple[RemedyLike, ...] = (),
        lead: str = "; ",
        names_ranks: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.about = tuple(Argument(*each) for each in about)
        self.remedies = tuple(map(_remedy, remedies))
        self._lead = lead
        self.names_ranks = names_ranks

    def worded(self, spell: Spell) -> str:
        """Return the whole message with arguments as ``spell`` writes them, without remedies that it does not know."""
        subjects = ", ".join((spell(each) or each.name).removesuffix("=...") for each in self.about)
        ways = []
        for remedy in self.remedies:
            spelled = "" if remedy.what is None else spell(remedy.what)
            if spelled is not None:
                ways.append(remedy.words.replace("{}", spelled))
        text = f"{subjects}: {self.message}" if subjects else self.message
        return brief(f"{text}{self._lead}{alternatives(ways)}" if ways else text)

    @property
    def has_lines(self) -> bool:
        """Whether the message is of several lines, with the remedies on one of their own."""
        return self._lead.startswith("\n")

    def __str__(self) -> str:
        return self.worded(keyword)

    def rename(self, names: Mapping[str, str | Call]) -> None:
        """Give arguments the names that a caller has for them; in a remedy, a call may stand for an argument."""

        def renamed(what: Argument | Call | None) -> Argument | Call | None:
            if not isinstance(what, Argument) or what.name not in names:
                return what
            new = names[what.name]
            if not isinstance(new, Call):
                return Argument(new, what.value)
            given = (what if each == Argument(what.name) else each for each in new.arguments)
            return new._replace(arguments=tuple(given))

        self.about = tuple(new for each in self.about if isinstance(new := renamed(each), Argument))
        self.remedies = tuple(Remedy(renamed(each.what), each.words) for each in self.remedies)

    def saying(self, message: str, about: tuple[tuple[str, Any], ...] | None = None) -> Self:
        """Return an error like this one with another message, and about other arguments if they are given."""
        other = type(self)(message, about=about or (), lead=self._lead, names_ranks=self.names_ranks)
        other.remedies = self.remedies
        if about is None:
            other.about = self.about
        return other


@contextmanager
def naming(**names: str | Call) -> Iterator[None]:
    """Name arguments in errors from within as the caller's are named: ``naming(output="labels")``."""
    try:
        yield
    except BigBfsError as error:
        error.rename(names)
        raise


class InputError(BigBfsError, ValueError):
    """The content of an input file is not what its format says (names file, line or byte, text)."""


class FormatError(BigBfsError, ValueError):
    """A graph file is not ours, cut short, corrupted or of a newer version."""


class FileAccessError(BigBfsError, OSError):
    """A file cannot be opened, read, written or renamed."""


class DiskFullError(FileAccessError):
    """A file cannot be written, since its disk, a quota or a limit of its size takes no more."""

    exit_code = 5


def of_file(number: int | None) -> type[FileAccessError]:
    """Return the class of the error for a file about which the system says ``number`` (errno)."""
    return DiskFullError if number in DISK_FULL else FileAccessError


class UsageError(BigBfsError, ValueError):
    """An option or argument has a value that cannot work (an unknown source vertex, say)."""

    exit_code = 2


class ArgumentError(UsageError, TypeError):
    """An argument of the Python interface is of a type that cannot be meant; names the argument and its value."""


class ForkError(BigBfsError, RuntimeError):
    """A forked process wants to use a GPU that only its parent has."""


class ConfigError(BigBfsError, ValueError):
    """A configuration file has an unknown key or a value of the wrong kind."""


class VerificationError(BigBfsError, RuntimeError):
    """A result differs from the reference or breaks a rule that every right result keeps."""

    exit_code = 3


class NoDeviceError(BigBfsError, RuntimeError):
    """There is no usable GPU; the message says which part is missing."""

    exit_code = 4


class DoesNotFitError(BigBfsError, MemoryError):
    """The work needs more memory than it may use; the message holds the ledger and the options that help."""

    exit_code = 5


class DeviceError(BigBfsError, RuntimeError):
    """A CUDA call or a kernel failed."""
