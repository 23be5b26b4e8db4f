"""All inputs of a conversion whose ids are names, read and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bigbfs.conversion.names.forms import same_but_for_form
from bigbfs.conversion.names.gather import Gather, Texts
from bigbfs.conversion.names.named import Named
from bigbfs.conversion.on_disk.plan import KERNELS, resident_bytes
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import DoesNotFitError
from bigbfs.formats.readers.named import Text, read_names
from bigbfs.formats.tables.library import release_unused
from bigbfs.jit.workers import Workers, thread_count
from bigbfs.report.progress import Progress
from bigbfs.sizes import size_allowed, size_needed

BATCHES = 224 << 20
"""Bytes that pyarrow takes for the batches under way (measured: up to 154 MB), and what is loaded to read them."""
LEAST = 48 << 20


def room_for(memory: int) -> int:
    """Return the bytes that names may take in a process that may take ``memory`` in all.

    Raises
    ------
    DoesNotFitError
        The program itself takes nearly as much.
    """
    held = resident_bytes() + KERNELS + BATCHES
    if memory - held < LEAST:
        raise DoesNotFitError(
            f"{size_allowed(memory)} may be used, but Python, its libraries and the tables being read take "
            f"{size_needed(held)}",
            remedies=(("memory", None, f"allow at least {size_needed(held + LEAST)} with {{}}"),),
        )
    return memory - held


def gather_names(
    inputs: Sequence[str | Path], options: ConvertOptions, scratch: Scratch, workers: Workers, sizes: int
) -> tuple[Named, dict[str, int], list[str]]:
    """Read every input; return edges and names, what was counted, and what to tell.

    Raises
    ------
    InputError, FileAccessError, UsageError
        As :func:`bigbfs.formats.readers.named.read_names`.
    DoesNotFitError
        So little memory that nothing can be done.
    """

    assert options.memory is not None
    threads = thread_count(options.threads)
    room = room_for(options.memory)
    gather = Gather(room, scratch, workers, threads)
    told = Progress(options.progress)
    read = 0
    notes: list[str] = []

    def take(first: Text, second: Text) -> None:
        gather.add(Texts(*first), Texts(*second))

    with told.step("read names", sizes, "B"):
        for path in inputs:
            rules = options.rules()
            count, said = read_names(
                path, format=options.format, rules=rules, threads=threads, take=take, progress=told.advance
            )
            read += count
            notes += said
        release_unused()
        named = Named(gather, room, scratch, workers, told)
    counted = {"lines": named.lines, "comment_lines": 0, "skipped_lines": 0, "input_bytes": read}
    alike = same_but_for_form(named.odd, named.names())
    return named, counted, notes + ([] if alike is None else [alike])
