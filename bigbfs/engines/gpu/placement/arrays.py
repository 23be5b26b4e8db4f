"""State in device memory, declared once: the ledger counts it, the pool allocates it, kernels get its address.

Algorithms declare their arrays by name. Two algorithms that declare the same name share the memory, one at a time:
what a run leaves there is lost when another takes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from bigbfs.engines.gpu.placement.formulas import evaluate
from bigbfs.engines.gpu.runtime.runtime import Array, Pinned, Runtime, Stage

DTYPES = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "i32": np.int32}
"""Names of dtypes; ``"id"`` is that of a vertex id."""


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """An array of an algorithm's state.

    Attributes
    ----------
    name
        What the ledger calls it.
    dtype
        A name of ``DTYPES``, or ``"id"``.
    count
        Elements: a formula in the fields of ``Sizes``, with + - * // and parentheses.
    purpose
        What it is for, for people.
    zeroed
        Whether it is zero when it is first lent.
    where
        ``"vram"``, or ``"host"`` for memory that a run takes there, which is counted and not allocated by the pool.
    element
        What kernels call an element, where it is a struct.
    """

    name: str
    dtype: str
    count: str
    purpose: str
    zeroed: bool = False
    where: str = "vram"
    element: str = ""

    def elements(self, sizes: Sizes) -> int:
        """Return how many elements it has."""
        return evaluate(self.count, sizes.__getattribute__)

    def bytes(self, sizes: Sizes) -> int:
        """Return the bytes that it takes."""
        return self.elements(sizes) * (sizes.id if self.dtype == "id" else np.dtype(DTYPES[self.dtype]).itemsize)


def pointer_fields(specs: Iterable[ArraySpec]) -> str:
    """Return the fields of a struct of pointers to these arrays, in C, for a ``-D`` define."""
    names = {"id": "vid"}
    return " ".join(f"{spec.element or names.get(spec.dtype, spec.dtype)}* {spec.name};" for spec in specs)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What formulas may name: vertices, edges, chunks of hub rows, bytes of an id, vertices up to the last that has an
    edge, words of a bitmap of all vertices, and of these; words of the table by which ids of rows outside become
    numbers."""

    n: int
    m: int
    chunks: int
    id: int
    reachable: int
    table: int = 0

    @property
    def words(self) -> int:
        """Words of 32 bits of a bitmap of the vertices."""
        return -(-self.n // 32)

    @property
    def reachable_words(self) -> int:
        """Words of 32 bits of a bitmap of the vertices up to the last that has an edge."""
        return -(-self.reachable // 32)


def union(groups: Iterable[tuple[ArraySpec, ...]], sizes: Sizes) -> list[ArraySpec]:
    """Return every array of ``groups`` once, in order of first appearance; of those that share a name the largest."""
    found: dict[str, ArraySpec] = {}
    for spec in (spec for group in groups for spec in group):
        known = found.get(spec.name)
        if known is None or known.bytes(sizes) < spec.bytes(sizes):
            found[spec.name] = spec
    return list(found.values())


class Pool:
    """The arrays of all programs of one engine, made when they are first asked for.

    Parameters
    ----------
    runtime
        The device.
    sizes
        Of the placed graph.
    ids
        Dtype of an id.

    Attributes
    ----------
    sizes
        As given.
    """

    def __init__(self, runtime: Runtime, sizes: Sizes, ids: np.dtype) -> None:
        self._runtime = runtime
        self.sizes = sizes
        self._ids = ids
        self._arrays: dict[str, Array] = {}
        self._holders: dict[str, object] = {}
        self._stages: dict[tuple[str, int, int], list[Stage]] = {}
        self._pinned: dict[tuple[str, int], Pinned] = {}

    def lend(self, spec: ArraySpec, holder: object) -> tuple[Array, bool]:
        """Return the array of ``spec``, and whether it is as ``holder`` left it: nobody else has had it since. Where
        another asked for a longer one, it is the beginning of that."""
        count, dtype = spec.elements(self.sizes), self._dtype(spec)
        array = self._arrays.get(spec.name)
        if array is None or array.nbytes < count * dtype.itemsize:
            self._arrays.pop(spec.name, None)
            self._holders.pop(spec.name, None)
            array = self._arrays[spec.name] = (self._runtime.zeros if spec.zeroed else self._runtime.empty)(
                count, dtype
            )
        assert array.dtype == dtype, f"{spec.name} is {array.dtype} to one algorithm, {dtype} to another"
        same = self._holders.get(spec.name) is holder
        self._holders[spec.name] = holder
        return array if len(array) == count else array[:count], same

    def _dtype(self, spec: ArraySpec) -> np.dtype:
        return self._ids if spec.dtype == "id" else np.dtype(DTYPES[spec.dtype])

    def stages(self, name: str, count: int, nbytes: int) -> list[Stage]:
        """Return ``count`` pinned buffers of ``nbytes`` each with their twins: one set of a name and a size, made when
        it is first asked for. The ledger does not know it: who asks must do without.

        Raises
        ------
        DoesNotFitError
            There is no memory for them.
        """
        key = name, count, nbytes
        if key not in self._stages:
            with ExitStack() as undoing:
                made = []
                for _ in range(count):
                    made.append(self._runtime.stage(nbytes))
                    undoing.callback(made[-1].close)
                undoing.pop_all()
            self._stages[key] = made
        return self._stages[key]

    def pinned(self, name: str, nbytes: int) -> Pinned:
        """Return page-locked host memory: as :meth:`stages`, without a twin.

        Raises
        ------
        DoesNotFitError
            It cannot be had.
        """
        key = name, nbytes
        if key not in self._pinned:
            self._pinned[key] = self._runtime.pinned(nbytes)
        return self._pinned[key]

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes of every array made so far, by its name in the ledger."""
        return {name: int(array.nbytes) for name, array in self._arrays.items()}

    def close(self) -> None:
        """Let go of all arrays."""
        stages, self._stages = self._stages, {}
        pinned, self._pinned = self._pinned, {}
        self._arrays.clear()
        self._holders.clear()
        with ExitStack() as closing:
            for held in (*(each for made in stages.values() for each in made), *pinned.values()):
                closing.callback(held.close)
