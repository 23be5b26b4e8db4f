"""What stands before the edges of a plain edge list: comments, KONECT's first lines, the header of a CSV file.

Nothing is guessed: a header passes where its names say which columns hold the ids, or where there are but two; else it
is refused with the columns named. KONECT says on its first line whether edges are one-way (``% asym``), and whether the
graph is of two sides (``% bip``), whose numbers of vertices stand on the second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bigbfs.errors import InputError
from bigbfs.formats.readers.bad_lines import line_error, shown
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.pairs import BLANKS, SEPARATORS, PairRules
from bigbfs.formats.tables.columns import by_their_names, choose, left_out
from bigbfs.sizes import counted

EXPECTED = "two vertex ids separated by blanks, a tab or a comma"

KONECT = re.compile(
    rb"%[ \t]*(sym|asym|bip)[ \t]+(unweighted|positive|posweighted|signed|multisigned|weighted|multiweighted|dynamic"
    rb"|multiposweighted)[ \t\r]*"
)
_THOUSANDS = re.compile(rb"\d{1,3}(,\d{3})+[ \t]+\d{1,3}(,\d{3})+")
"""Two numbers of four digits or more with commas in them."""
_QUOTED = re.compile(rb"\"[^\"]*\"")
_TWO = re.compile(rb"(\d{1,18})[ \t]+(\d{1,18})")
_SIZES = re.compile(rb"%[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")


@dataclass(frozen=True)
class Head:
    """What the lines before the edges say.

    Attributes
    ----------
    comment_lines
        Comments, blank lines and a header, all passed over.
    columns
        Where the ids stand; None: in the first two columns.
    delimiter
        What stands between two columns; "": blanks, or one of ",;|", whichever.
    one_way, sides
        KONECT's ``asym``; the vertices of the two sides of its ``bip``, where it says how many.
    notes
        What to tell about it.
    first
        The two numbers that are all of the first line with an edge; None: it holds something else, or a header is
        before it.
    header
        Number and text of the header line; None: there is none.
    """

    comment_lines: int
    columns: tuple[int, int] | None
    delimiter: str = ""
    one_way: bool = False
    sides: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()
    first: tuple[int, int] | None = None
    header: tuple[int, bytes] | None = None

    def pair_rules(self) -> PairRules:
        """Return what the lines of edges look like, but for the sides of a bipartite graph."""
        names = () if self.header is None else tuple(_names(_columns(self.header[1])))
        where = None if self.columns in (None, (1, 2)) else self.columns
        expected = EXPECTED if where is None else "vertex ids in the columns {} and {}".format(*where)
        return PairRules(expected, plain=True, columns=self.columns, delimiter=self.delimiter, names=names)


def read_head(reader: BlockReader, rules: Rules) -> Head:
    """Pass over all lines before the first one that can hold an edge.

    Raises
    ------
    InputError
        A header that does not say which columns hold the ids; a graph of two sides, and nobody said ``--bipartite``.
    """
    passed, kind = 0, b""
    notes: list[str] = []
    sides: tuple[int, int] | None = None
    columns = rules.numbers
    header, delimiter, first = None, "", None
    while (block := reader.current()) is not None:
        line = block.line(block.start)
        text, number = line.strip(BLANKS), block.lines_before + 1
        if text[:1] not in (b"", b"#", b"%") or b"\r" in line.rstrip(b"\r\n") or b"\0" in line:
            if rules.header is not False and (_is_header(text) or (rules.header and header is None)):
                header = number, line
                columns = columns or _named(reader.name, number, line, rules)
                delimiter = delimiter_of(line, columns)
                notes.append(_told(reader.name, number, line, columns, rules.columns is not None))
                reader.next_line()
                passed += 1
            elif columns is None and _THOUSANDS.fullmatch(text):
                why = "commas between thousands, or between columns?"
                insist = (
                    "columns",
                    (1, 2),
                    "write ids without them, or say which columns hold the ids, {} for example",
                )
                raise line_error(reader.name, number, line, why, (insist,))
            if header is None and columns is None:
                notes += _more(reader.name, number, line)
                first = (int(match[1]), int(match[2])) if (match := _TWO.fullmatch(text)) else None
            elif header is None:
                delimiter = delimiter_of(line, columns)
            break
        if number == 1 and (match := KONECT.fullmatch(text)):
            kind = match[1]
            if kind == b"bip" and not rules.bipartite:
                why = "a graph of two sides that number their vertices apart"
                apart = ("bipartite", True, "number the second side after the first with {}")
                raise line_error(reader.name, number, line, why, (apart,))
        if number == 2 and kind == b"bip" and (match := _SIZES.fullmatch(text)):
            sides = int(match[2]), int(match[3])
        reader.next_line()
        passed += 1
    if rules.by_name and columns is None:
        what = f"{reader.name}: no header line names the columns"
        raise InputError(what, remedies=(("columns", (1, 2), "say which hold the ids by number, {} for example"),))
    return Head(passed, columns, delimiter, kind == b"asym", sides, tuple(notes), first, header)


def no_edge(name: str, passed: int, skipped: int, head: Head) -> InputError:
    """Return the error for lines of which none is an edge: so many were ``passed`` over, a header among them."""
    found = []
    if head.header is not None:
        found.append(f"a header, line {head.header[0]}: {shown(head.header[1])}")
        passed -= 1
    if passed:
        found.append(f"{passed} comment and blank lines" if passed > 1 else "a comment or blank line")
    if skipped:
        found.append(counted(skipped, "skipped bad line"))
    return InputError(f"{name}: no edge in it, only {' and '.join(found)}; an edge list needs a line with two ids")


def one_way(head: bytes) -> bool:
    """Return whether a file with these first bytes says that its edges lead one way only."""
    match = KONECT.fullmatch(head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].strip(BLANKS))
    return match is not None and match[1] == b"asym"


def delimiter_of(line: bytes, columns: tuple[int, int] | None = None) -> str:
    """Return what stands between two columns of a line, as often as ``columns`` need; "" if it is but blanks.

    Blanks are no delimiter: several may stand between two columns. A tab is one if enough columns are between tabs.
    """
    bare = _QUOTED.sub(b"", line)
    counts = {mark: bare.count(mark) for mark in (b",", b";", b"|")}
    mark = max(counts, key=lambda each: counts[each])
    mark = mark if counts[mark] else b"\t"
    return mark.decode() if bare.count(mark) + 1 >= max(columns or (2,)) else ""


def _columns(line: bytes) -> list[bytes]:
    """Return the words between the delimiters of a line; where there is none, between blanks."""
    if mark := delimiter_of(line):
        words = re.split(rb"%s(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)" % re.escape(mark.encode()), line.rstrip(b"\r\n"))
    else:
        words = SEPARATORS.split(line.strip(BLANKS))
    return [word.strip(b" \t\"'") for word in words]


def _names(words: list[bytes]) -> list[str]:
    return [word.decode("utf-8", "backslashreplace") for word in words]


def _is_header(text: bytes) -> bool:
    """Return whether a line names columns: two words or more, each of which begins as a name does."""
    named = [word for word in _columns(text) if word]
    return len(named) >= 2 and all((word[:1].isalpha() or word[:1] == b"_") for word in named)


def _named(name: str, number: int, line: bytes, rules: Rules) -> tuple[int, int]:
    """Return the columns that a header names, or of them those that are asked for."""
    words = _columns(line)
    if rules.columns is not None:
        return choose(name, _names(words), rules.columns)[:2]
    if (found := by_their_names(_names(words))) is not None:
        return found
    if len(words) == 2:
        return 1, 2
    listed = ", ".join(f"{shown(word)} ({place})" for place, word in enumerate(words[:9], 1))
    way_out = ("columns", (1, 2), "say which two hold the ids, {} for example")
    raise line_error(name, number, line, f"a header line? It names the columns {listed}", (way_out,))


def _told(name: str, number: int, line: bytes, columns: tuple[int, int], asked: bool) -> str:
    words = _columns(line)
    places = [f"{place}" + (f" ({shown(words[place - 1])})" if place <= len(words) else "") for place in columns]
    told = f"{name}: line {number} is a header; the ids are read from the columns {' and '.join(places)}"
    return told if asked else told + left_out(len(words), columns)


def _more(name: str, number: int, line: bytes) -> list[str]:
    """Return a note where the first line of edges has more than two columns, which nobody named: a weight, or an id."""
    words = len([word for word in SEPARATORS.split(line.strip(BLANKS)) if word])
    more = left_out(words)
    return (
        [f"{name}: line {number} has {words} columns; the ids are read from the columns 1 and 2{more}"] if more else []
    )


def wrong_sides(name: str) -> InputError:
    """Return the error for a graph of two sides whose sizes would have to be known before its edges come."""
    return InputError(
        f"{name}: the sizes of the two sides must be known where edges go to disk",
        remedies=(
            "add them as a second line ('% edges first second' after '% bip unweighted')",
            ("memory", None),
        ),
    )
