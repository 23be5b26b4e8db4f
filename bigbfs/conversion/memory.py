"""How much memory a conversion takes, and refusing one that would not fit before it starts."""

from __future__ import annotations

from bigbfs.adjacency import id_dtype
from bigbfs.errors import DoesNotFitError
from bigbfs.sizes import format_size, free_memory

DEFAULT_SHARE = 0.7
"""Share of the free memory that a conversion may take when nobody says otherwise."""

KEY = 8  # bytes of a sort key
OFFSETS = 8 * 3  # bytes per vertex: offsets of the half-built rows, of the result, and degrees or a rank


def default_allowance() -> int:
    """Return the bytes that a conversion may take by default: 70 % of what is free."""
    return int(DEFAULT_SHARE * free_memory())


def build_need(n: int, lines: int, held: int, *, both: bool) -> int:
    """Return the bytes that a build takes at its peak, the lines included.

    Parameters
    ----------
    n, lines
        Vertices and edges.
    held
        Bytes of the edge lists.
    both
        Every line is stored in both directions (else in one, with the in-edges in a twin).
    """
    ids = id_dtype(n).itemsize
    partition = held + KEY * lines
    transposition = ids * lines + KEY * lines + (2 if both else 1) * ids * lines
    return max(partition, transposition) + OFFSETS * n


def require(
    need: int,
    allowed: int | None,
    *,
    already_held: int = 0,
    what: str = "building this graph",
    advice: str = "",
) -> None:
    """Refuse work that takes ``need`` bytes when only ``allowed`` may be used.

    Parameters
    ----------
    allowed
        None: the default share of what is free, plus what is ``already_held``.
    what
        The work, as the subject of the message.
    advice
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
        f"{what} takes about {format_size(need)} of memory, and {format_size(limit)} may be used"
        f"{basis}; {advice}allow more with --memory, or free some"
    )
