"""Whether the shares of all ranks fit their memory: then pairs never go to disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bigbfs.conversion.memory import KEY, PROGRAM, build_need, require
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.sampling import sample_ids
from bigbfs.formats.readers.estimates import InputEstimate

TOLD = KEY
"""Bytes of a line while it is told: its key as it goes out, beside that which it becomes among those of others."""
UNEVEN = 1.25
"""How much more a rank sorts than the mean, where rows are cut so that sorting and writing together are even."""
OF_ALL = 8 * 3
"""Bytes of a vertex, for each of all, that a rank holds beside its own: ids as they come from others, their table."""


def fits(
    inputs: Sequence[str | Path],
    guesses: Sequence[InputEstimate],
    readers: Sequence[int | None],
    options: ConvertOptions,
    size: int,
    *,
    common: bool = False,
) -> bool:
    """Return whether what each of ``size`` ranks has to hold is within ``options.memory``, as far as one can guess.

    Parameters
    ----------
    readers
        Which rank reads an input; None: all do, a share each.
    common
        They work on one state: each is as much of it as any other.
    """
    assert options.memory is not None
    lines = sum(guess.edges_upper_bound for guess in guesses)
    if common and set(readers) == {None}:
        state = build_need(2 * lines, lines, sum(guess.memory_bytes for guess in guesses), both=not options.directed)
        if state // size + OF_ALL * 2 * lines + PROGRAM <= options.memory:
            return True  # without a look at ids
    held, most = _largest([guess.memory_bytes for guess in guesses], readers, size), options.memory
    share = lines if size == 1 else UNEVEN * lines / size
    mine = max(int(share), _largest([guess.edges_upper_bound for guess in guesses], readers, size))

    def whole(vertices: int) -> int:
        return max(held, need_of(vertices, mine, held, both=not options.directed)) + PROGRAM

    vertices = 2 * lines
    if whole(vertices) > most and len(sample := sample_ids(inputs)):
        vertices = min(vertices, int(sample[-1]) + 1)
    return whole(vertices) <= most


def _largest(amounts: Sequence[int], readers: Sequence[int | None], size: int) -> int:
    """Return the share of the rank that has most: of what all read, and of what one reads."""
    shares = [sum(-(-amount // size) for amount, reader in zip(amounts, readers, strict=True) if reader is None)] * size
    for amount, reader in zip(amounts, readers, strict=True):
        if reader is not None:
            shares[reader] += amount
    return max(shares)


def need_of(n: int, lines: int, held: int, *, both: bool) -> int:
    """Return the bytes that a rank takes at its peak; parameters as of ``build_need``, lines its own."""
    return build_need(n, lines, held, both=both) + TOLD * lines + OF_ALL * n


def require_share(n: int, lines: int, stored: int, options: ConvertOptions) -> None:
    """Refuse a share of ``lines`` to sort, of which ``stored`` edges are made.

    Raises
    ------
    DoesNotFitError
        It takes more than the rank may use.
    """
    need = need_of(n, max(lines, stored // (1 if options.directed else 2)), 0, both=not options.directed)
    require(need + PROGRAM, options.memory, what="sorting its rows in memory")
