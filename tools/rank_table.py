"""Make the tables of docs/notebook/ranks-predicted.md of the JSON lines that tools/bench_ranks.py has written.

    python tools/rank_table.py docs/results/distributed.jsonl
    python tools/rank_table.py docs/results/distributed.jsonl --write docs/notebook/ranks-predicted.md

Each measurement stands beside what a model said before, and beside its bar. Of one that was not run, the prediction and
the reason are there. Then Merrill, Garland and Grimshaw's speed-ups by several GPUs, beside ours.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rank_suite import cases, lines
from rank_suite.cases import Bar, Row

from bigbfs.errors import BigBfsError, InputError

ROOT = Path(__file__).resolve().parents[1]
SUITE = ROOT / "configs" / "bench-ranks.toml"

MERRILL = {2: 1.5, 3: 2.1, 4: 2.5}
"""PPoPP 2012 (report 004, section 6): up to four Tesla C2050, times one of them."""

HEADERS = ("times one", "GTEPS", "bytes", "exchange", "placed in s", "predicted: ms, times, bytes, exchange", "bar")
MARKS = "<!-- tools/{}: {} -->"

Found = dict[lines.Key, dict[str, Any]]


def ratio(found: Found, key: lines.Key, what: str = "seconds", *, base: str = "", said: bool = False) -> float | None:
    """Return how many times as fast as one rank of the row ``base`` (its own: "") ``key`` was, or is ``said`` to be.

    None: one of them was not measured. Where the graph grows with the ranks, that is the efficiency.
    """
    section, row, work, _ = key
    pair = [found.get((section, base or row, work, 1)), found.get(key)]
    if said:
        pair = [None if line is None else line.get("predicted") for line in pair]
    values = [None if line is None else line.get(what) for line in pair]
    return None if not all(values) else float(values[0]) / float(values[1])  # type: ignore[arg-type]  # not None


def reached(bar: Bar, row: Row, found: Found, section: str) -> str:
    """Return in words whether ``bar`` is reached, or by how much not."""
    key = (section, row.name, bar.work, bar.ranks)
    line = found.get(key, {})
    if bar.kind == "stays":
        ran = line.get("ran_as")
        said = "not run" if ran is None else "reached" if ran == 1 else f"missed: ran on {ran}"
        return f"stays on one: {said}"
    times = ratio(found, key, "place" if bar.kind == "place" else "seconds", base=bar.against)
    # a share of the time of one is at most so much; its inverse is at least as much
    bound = 1 / bar.bound if bar.kind == "place" else bar.bound
    name = {
        "times": f"{bar.bound:g} times" + (f" that of {bar.against!r}" if bar.against else ""),
        "efficiency": f"{bar.bound:.0%} of one",
        "place": f"placed in {bar.bound:g} of one",
    }[bar.kind]
    if times is None:
        return f"{name}: not run"
    shown = {"times": f"{times:.3g}", "efficiency": f"{times:.0%}", "place": f"{1 / times:.2g}"}[bar.kind]
    return f"{name}: " + (f"reached, {shown}" if times >= bound else f"missed by {1 - times / bound:.0%}, {shown}")


def size(count: float) -> str:
    """Return ``count`` bytes in three digits."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.3g} {unit}"


def ms(seconds: float) -> str:
    """Return milliseconds in three digits, or whole ones."""
    return f"{1e3 * seconds:,.0f}" if seconds >= 1 else f"{1e3 * seconds:.3g}"


def _times(value: float | None, grows: bool) -> str:
    return "-" if value is None else f"{value:.0%}" if grows else f"{value:.2f}"


def cells(line: dict[str, Any], row: Row, found: Found) -> list[str]:
    """Return the cells of one measurement."""
    key, grows, several = lines.key_of(line), bool(row.grow), line["ranks"] > 1
    scale = f", {line['asked']['parameters']['scale']}" if row.largest and line["status"] == "measured" else ""
    head = [row.name + scale, line["work"], str(line["ranks"])]
    predicted = "-"
    if (said := line.get("predicted")) is not None:
        predicted = ms(said["seconds"])
        if several:
            times = ratio(found, key, said=True, base=_against(row, line))
            predicted += f", {_times(times, grows)}, {size(said['bytes'])}, {said['share']:.0%}"
    bars = "; ".join(
        reached(bar, row, found, key[0]) for bar in row.bars if (bar.work, bar.ranks) == (line["work"], line["ranks"])
    )
    if line["status"] != "measured":
        return [*head, line["status"], *["-"] * 5, predicted, bars or "-"]
    times = ratio(found, key, base=_against(row, line)) if several else None
    rate = f"{line['median_gteps']:.3g}" if "median_gteps" in line else "-"
    return [
        *head,
        f"{ms(line['seconds'])} / {ms(line['slowest_seconds'])}",
        _times(times, grows),
        rate,
        size(line["bytes"]) if several else "-",
        f"{line['share']:.0%}" if several else "-",
        f"{line['place']:.2f}",
        predicted,
        bars or "-",
    ]


