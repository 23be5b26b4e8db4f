"""Converting from Python, by keywords: the fields of ``ConvertOptions``, all optional, as type checkers see them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from bigbfs.sizes import file_path, refuse_unknown

if TYPE_CHECKING:
    from bigbfs.conversion.report import ConvertReport


class ConvertKeywords(TypedDict, total=False):
    """See :class:`bigbfs.conversion.ConvertOptions`."""

    directed: bool
    undirected: bool
    in_edges: bool
    keep_duplicates: bool
    keep_self_loops: bool
    keep_ids: bool
    order: str | None
    compressed: bool
    format: str | None
    skip_bad_lines: int
    columns: tuple[int | str, int | str] | None
    edge_index: bool
    bipartite: bool
    names: bool | None
    header: bool | None
    memory: int | None
    tmp: Path | None
    shards: int | None
    force: bool
    threads: int | None
    progress: bool


def convert(
    inputs: str | Path | Sequence[str | Path], output: str | Path | None = None, **options: Unpack[ConvertKeywords]
) -> ConvertReport:
    """Convert edge lists or graph files of other tools to .csrbin (and .ccsr); see ``bigbfs convert --help``.

    Parameters
    ----------
    inputs
        One path or several; several are one graph.
    output
        Path of the result; None: beside the first input.
    **options
        Fields of :class:`bigbfs.conversion.ConvertOptions`.

    Returns
    -------
    bigbfs.conversion.ConvertReport
        What was read and written.

    Raises
    ------
    InputError, FileAccessError, DoesNotFitError, UsageError
        As the command's exit codes 1, 1, 5 and 2.
    """
    from bigbfs.conversion import ConvertOptions
    from bigbfs.conversion import convert as run

    several = inputs if isinstance(inputs, list | tuple) else [inputs]
    paths = [file_path("inputs", each) for each in several]
    refuse_unknown("convert", options, ConvertOptions.__dataclass_fields__)
    return run(paths, None if output is None else file_path("output", output), ConvertOptions(**options))
