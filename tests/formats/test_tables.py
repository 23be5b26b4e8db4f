"""docs/formats.md: the tables of formats are what the registries say (run this file to print them)."""

from __future__ import annotations

from pathlib import Path

from bigbfs.formats.readers import formats
from bigbfs.formats.writers import writers

DOC = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


def coded(words) -> str:
    return ", ".join(f"`{word}`" for word in words)


def readers_table() -> str:
    lines = ["| `--format` | what | suffixes | also called | told by content | streams |", "|---|---|---|---|---|---|"]
    for entry in formats().values():
        told, streams = ("yes" if flag else "" for flag in (entry.recognize is not None, entry.streams))
        cells = (f"`{entry.name}`", entry.summary, coded(entry.suffixes), coded(entry.aliases), told, streams)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def writers_table() -> str:
    lines = ["| `--to` | content | suffix | vertices |", "|---|---|---|---|"]
    for entry in writers().values():
        ids = "original ids" if entry.numbered_from is None else f"from {entry.numbered_from}"
        most = "" if entry.most_vertices is None else ", at most 2^31"
        lines.append(f"| `{entry.name}` | {entry.summary} | `{entry.suffix}` | {ids}{most} |")
    return "\n".join(lines)


def test_the_tables_are_what_the_registries_say():
    text = DOC.read_text(encoding="utf-8")
    for table in (readers_table(), writers_table()):
        assert f"\n\n{table}\n\n" in text, f"docs/formats.md lacks this table:\n{table}"
    assert all(entry.most_vertices in (None, 2**31) for entry in writers().values())


def test_the_readme_names_every_format():
    text = (DOC.parents[1] / "README.md").read_text(encoding="utf-8")
    assert [entry.name for entry in formats().values() if f"`{entry.suffixes[0]}`" not in text] == []
    assert [entry.name for entry in writers().values() if f"`--to {entry.name}`" not in text] == []


if __name__ == "__main__":
    print(readers_table(), writers_table(), sep="\n\n")