def _against(row: Row, line: dict[str, Any]) -> str:
    """Return the row whose run by one counts, where a bar names another than ``row``."""
    return next((bar.against for bar in row.bars if bar.work == line["work"] and bar.against), "")


def markdown(headers: tuple[str, ...], filled: list[list[str]]) -> str:
    """Return a table."""
    rows = "\n".join(f"| {' | '.join(each)} |" for each in filled)
    return f"| {' | '.join(headers)} |\n|{'---|' * len(headers)}\n{rows}"


def section_table(rows: tuple[Row, ...], found: Found, section: str) -> str:
    """Return the table of a section, and beneath it why what was left out was left out; "" where no line is of it."""
    filled: list[list[str]] = []
    why: Counter[str] = Counter()
    for row in rows:
        for work in row.works:
            for count in row.counts:
                line = found.get((section, row.name, work, count))
                if line is None:
                    continue
                filled.append(cells(line, row, found))
                if line["reason"]:
                    why[line["reason"]] += 1
    if not filled:
        return ""
    headers = ("graph", "work", "GPUs" if section == "rows" else "ranks", "ms, median / slowest", *HEADERS)
    text = markdown(headers, filled)
    told = (f"- {reason} ({count} lines)" for reason, count in why.items())
    return f"{text}\n\nLeft out:\n\n" + "\n".join(told) if why else text


def merrill(rows: tuple[Row, ...], found: Found) -> str:
    """Return searches by several GPUs beside Merrill's: measured, else as predicted."""
    filled = [["Merrill, Garland, Grimshaw: Tesla C2050, measured", *(f"{times:g}" for times in MERRILL.values())]]
    for row in rows:
        if row.grow or "bfs" not in row.works or any(bar.kind == "stays" for bar in row.bars):
            continue
        shown = []
        for count in MERRILL:
            key = ("rows", row.name, "bfs", count)
            base = next((bar.against for bar in row.bars if bar.against), "")
            measured, said = ratio(found, key, base=base), ratio(found, key, base=base, said=True)
            told = "-" if said is None else f"{said:.2f} (predicted)"
            shown.append(told if measured is None else f"{measured:.2f}")
        if set(shown) != {"-"}:
            filled.append([f"{row.name}, {row.residency}", *shown])
    return markdown(("times one GPU", *(f"{count} GPUs" for count in MERRILL)), filled)


def tables(found: Found, suite: cases.Suite) -> dict[str, str]:
    """Return the tables that there are lines for, by the names that mark their places in the page.

    Raises
    ------
    InputError
        There is none.
    """
    made = {"GPUs": section_table(suite.rows, found, "rows"), "dry": section_table(suite.dry, found, "dry")}
    if made["GPUs"]:
        made["Merrill"] = merrill(suite.rows, found)
    if not any(made.values()):
        raise InputError("no line of a row of this suite; tools/bench_ranks.py writes them")
    return {name: table for name, table in made.items() if table}


def put(text: str, made: dict[str, str], tool: str = "rank_table.py") -> str:
    """Return the page ``text`` with the tables between their marks, which name the ``tool``.

    Raises
    ------
    InputError
        A mark is missing.
    """
    for name, table in made.items():
        begin, end = MARKS.format(tool, name), MARKS.format(tool, f"end of {name}")
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise InputError(f"the page lacks the marks {begin} and {end}; put them where the table belongs")
        text = f"{before}{begin}\n\n{table}\n\n{end}{after}"
    return text


def main() -> None:
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lines", type=Path, nargs="+", help="files of JSON lines; later ones count")
    parser.add_argument(
        "--suite", type=Path, default=SUITE, help="where the bars are; default: configs/bench-ranks.toml"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put them between their marks")
    given = parser.parse_args()
    made = tables(lines.read(given.lines), cases.read(given.suite))
    if given.write is None:
        print("\n\n".join(made.values()))
        return
    given.write.write_text(put(given.write.read_text(encoding="utf-8"), made), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"rank_table: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
