"""Make docs/results/mutants.md of what tools/mutants.py --rows has written.

    python tools/mutant_page.py [ROWS.jsonl ...] [--commit HASH]

Rows are put to those of docs/results/mutants.jsonl, in place of older ones about the same mutant in the same build;
rows about a bug or a file that has changed since go. A mutant without a row gets one that says so. The page is made of
that file alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from mutant import BUILDS, REPOSITORY, Mutant
from mutant_list import MUTANTS
from mutants import Row, read_rows

from bigbfs.formats.atomic import replacing
from bigbfs.report.table import markdown

FOLDER = REPOSITORY / "docs" / "results"
NOT_RUN = "not run"

ABOUT = """# Planted bugs, and which build caught them

`tools/mutants.py` plants each bug into a copy of the kernels and runs the tests that can see it in the builds of the
emulation ([../kernel-testing.md](../kernel-testing.md)), on the smaller set of graphs. A word says how it was caught (a
wrong *result*, a broken *invariant*, a *race*, an *address* outside an array, a *guard* behind an array written over,
a *divergent* barrier or warp operation, a *livelock*, a *crash*, *undefined* behaviour, a test that *hangs*); *passed*:
not by this build; nothing: not run in this build. The test that caught it passes on the kernels as they are.

Rows: [mutants.jsonl](mutants.jsonl), with the test, its message and the commit of each.
"""


def merged(rows: Iterable[Row], mutants: Sequence[Mutant]) -> list[Row]:
    """Return the last row about each mutant as it is now and each build, in the order of mutants and builds."""
    last = {(row.mutant, row.digest, row.build): row for row in rows}
    result = []
    for mutant in mutants:
        digest = mutant.digest()
        mine = [last[key] for key in ((mutant.name, digest, build) for build in BUILDS) if key in last]
        result += mine or [Row(mutant.name, mutant.file, "", NOT_RUN, 0.0, 0, "", "", digest, "")]
    return result


def page(rows: Sequence[Row]) -> str:
    """Return the page."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.mutant, []).append(row)
    caught = [name for name, mine in by_name.items() if any(row.caught for row in mine)]
    unseen = [name for name, mine in by_name.items() if mine[0].verdict == NOT_RUN]
    left = [name for name in by_name if name not in caught and name not in unseen]
    parts = [ABOUT, f"{len(caught)} of {len(by_name)} are caught by some build; {_each(rows)}.", _commits(rows)]
    parts += [_named(f"{len(left)} passed every build that ran on them, and are open:", left, by_name)] if left else []
    parts += [_named(f"{len(unseen)} are not run:", unseen, by_name)] if unseen else []
    for file in dict.fromkeys(row.file for row in rows):
        names = [name for name, mine in by_name.items() if mine[0].file == file and name not in unseen]
        if names:
            cells = [[name.replace("|", "\\|"), *_cells(by_name[name])] for name in names]
            parts.append(f"## {file}\n\n{markdown(('planted bug', *BUILDS), cells)}")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _cells(rows: Sequence[Row]) -> list[str]:
    verdicts = {row.build: row.verdict for row in rows}
    return [verdicts.get(build, "") for build in BUILDS]


def _each(rows: Sequence[Row]) -> str:
    """Return how many of its mutants each build caught."""
    counts = {build: [row for row in rows if row.build == build] for build in BUILDS}
    return ", ".join(
        f"{build} {sum(row.caught for row in mine)} of {len(mine)} tried" for build, mine in counts.items() if mine
    )


def _commits(rows: Sequence[Row]) -> str:
    names = ", ".join(dict.fromkeys(row.commit for row in rows if row.commit))
    return f"Run at {names}; bugs and files with them are what they were then." if names else ""


def _named(title: str, names: Sequence[str], by_name: dict[str, list[Row]]) -> str:
    lines = []
    for name in names:
        builds = ", ".join(row.build for row in by_name[name] if row.build)
        lines.append(f"- {name}" + (f" (passed {builds})" if builds else ""))
    return f"{title}\n\n" + "\n".join(lines)


def main() -> None:
    """Read rows, write rows and page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path, nargs="*", help="what tools/mutants.py --rows has written")
    parser.add_argument("--commit", default="", help="of rows from a tree without git")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of mutants.jsonl and mutants.md")
    options = parser.parse_args()
    kept = options.folder / "mutants.jsonl"
    told = [replace(row, commit=row.commit or options.commit) for path in options.rows for row in read_rows(path)]
    rows = merged([*read_rows(kept), *told], MUTANTS)
    with replacing(kept) as stream:
        stream.write("".join(json.dumps(asdict(row)) + "\n" for row in rows).encode())
    with replacing(options.folder / "mutants.md") as stream:
        stream.write(page(rows).encode())
    caught = {row.mutant for row in rows if row.caught}
    print(f"{options.folder / 'mutants.md'}: {len(caught)} of {len(MUTANTS)} caught")


if __name__ == "__main__":
    main()
