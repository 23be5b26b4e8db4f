"""What an entry of the catalogue of BFS strategies says: all that the rest of the package knows of a strategy.

Allocation, ledger, kernel defines, warm-up, ``plan``, help, ``strategies``, ``verify`` and the tests read entries; a
strategy is one entry and at most one .cu file. No NumPy: the command line prints the catalogue without it.
"""

from __future__ import annotations

from dataclasses import dataclass

RECORD_FIELDS = ("size", "checked", "invalid", "taken", "edges", "vertices", "small", "medium", "large")
"""What a level counts on the device, each a u64 (``struct Record``, search.cuh)."""

RECORDS = 1024
"""Levels that are counted before the host begins again with the first record."""

BINS = 1024
"""Levels whose vertices one pass counts after a search."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array in device memory.

    Attributes
    ----------
    name
        The field of ``struct Search`` and the line of the ledger.
    dtype
        ``"id"``, ``"u8"``, ``"u32"``, ``"u64"`` or ``"i32"``.
    count
        How many, as a formula in n, words (n / 32), chunks (of hub rows) and slots (levels that are recorded).
    purpose
        For the ledger.
    zeroed
        Whether it is zero when it is made.
    element
        What kernels call an element, where it is a struct.
    """

    name: str
    dtype: str
    count: str
    purpose: str
    zeroed: bool = False
    element: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One launch of a level.

    Attributes
    ----------
    kernel
        Its name in the strategy's file.
    covers
        Threads that have something to do, as a formula in frontier (entries of the queue), n, words and resident (what
        the device runs at once); never more than resident are launched, and each goes on in strides.
    when
        ``"always"``; where the entry has a ``turn``, ``"wide"`` or ``"narrow"``: levels above it and the others;
        ``"swept"``: instead of these, in levels whose edge queue does not hold all, and in the first; ``"overflow"``:
        after a level that has found more than its queue holds.
    clears
        Arrays that are zeroed before.
    batched
        Whether it runs again, with the other batched steps, for each further window of the edge queue.
    """

    kernel: str
    covers: str
    when: str = "always"
    clears: tuple[str, ...] = ()
    batched: bool = False


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to expand frontiers.

    Attributes
    ----------
    name
        What ``--strategy`` takes.
    summary
        One line for ``bigbfs strategies``.
    source
        Where it comes from.
    frontier
        How a frontier is stored.
    mapping
        Which work a thread, a warp or a block takes.
    filter
        Who wins a vertex that several find.
    wins, loses
        On which graphs.
    loop
        ``"persistent"``: the kernel goes from level to level by itself; ``"levels"``: the host launches each.
    file
        The .cu file, by its path in the package.
    steps
        What a level launches, in this order.
    arrays
        Everything in device memory that it has of its own.
    backends, residencies
        Where it runs.
    needs
        What it needs of a graph beyond its rows.
    bottom_up
        Whether levels may search for parents instead of expanding.
    swaps
        Pairs of arrays that change places after each level.
    clears
        Arrays that are zeroed before a search.
    turn
        Size of a frontier above which a level is wide, as a formula in n and resident; empty: there are no such levels.
    claims
        The result that says who has been won, ``"levels"`` or ``"parents"``: it is kept though nobody wants it.
    racing
        Whether a vertex may enter a queue more than once, so that a queue may overflow.
    defines
        Further ``-D`` defines, where several strategies share a file.
    """

    name: str
    summary: str
    source: str
    frontier: str
    mapping: str
    filter: str
    wins: str
    loses: str
    loop: str
    file: str
    steps: tuple[Step, ...]
    arrays: tuple[Array, ...]
    backends: tuple[str, ...] = ("gpu",)
    residencies: tuple[str, ...] = ("vram", "mapped")
    needs: tuple[str, ...] = ("nothing beyond its rows",)
    bottom_up: bool = False
    swaps: tuple[tuple[str, str], ...] = ()
    clears: tuple[str, ...] = ()
    turn: str = ""
    claims: str = "levels"
    racing: bool = False
    defines: tuple[tuple[str, str], ...] = ()

    @property
    def kernels(self) -> tuple[tuple[str, str], ...]:
        """(file, kernel) of every launch."""
        return tuple(dict.fromkeys((self.file, step.kernel) for step in self.steps))


LEVELS = Array("levels", "i32", "n", "result, and who is reached")
PARENTS = Array("parents", "id", "n", "result")
RESULTS = (
    LEVELS,
    PARENTS,
    Array("records", "u64", f"{(RECORDS + 1) * len(RECORD_FIELDS)}", "what each level counts"),
    Array("histogram", "u64", f"{BINS + 1}", "vertices of each level, counted after the search"),
)
"""What every strategy has whose levels the host launches."""
