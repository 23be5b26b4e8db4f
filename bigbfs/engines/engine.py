"""What a CPU engine and a GPU engine have in common."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.record import BfsResult, BytesRecord, ComponentsResult, RunRecord, SetupRecord


class Engine(Protocol):
    """What a CPU or GPU engine offers; vertices are internal."""

    backend: str
    device: str
    residency: str
    strategy: str
    setup: SetupRecord
    bytes: BytesRecord

    def bfs(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> BfsResult:
        """Traverse from the vertex ``source``; what is not wanted is all -1 and not paid for."""
        ...

    def traverse(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> RunRecord:
        """Do as ``bfs``, but return no more than what was measured."""
        ...

    def connected_components(self, options: ComponentsOptions | None = None) -> ComponentsResult:
        """Label the (weakly) connected components."""
        ...

    def close(self) -> None:
        """Release what the engine placed."""
        ...

    def __enter__(self) -> Engine: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
