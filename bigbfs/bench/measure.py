"""Run contenders in turn on the same sources of one graph: every source proved once, then timed.

In turn means: trial by trial, all contenders one after the other, so that whatever else happens to the machine happens
to all of them. Those that do not fit into memory beside the others run after them, and their rows say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from bigbfs.algorithms.bfs.result import RunRecord
from bigbfs.bench.contenders import Contender, Placed, columns, placed
from bigbfs.bench.directions import Directions, directions
from bigbfs.bench.graphs import Prepared, Variant
from bigbfs.errors import DoesNotFitError, VerificationError
from bigbfs.graph.graph import Graph
from bigbfs.record import Cores, disturbed, switches
from bigbfs.report.rows import GraphFacts, Row

Say = Callable[[str], None]
Trials = tuple[list[RunRecord], list[int], list[float]]
"""Of every trial what was measured, the context switches, and the share of time lost."""


@dataclass(frozen=True)
class Plan:
    """What is run on one graph.

    Attributes
    ----------
    contenders
        Who takes part.
    sources
        Original ids.
    trials
        Timed runs of each source.
    seconds
        A contender that has run this long gets no further source; 0: no limit.
    """

    contenders: Sequence[Contender]
    sources: Sequence[int]
    trials: int = 3
    seconds: float = 0.0


def facts(graph: Prepared, sources: Sequence[int]) -> GraphFacts:
    """Return what the rows' graph is."""
    with Graph.open(graph.variants[0].path) as opened:
        return GraphFacts(
            graph.name, graph.about, opened.n, opened.m, bool(opened.flags.directed), tuple(int(s) for s in sources)
        )


def measure(graph: Prepared, plan: Plan, say: Say) -> Iterator[Row]:
    """Yield a row for each contender and source on each file of ``graph``, each as soon as it is there.

    Raises
    ------
    VerificationError
        A result is wrong, or contenders differ in what they reach.
    """
    for number, variant in enumerate(graph.variants):
        taking_part = [each for each in plan.contenders if number == 0 or not each.baseline]
        with ExitStack() as stack:
            together, apart = _place(taking_part, variant, stack, say)
            yield from _Heat(graph.name, plan, together, say).run()
        for contender in apart:
            try:
                with placed(contender, variant) as alone:
                    yield from _Heat(graph.name, plan, [alone], say, in_turn=False).run()
            except DoesNotFitError as error:
                say(f"{graph.name}, {contender.name}: left out: {str(error).splitlines()[0]}")


def _place(
    contenders: Sequence[Contender], variant: Variant, stack: ExitStack, say: Say
) -> tuple[list[Placed], list[Contender]]:
    """Return those who fit side by side, and those who do not fit beside them."""
    together: list[Placed] = []
    apart: list[Contender] = []
    for contender in contenders:
        try:
            together.append(stack.enter_context(placed(contender, variant)))
        except DoesNotFitError:
            say(f"{contender.name}: does not fit beside {len(together)} others; runs after them")
            apart.append(contender)
    return together, apart


@dataclass
class _Heat:
    """Contenders that run side by side on one file."""

    name: str
    plan: Plan
    contenders: list[Placed]
    say: Say
    in_turn: bool = True
    spent: dict[int, float] = field(default_factory=dict)
    plain: Graph | None = None

    def run(self) -> Iterator[Row]:
        """Yield the rows, source by source."""
        running = list(self.contenders)
        for number, original in enumerate(self.plan.sources):
            ways = self._prove(running, original)
            timed = self._trials(running, original)
            for each in running:
                records, counts, lost = timed[id(each)]
                shared = sum(map(disturbed, lost))
                middle = sorted(records, key=lambda record: record.seconds)[len(records) // 2]
                levels = columns(middle.levels, ways) if number == 0 else None
                about = {"disturbed": shared, "in_turn": self.in_turn, "levels": levels}
                yield each.row(self.name, records, counts, ways, **about)
            running = [each for each in running if self._may_go_on(each, number)]

    def _prove(self, running: list[Placed], original: int) -> Directions | None:
        """Prove a tree of each contender; return what its levels would read in either direction."""
        found: list[tuple[Placed, RunRecord]] = []
        ways = None
        for each in running:
            start, before = time.perf_counter(), each.setting_up
            result = each.prove(each.graph.vertex(original))
            took = time.perf_counter() - start - (each.setting_up - before)
            self.spent[id(each)] = self.spent.get(id(each), 0.0) + took
            found.append((each, result.record))
            if ways is None and any(one.contender.goes_up for one in running):
                ways = directions(self._plain(each.graph), result.levels)
        self._compare(original, found)
        return ways

    def _plain(self, graph: Graph) -> Graph:
        """Return ``graph`` in plain rows, decoded once."""
        if self.plain is None:
            self.plain = graph
            if graph.codec != "plain":
                self.plain = graph.decompress()
                self.plain.declare_valid()
        return self.plain

    def _trials(self, running: list[Placed], original: int) -> dict[int, Trials]:
        """Return the trials of each contender."""
        timed: dict[int, Trials] = {id(each): ([], [], []) for each in running}
        for _ in range(self.plan.trials):
            for each in running:
                vertex = each.graph.vertex(original)
                records, counts, lost = timed[id(each)]
                before = Cores.now()
                records.append(each.run(vertex))
                counts.append(switches() - before.switches)
                lost.append(before.lost())
                self.spent[id(each)] += time.perf_counter() - before.clock
        return timed

    def _may_go_on(self, each: Placed, number: int) -> bool:
        """Tell whether a contender gets another source."""
        last = number + 1 == len(self.plan.sources)
        if last or not self.plan.seconds or self.spent[id(each)] < self.plan.seconds:
            return True
        self.say(f"{self.name}, {each.contender.name}: {self.plan.seconds:g} s are over after {number + 1} sources")
        return False

    def _compare(self, original: int, proofs: list[tuple[Placed, RunRecord]]) -> None:
        """Refuse contenders that differ in what they reach from one source."""
        found = {(record.reached, record.depth, record.edges): each for each, record in proofs}
        if len(found) > 1:
            seen = "; ".join(
                f"{each.contender.name}: {reached} vertices, depth {depth}, {edges} edges"
                for (reached, depth, edges), each in found.items()
            )
            raise VerificationError(f"{self.name}, source {original}: results differ: {seen}")
