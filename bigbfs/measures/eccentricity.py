"""Exact diameter, radius and eccentricities by bounds; certified bounds and their witnesses whenever it is stopped.

The diameter of the largest component of an undirected graph is found by single searches
(:mod:`bigbfs.measures.sweeping`); what these leave over, and everything else, by bounds of all vertices
(:mod:`bigbfs.measures.bounding`). All eccentricities begin with the diameter: who stops them knows as much of it as who
asks for it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.sweeps.options import SweepOptions
from bigbfs.errors import DoesNotFitError
from bigbfs.graph.graph import Graph
from bigbfs.jit import workers
from bigbfs.measures.bounding import BATCH, Bounding, require_room
from bigbfs.measures.bounds import GOALS
from bigbfs.measures.outcome import Eccentricity, Tell
from bigbfs.measures.placing import Until, check_given, opened, placed, require_vertices
from bigbfs.measures.proving import wanted
from bigbfs.measures.small import Small, small_of
from bigbfs.measures.small_bounding import SmallBounding
from bigbfs.measures.sweeping import Sweeps
from bigbfs.measures.swept import Searches
from bigbfs.sizes import choice

COMPONENTS = ("largest", "all")

WORK = (ManyOptions(fetch=True, width=BATCH), ComponentsOptions())
"""What a graph is placed for where the radius is wanted."""
DIAMETER = (SweepOptions(), *WORK)
"""The same where the diameter is wanted, alone or with all else."""


def eccentricity(
    graph: Graph | str | Path | Engine,
    *,
    goal: str = "all",
    component: str = "largest",
    seconds: float | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Tell | None = None,
    verify: bool = False,
    threads: int | None = None,
    backend: str = "auto",
    each: bool = True,
) -> Eccentricity:
    """Return the eccentricities of all vertices, or as much of them as ``goal`` needs.

    Parameters
    ----------
    goal
        ``"all"``, ``"diameter"`` or ``"radius"``: what must be known before it ends.
    component
        ``"largest"``, or ``"all"``: distances inside each component, none between two.
    seconds, stop
        End after this time, or when ``stop()`` is true, with the bounds known by then.
    tell
        Told after each batch how far it is.
    verify
        Check, for a sample of vertices, that a single search finds what the bounds say; not where ``stop()`` is true.
    threads, backend
        As for :func:`bigbfs.distances`.
    each
        False: the diameter alone is wanted; bounds of each vertex may be left out, and ``ids`` empty.

    Raises
    ------
    UsageError
        The graph has no vertices, or a directed one is not strongly connected, or does not store in-neighbours.
    DoesNotFitError
        Bounds and searches take more memory than is free.
    VerificationError
        A check found a difference.
    """
    choice("goal", goal, GOALS)
    choice("component", component, COMPONENTS)
    check_given(seconds=seconds, stop=stop, tell=tell, verify=verify, each=each)
    until = Until(seconds, stop)
    graph = graph if isinstance(graph, Engine) else opened(graph)
    swept: Small | None = None
    if goal != "radius" and component == "largest":
        swept = small_of(graph, threads, backend)
        if swept is not None and swept.run(until, tell) and goal == "diameter":
            return swept.result(each=each, verify=wanted(verify, stop))
        if swept is not None and goal == "all" and swept.may_search_from_all:
            search = SmallBounding(swept)
            search.run(goal, until, tell)
            return search.result(goal, verify=wanted(verify, stop))
    return _placed(graph, goal, component, until, tell, verify, threads, backend, each, swept)


def _placed(
    graph: Graph | Engine,
    goal: str,
    component: str,
    until: Until,
    tell: Tell | None,
    verify: bool,
    threads: int | None,
    backend: str,
    each: bool,
    swept: Searches | None,
) -> Eccentricity:
    """Return the same from a placed graph; ``swept``: what searches have left over."""
    with placed(graph, threads, backend, WORK if goal == "radius" else DIAMETER) as engine:
        require_vertices(engine.graph, "eccentricity")
        workers_of_host = workers.thread_count(threads)
        if goal != "diameter":
            require_room(engine, workers_of_host)
        if swept is None and goal != "radius" and component == "largest" and engine.graph.flags.symmetric:
            swept = Sweeps(engine)
            if swept.run(until, tell) and goal == "diameter":
                return swept.result(each=each, verify=wanted(verify, until.asked))
        try:
            search = Bounding(engine, component, workers_of_host, swept, goal)
        except DoesNotFitError:
            if swept is None or goal != "diameter":
                raise
            swept.go_on(until, tell, patient=True)
            return swept.result(each=each, verify=wanted(verify, until.asked))
        search.run(goal, until, tell)
        return search.result(goal, verify=wanted(verify, until.asked))


def diameter(
    graph: Graph | str | Path | Engine,
    *,
    component: str = "largest",
    threads: int | None = None,
    backend: str = "auto",
) -> int:
    """Return the exact diameter: of the largest component, or the largest of all (``component="all"``).

    ``threads`` and ``backend`` are as for :func:`bigbfs.distances`.

    Raises
    ------
    UsageError, DoesNotFitError
        As :func:`eccentricity`.
    """
    choice("component", component, COMPONENTS)
    until, small = Until(), None
    graph = graph if isinstance(graph, Engine) else opened(graph)
    if component == "largest":  # all that comes before is as short as the work of a small graph
        small = small_of(graph, threads, backend)
        if small is not None and small.run(until, None):
            return small.diameter[0]
    return _placed(graph, "diameter", component, until, None, False, threads, backend, False, small).diameter[0]
