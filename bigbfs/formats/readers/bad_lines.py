"""The message for a line that cannot be read: file, line, text, what was expected, and the option that helps."""

from __future__ import annotations

import csv
import re

from bigbfs.errors import InputError, RemedyLike
from bigbfs.formats.readers import numbers
from bigbfs.sizes import counted

_SHOWN = 80


def shown(line: bytes) -> str:
    """Return a line as it goes into a message: quoted, escaped, at most 80 characters of it."""
    text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
    quoted = repr(text[:_SHOWN])
    return quoted + (f"... ({len(text)} characters)" if len(text) > _SHOWN else "")


def reason(status: int, low: int, high: int, expected: str) -> str:
    """Return what is wrong with a line and what was expected instead."""
    if status == numbers.NEGATIVE:
        return "a vertex id is negative; ids are 0 to 2^63-1"
    if status == numbers.TOO_BIG or (status == numbers.OUT_OF_RANGE and high == 2**63 - 1 and low == 0):
        return "a vertex id is over 2^63-1, the largest that is supported"
    return {
        numbers.NOT_A_NUMBER: f"expected {expected}",
        numbers.ONE_COLUMN: f"only one column; expected {expected}",
        numbers.OUT_OF_RANGE: f"a vertex id is outside the declared range {low} to {high}",
        numbers.LONE_RETURN: "a carriage return inside the line (old Mac line ends?); convert it: tr '\\r' '\\n'",
        numbers.NUL_BYTE: "a NUL byte: the file looks binary or damaged",
        numbers.NO_VALUE: f"a column is missing (line cut short?); expected {expected}",
        numbers.WRONG_PREFIX: f"expected {expected}",
    }[status]


def are_names(line: bytes) -> bool:
    """Return whether a line begins with two words, of which neither looks like a number."""
    words = re.split(r"[\s,;|]+", line.decode("utf-8", "replace").strip())[:2]
    return len(words) == 2 and all(re.match(r"[\"']?[^\W\d]", word) for word in words)


def may_be_names(line: bytes, status: int) -> bool:
    """Return whether a line that was refused for an id that is none would do if ids were names."""
    refused = (numbers.NOT_A_NUMBER, numbers.NEGATIVE, numbers.TOO_BIG)
    return status in refused and len(re.split(r"[\s,;|]+", line.decode("utf-8", "replace").strip())) > 1


def columns_of(line: bytes, delimiter: str) -> list[str]:
    """Return what stands in the columns of a line; "" for ``delimiter``: between blanks, or one of ",;|"."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    if not delimiter:
        return re.split(r"[ \t]*[,;|][ \t]*|[ \t]+", text.strip(" \t"))
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:  # a field of more than 128 KiB
        return text.split(delimiter)


def lacks_a_name(line: bytes, delimiter: str, columns: tuple[int, int] | None) -> bool:
    """Return whether an id's column of a line is empty, or not there: then names would not do either."""
    words = columns_of(line, delimiter)
    return not all(at <= len(words) and words[at - 1].strip() for at in columns or (1, 2))


def no_column(name: str, number: int, line: bytes, has: int, wanted: int) -> InputError:
    """Return the error for the first line of edges, which ``has`` so many columns, and not the one ``wanted``."""
    ways: tuple[RemedyLike, ...] = (("columns", (1, 2), "say {} for example"),) if has > 1 else ()
    return line_error(name, number, line, f"no column {wanted}: the line has {counted(has, 'column')}", ways)


def holds_ids_behind(line: bytes) -> bool:
    """Return whether the first word of a line is no whole number, and the two behind it are."""
    words = re.split(r"\s*[,;|]\s*|\s+", line.decode("utf-8", "replace").strip())[:3]
    return len(words) == 3 and [word.isascii() and word.isdecimal() for word in words] == [False, True, True]


def line_error(name: str, number: int, line: bytes, why: str, remedies: tuple[RemedyLike, ...] = ()) -> InputError:
    """Return the error for line ``number`` of ``name``."""
    return InputError(f"{name}: line {number}: {shown(line)}: {why}", remedies=remedies)


def bad_line(
    name: str,
    number: int,
    line: bytes,
    why: str,
    skipped: int,
    remedies: tuple[RemedyLike, ...] = (),
    last: tuple[RemedyLike, ...] = (),
) -> InputError:
    """Return the error for line ``number`` of ``name``, after ``skipped`` bad lines that were let pass.

    ``remedies`` come before those that every bad line has, ``last`` behind them.
    """
    if skipped:
        why += f"; {counted(skipped, 'bad line')} {'was' if skipped == 1 else 'were'} skipped as allowed"
        remedies += (("skip_bad_lines", None, "allow more with {}"),)
    else:
        remedies += ("correct the line", ("skip_bad_lines", None))
    return line_error(name, number, line, why, remedies + last)
