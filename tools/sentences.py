"""What reports say in words (configs/reported.toml, ``[[sentences]]``), with ours beside it as a Markdown table.

A sentence either names contenders of ours, whose times are divided, or says where its answer stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import harmonic_mean

from reported import LIKENESS

from bigbfs.config import from_table, read_toml
from bigbfs.errors import ConfigError
from bigbfs.report.summary import Line
from bigbfs.report.table import markdown

MEANS: dict[str, Callable[[Sequence[float]], float]] = {"harmonic": harmonic_mean, "largest": max}
"""How the ratios of several graphs become one."""


@dataclass(frozen=True)
class Sentence:
    """A figure that a report gives in words; the fields are those of the file.

    ``slower`` and ``faster`` are contenders, whose times are divided on each of ``graphs``; ``ours`` is an answer in
    words instead.
    """

    report: str
    says: str
    figure: str
    likeness: str
    slower: str = ""
    faster: str = ""
    graphs: tuple[str, ...] = ()
    mean: str = "harmonic"
    ours: str = ""

    def __post_init__(self) -> None:
        """Refuse what has no answer, or two."""
        if self.likeness not in LIKENESS or self.mean not in MEANS:
            raise ConfigError(f"{self.says}: likeness is {self.likeness!r}, mean {self.mean!r}")
        if bool(self.ours) == bool(self.slower and self.faster and self.graphs):
            raise ConfigError(f"{self.says}: give either ours, or slower, faster and graphs")


def read_sentences(path: Path) -> list[Sentence]:
    """Return the sentences of ``path``.

    Raises
    ------
    FileAccessError, ConfigError
        It cannot be read, or one of them cannot be answered.
    """
    tables = read_toml(path).get("sentences", [])
    return [from_table(Sentence, table, f"{path}, {table.get('report')}: {table.get('says')}") for table in tables]


def answer(sentence: Sentence, lines: Mapping[tuple[str, str], Line]) -> str:
    """Return ours: the ratio, and of how many graphs if some did not run."""
    if sentence.ours:
        return sentence.ours
    pairs = [(lines.get((g, sentence.slower)), lines.get((g, sentence.faster))) for g in sentence.graphs]
    ratios = [slow.traversal / fast.traversal for slow, fast in pairs if slow and fast and fast.traversal]
    if not ratios:
        return "not measured"
    whole = f"{MEANS[sentence.mean](ratios):.3g}x: {sentence.slower} / {sentence.faster}"
    if len(sentence.graphs) == 1:
        return f"{whole}, {sentence.graphs[0]}"
    return f"{whole}, {sentence.mean} of {len(ratios)} graphs, {min(ratios):.3g} to {max(ratios):.3g}"


def in_words(sentences: list[Sentence], lines: list[Line]) -> str:
    """Return the sentences with ours beside them as a Markdown table."""
    by_name = {(line.graph, line.contender): line for line in lines}
    rows = [(s.report, s.says, s.figure, s.likeness, answer(s, by_name)) for s in sentences]
    return markdown(("report", "says", "reported", "likeness", "ours"), rows)
