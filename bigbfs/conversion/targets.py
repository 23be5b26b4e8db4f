"""Which files a conversion writes, and refusing impossible ones before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import RemedyLike, UsageError
from bigbfs.formats.readers import formats
from bigbfs.formats.readers.detect import COMPRESSION_SUFFIXES
from bigbfs.formats.streams.sources import STANDARD_INPUT


@dataclass(frozen=True)
class Targets:
    """Files to write: ``plain`` (.csrbin), ``compressed`` (.ccsr), or both; None is not written."""

    plain: Path | None
    compressed: Path | None

    @property
    def files(self) -> list[Path]:
        """All files to write; the first is the one that the command names as its output."""
        return [path for path in (self.plain, self.compressed) if path is not None]


def base_name(name: str) -> str:
    """Return a file name without the endings that say how it is packed and what it holds."""
    for endings in (COMPRESSION_SUFFIXES, [suffix for found in formats().values() for suffix in found.suffixes]):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    return name


def choose_targets(inputs: Sequence[str | Path], output: Path | None, compressed: bool) -> Targets:
    """Return the files to write: ``output``, or the first input's name with .csrbin.

    Raises
    ------
    UsageError
        No input, standard input twice or without ``output``, an output suffix that is none of ours, or an output
        that is one of the inputs.
    """
    if not inputs:
        raise UsageError("no input to convert: name a file, or - for standard input")
    if any(str(path) == "" for path in inputs):
        raise UsageError("the name of an input is empty; name a file")
    if sum(str(path) == STANDARD_INPUT for path in inputs) > 1:
        raise UsageError("standard input (-) can be read only once")
    targets = _named(Path(inputs[0]), output, compressed)
    for target in targets.files:
        _require_not_an_input(target, inputs, compressed)
    return targets


def require_a_name(first: Path, output: str) -> None:
    """Refuse an input whose name is that of a stream, beside which no file is written; ``output``: one, for example.

    Raises
    ------
    UsageError
        It is standard input, or a file of /dev or /proc: what a shell puts for ``<(command)``.
    """
    if str(first) == STANDARD_INPUT or first.is_relative_to("/dev") or first.is_relative_to("/proc"):
        called = "standard input" if str(first) == STANDARD_INPUT else f"{first}: it"
        raise UsageError(f"{called} has no name to derive the output's from", remedies=(("output", output, "say {}"),))


def _named(first: Path, output: Path | None, compressed: bool) -> Targets:
    if output is None:
        require_a_name(first, "OUT.csrbin")
        if not first.name:
            raise UsageError(f"{first}: is a folder; name the files in it")
        output = first.with_name(base_name(first.name) + ".csrbin")
    if output.suffix == ".ccsr":
        return Targets(None, output)
    if output.suffix != ".csrbin":
        raise UsageError(f"{output}: the suffix says what to write: .csrbin (plain) or .ccsr (compressed)")
    return Targets(output, output.with_suffix(".ccsr") if compressed else None)


def _require_not_an_input(target: Path, inputs: Sequence[str | Path], compressed: bool) -> None:
    for source in inputs:
        if str(source) != STANDARD_INPUT and target.exists() and Path(source).exists() and target.samefile(source):
            remedies: tuple[RemedyLike, ...] = (("output", None, "name another output with {}"),)
            if compressed and target.suffix == ".csrbin":
                remedies = (("output", str(target.with_suffix(".ccsr")), "write the compressed rows alone with {}"),)
            raise UsageError(f"{target}: is an input and would be overwritten", remedies=remedies)


def temporary(targets: Targets, options: ConvertOptions) -> Path:
    """Return the folder for temporary files."""
    return options.tmp if options.tmp is not None else targets.files[0].parent
