"""A file of edges where a graph is wanted: converted first, by the columns that the command line names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bigbfs.cli.notes import tell
from bigbfs.cli.wording import noted, of_call, printable
from bigbfs.errors import Argument, Call, FileAccessError, Remedy, UsageError, naming
from bigbfs.formats.container.parts import refuse_shards

if TYPE_CHECKING:
    from bigbfs.conversion.making import Making

F = TypeVar("F", bound=Callable[..., Any])

COLUMNS_HELP = (
    "Columns that hold the ids, by number (from 1 on) or by name. Default: as their names say, or the first two."
)

_DIGITS = 10
"""A column of so many digits is a name."""

_KEPT = "bigbfs.columns"

STANDARD_INPUT = "-"
"""As `convert` names it, whose modules take time to import."""


class Columns(click.ParamType):
    """Two columns, ``1,2`` or ``source,target``."""

    name = "columns"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int | str, ...]:
        """Split the text; whoever reads says which columns there can be."""
        words = [word.strip() for word in str(value).split(",")]
        if len(words) != 2 or not all(words) or any(word.startswith("-") for word in words):
            self.fail(f"{value!r} is not two columns; write 1,2 or source,target for example", param, ctx)
        return tuple(int(word) if word.isdecimal() and len(word) < _DIGITS else word for word in words)


def _keep(context: click.Context, param: click.Parameter, value: Any) -> None:
    context.meta[_KEPT] = value


def columns_option(function: F) -> F:
    """Add ``--columns``, which no command looks at but what converts its GRAPH."""
    words = f"Of a GRAPH that is a table: {COLUMNS_HELP[0].lower()}{COLUMNS_HELP[1:]}"
    option = click.option("--columns", type=Columns(), metavar="A,B", expose_value=False, callback=_keep, help=words)
    return option(function)


def columns_given() -> Any:
    """Return what ``--columns`` of :func:`columns_option` was given; None: nothing."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_KEPT)


def require_no_columns(path: Path) -> None:
    """Refuse columns beside what has none.

    Raises
    ------
    UsageError
        They were named for a graph file, or for shards.
    """
    if (columns := columns_given()) is not None:
        raise UsageError(f"{path} is a graph already, and no table", about=(("columns", columns),))


def _require_file(path: Path) -> None:
    """Refuse what can be read once alone: a graph is a file, which is mapped.

    Raises
    ------
    UsageError, FileAccessError
        It is standard input; a pipe or a device.
    """
    way = Remedy(Call("convert", str(path), (Argument("output", "OUT.csrbin"),)), "make a graph file of it first: {}")
    if str(path) == STANDARD_INPUT:
        raise UsageError("-: only convert reads standard input", remedies=(way,))
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FileAccessError(f"{path}: cannot open: it is a pipe or a device, and no file to map", remedies=(way,))


def converted(path: Path) -> Path:
    """Return the graph file made of a file of edges, or of a folder of tables, beside it; any other path as it is.

    Columns that have been named for it once hold until others are: the default is a guess. A graph that `convert` made
    of it with other options is the one that is meant.

    Raises
    ------
    UsageError, FileAccessError
        As :func:`_require_file`, and of a conversion.
    """
    _require_file(path)
    refuse_shards(path)
    if not _holds_edges(path):
        require_no_columns(path)
        return path
    from bigbfs.conversion import ConvertOptions, convert
    from bigbfs.conversion.making import making
    from bigbfs.conversion.targets import choose_targets

    target = choose_targets([path], None, False).files[0]
    made, columns = making(target, path), columns_given()
    given: dict[str, Any] = {} if made is None else dict(made.options)
    before = given.pop("columns", None)
    if made is not None and not (made.alone and made.complete and (not given or columns in (None, before))):
        raise _made_otherwise(target, path, made, columns)
    columns = columns or before
    with naming(**_ways(path, target, _arguments(given, columns))):
        report = convert([path], options=ConvertOptions(columns=columns, progress=True, **given))
    for note in report.notes:
        tell(f"note: {noted(note)}")
    told = "" if columns is None else f", columns {','.join(map(str, columns))}"
    told += ", made with " + " ".join(of_call("convert", each) for each in _arguments(given, None)) if given else ""
    tell(f"bigbfs: {'found' if report.cached else 'made'} {printable(f'{report.output} of {path}{told}')}")
    return Path(report.output)


def _arguments(options: dict[str, Any], columns: Any) -> tuple[Argument, ...]:
    """Return what a conversion is to be given."""
    named = () if columns is None else (Argument("columns", columns),)
    return (*named, *(Argument(*each) for each in options.items()))


def _ways(path: Path, target: Path, asked: tuple[Argument, ...]) -> dict[str, str | Call]:
    """Return the conversion that each option stands for which only ``convert`` has, beside what is asked for."""
    import tempfile

    from bigbfs.conversion import ConvertOptions

    ways: dict[str, str | Call] = {
        name: Call("convert", str(path), (*(each for each in asked if each.name != name), Argument(name)))
        for name in ConvertOptions.__dataclass_fields__
        if name != "columns"
    }
    elsewhere = Argument("output", str(Path(tempfile.gettempdir()) / target.name))
    return ways | {"output": Call("convert", str(path), (*asked, elsewhere))}


def _made_otherwise(target: Path, path: Path, made: Making, columns: Any) -> UsageError:
    """Return the error for a graph file in the place of the one of ``path`` that nobody may replace unasked.

    The options that it was made with are said again in what is offered, since edges may need them to be read.
    """
    given = made.options if made.of_it else {}
    if made.alone:
        what = f"made of {path} with other options ({', '.join(given) or 'of another version'})"
    elif made.of_it:
        what = f"made of {path} and other files"
    else:
        what = f"and nothing says that it was made of {path}"
    others = {name: value for name, value in given.items() if name != "columns"}
    asked = _arguments(others, columns or given.get("columns"))
    other = Call("convert", str(path), (*asked, Argument("output", "OUT.csrbin")))
    return UsageError(
        f"{target}: is there already, {what}",
        remedies=("name that graph file", Remedy(other, f"convert {path} to one of another name: {{}}")),
    )


def _holds_edges(path: Path) -> bool:
    """Tell whether a path is a folder, or a file whose name says that it is edges in a format that `convert` reads."""
    from bigbfs.formats.container.layout import MAGIC

    if path.suffix in (".csrbin", ".ccsr") or not path.name:
        return False
    if path.is_dir():
        return True
    from bigbfs.formats.readers import formats
    from bigbfs.formats.readers.detect import COMPRESSION_SUFFIXES

    suffixes = [each.lower() for each in path.suffixes]
    if suffixes[-1:] and suffixes[-1] in COMPRESSION_SUFFIXES:
        suffixes.pop()
    read = {suffix for each in formats().values() if each.name != "sg" for suffix in each.suffixes}
    if not suffixes or suffixes[-1] not in read:
        return False
    try:
        with path.open("rb") as stream:
            return stream.read(len(MAGIC)) != MAGIC  # else a graph file of another name
    except OSError:
        return True  # convert says what is wrong with it
