"""How much memory a conversion takes, and refusing one that would not fit before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders import KEPT
from bigbfs.conversion.sampling import sample_ids
from bigbfs.errors import Argument, DoesNotFitError, Remedy, RemedyLike
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.formats.readers.read import estimate
from bigbfs.graph.adjacency import id_dtype
from bigbfs.sizes import free_memory, size_allowed, size_needed

DEFAULT_SHARE = 0.5
"""Share of the free memory that a conversion may take when nobody says otherwise."""

PROGRAM = 150 << 20
"""Bytes that Python, its libraries and the compiled code take (measured: 172 MB for a graph of three vertices)."""
EXTERNAL_ORDERS = ("original", "degree")
"""Orders of vertices that a conversion on disk can make."""
SPILLED = (*EXTERNAL_ORDERS, KEPT, None)
"""Orders with which one can go by way of the disk: what would be kept is lost there, and said to be."""

ON_DISK = Remedy(
    Argument("order", EXTERNAL_ORDERS[0]),
    f"choose {{}} (or {' or '.join(EXTERNAL_ORDERS[1:])}), which can go by way of the disk",
)
"""What helps where an order needs the whole graph in memory."""

KEY = 8  # bytes of a sort key
OFFSETS = 8 * 3  # bytes per vertex: offsets of the half-built rows, of the result, and degrees or a rank


def default_allowance() -> int:
    """Return the bytes that a conversion may take by default: half of what is free."""
    return int(DEFAULT_SHARE * free_memory())


def build_need(n: int, lines: int, held: int, *, both: bool, reordered: bool = False) -> int:
    """Return the bytes that a build takes at its peak, the lines included.

    Parameters
    ----------
    n, lines
        Vertices and edges.
    held
        Bytes of the edge lists.
    both
        Every line is stored in both directions (else in one, with the in-edges in a twin).
    reordered
        The vertices are put into another order: the rows are there twice, beside two sort keys an edge.
    """
    ids = id_dtype(n).itemsize
    partition = held + KEY * lines
    transposition = ids * lines + KEY * lines + (2 if both else 1) * ids * lines
    renumbering = (2 * 2 * ids + 2 * KEY) * lines + (OFFSETS + 2 * KEY) * n if reordered else 0
    return max(partition, transposition, renumbering) + OFFSETS * n


def guessed(inputs: Sequence[str | Path], options: ConvertOptions) -> list[InputEstimate]:
    """Return what reading each input takes: closely only where more would not fit.

    Raises
    ------
    InputError, FileAccessError, UsageError
        As :func:`bigbfs.formats.readers.read.estimate`.
    """
    how: dict[str, Any] = {"format": options.format, "rules": options.rules()}
    guesses = [estimate(path, loosely=True, **how) for path in inputs]
    assert options.memory is not None
    if _whole(guesses, options, 2 * _lines(guesses)) <= options.memory:
        return guesses
    return [estimate(path, **how) for path in inputs]


def _lines(guesses: Sequence[InputEstimate]) -> int:
    return sum(guess.edges_upper_bound for guess in guesses)


def _whole(guesses: Sequence[InputEstimate], options: ConvertOptions, vertices: int) -> int:
    """Return the bytes that a conversion in memory takes."""
    reading, reordered = sum(guess.memory_bytes for guess in guesses), options.reordered
    building = build_need(vertices, _lines(guesses), reading, both=not options.directed, reordered=reordered)
    return max(reading, building) + PROGRAM


def must_spill(inputs: Sequence[str | Path], guesses: Sequence[InputEstimate], options: ConvertOptions) -> bool:
    """Tell whether a conversion has to go by way of the disk, as its estimate and ``options.memory`` say.

    So does one whose size nobody knows beforehand (standard input, a pipe).

    Raises
    ------
    DoesNotFitError
        Even reading takes more: an input of a format that has to be in memory as a whole.
    """
    lines = _lines(guesses)
    vertices = max((guess.declared_vertices or 0 for guess in guesses), default=0)
    assert options.memory is not None
    unknown = any(guess.bytes_in == 0 for guess in guesses)
    short = unknown or _whole(guesses, options, 2 * lines) > options.memory
    if not vertices and short and len(sample := sample_ids(inputs)):
        vertices = min(2 * lines, int(sample[-1]) + 1)
    need = _whole(guesses, options, vertices)
    if need <= options.memory and not unknown:
        return False
    if not may_spill(guesses, options):
        remedies = () if options.order in SPILLED else (ON_DISK,)
        require(need, options.memory, what=f"converting {', '.join(map(str, inputs))}", remedies=remedies)
        return False
    return True


def may_spill(guesses: Sequence[InputEstimate], options: ConvertOptions) -> bool:
    """Tell whether a conversion can go by way of the disk: its order is one of those, and reading takes no more.

    Inputs of some formats have to be in memory as a whole.
    """
    assert options.memory is not None
    whole = sum(guess.memory_bytes for guess in guesses if not guess.streams)
    return options.order in SPILLED and (whole == 0 or whole + PROGRAM <= options.memory)


def require(
    need: int,
    allowed: int | None,
    *,
    already_held: int = 0,
    what: str = "building this graph",
    remedies: tuple[RemedyLike, ...] = (),
) -> None:
    """Refuse work that takes ``need`` bytes when only ``allowed`` may be used.

    Parameters
    ----------
    allowed
        None: the default share of what is free, plus what is ``already_held``.
    what
        The work, as the subject of the message.
    remedies
        What else would help.

    Raises
    ------
    DoesNotFitError
        With need, allowance and the options that help.
    """
    limit = default_allowance() + already_held if allowed is None else allowed
    if need <= limit:
        return
    basis = f" ({DEFAULT_SHARE:.0%} of what is free)" if allowed is None else ""
    raise DoesNotFitError(
        f"{what} takes about {size_needed(need)} of memory, and {size_allowed(limit)} may be used{basis}",
        remedies=(*remedies, ("memory", None), "free some"),
    )
