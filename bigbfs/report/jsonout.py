"""The JSON objects of the traversal commands: one object, keys as documented in docs/json.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bigbfs.algorithms.bfs.level_records import LevelRecords
from bigbfs.algorithms.bfs.result import BfsSummary
from bigbfs.algorithms.components.result import ComponentsRecord
from bigbfs.record import SCHEMA
from bigbfs.report.level_text import level_pieces

if TYPE_CHECKING:
    from bigbfs.algorithms.engine import Engine, Measured
    from bigbfs.algorithms.topological.result import TopologicalRecord
    from bigbfs.graph.graph import Graph


PIECE = 1 << 16
"""A text of so many characters is handed out before the next is made."""


def graph_object(graph: Any) -> dict[str, Any]:
    """Return what every object says of the graph, a whole one or one in shards."""
    return {
        "path": None if graph.path is None else str(graph.path),
        "vertices": graph.n,
        "edges": graph.m,
        "codec": graph.codec,
    }


def _common(command: str, graph: Graph, engine: Engine, open_seconds: float) -> dict[str, Any]:
    setup = asdict(engine.setup)
    setup["open"] += open_seconds
    return {
        "schema": SCHEMA,
        "command": command,
        "graph": graph_object(graph),
        "backend": engine.backend,
        "device": engine.device,
        "residency": engine.residency,
        "strategy": engine.strategy,
        "setup": setup,
        "bytes": asdict(engine.bytes),
    }


def bfs_object(graph: Graph, engine: Engine, open_seconds: float, summary: BfsSummary) -> dict[str, Any]:
    """Return the object that ``bigbfs bfs --json`` prints; ``pieces`` and ``dumps`` know how to write its levels."""
    runs: list[dict[str, Any]] = [
        {
            "source": graph.called(run.source),
            "reached": run.reached,
            "depth": run.depth,
            "edges": run.edges,
            "seconds": run.seconds,
            "gteps": run.gteps,
            "verified": run.verified,
            "levels": LevelRecords.of(run.levels),
            "deepest": None if run.deepest is None else graph.called(run.deepest),
            "disturbed": disturbed,
            "switches": switches,
        }
        for run, disturbed, switches in zip(summary.runs, summary.disturbed, summary.switches, strict=True)
    ]
    for entry, record in zip(runs, summary.runs, strict=True):
        if record.ranks:
            entry |= {"ranks": [asdict(each) for each in record.ranks], "exchanges": list(record.exchanges)}
    for run, path in zip(runs, summary.paths, strict=False):  # no path at all without a target
        found = len(path) > 0
        target = None if summary.target is None else graph.called(summary.target)
        run |= {"target": target, "path": [graph.called(each) for each in path.tolist()] if found else None}
        run["distance"] = len(path) - 1 if found else None
    return _common("bfs", graph, engine, open_seconds) | {
        "runs": runs,
        "median_gteps": summary.median_gteps,
        "harmonic_mean_gteps": summary.harmonic_mean_gteps,
    }


def cc_object(graph: Graph, engine: Engine, open_seconds: float, measured: Measured) -> dict[str, Any]:
    """Return the object that ``bigbfs cc --json`` prints."""
    runs: list[ComponentsRecord] = measured.records
    return _common("cc", graph, engine, open_seconds) | {
        "strategy": runs[0].algorithm,
        "components": runs[0].components,
        "largest": runs[0].largest,
        "share": runs[0].largest / max(graph.n, 1),
        "sizes": [asdict(each) for each in measured.internal.sizes.classes],
        "largest_components": [
            {"member": graph.called(member), "vertices": vertices}
            for member, vertices in measured.internal.largest_of(graph)
        ],
        "runs": [
            {
                "seconds": run.seconds,
                "verified": run.verified,
                "edges_read": run.edges_read,
                "passes": run.passes,
                "left": run.left,
                "disturbed": disturbed,
                "switches": switches,
                **({"ranks": [asdict(each) for each in run.ranks]} if run.ranks else {}),
            }
            for run, disturbed, switches in zip(runs, measured.disturbed, measured.switches, strict=True)
        ],
    }


def toposort_object(graph: Graph, engine: Engine, open_seconds: float, measured: Measured) -> dict[str, Any]:
    """Return the object that ``bigbfs toposort --json`` prints."""
    runs: list[TopologicalRecord] = measured.records
    return _common("toposort", graph, engine, open_seconds) | {
        "strategy": "kahn",
        "rounds": runs[0].rounds,
        "widest": runs[0].widest,
        "thin": runs[0].thin,
        "runs": [
            {
                "seconds": run.seconds,
                "mteps": run.mteps,
                "verified": run.verified,
                "ran": run.ran,
                "disturbed": disturbed,
                "switches": switches,
            }
            for run, disturbed, switches in zip(runs, measured.disturbed, measured.switches, strict=True)
        ],
    }


def bench_cc_object(graph: Graph, engine: Engine, open_seconds: float, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the object that ``bigbfs bench cc --json`` prints."""
    common = _common("bench cc", graph, engine, open_seconds)
    del common["strategy"]
    return common | {"rows": rows}


def many_object(command: str, graph: Graph, engine: Engine, open_seconds: float) -> dict[str, Any]:
    """Return what the objects of the commands of many searches share."""
    shared = _common(command, graph, engine, open_seconds)
    del shared["strategy"]
    return shared


def dumps(value: dict[str, Any]) -> str:
    """Return ``value`` as one JSON line; NaN and infinity are refused, since JSON has neither."""
    return "".join(pieces(value))


def pieces(value: dict[str, Any]) -> Iterator[str]:
    """Yield the text of ``dumps`` from its beginning to its end: of a deep search it has 140 bytes a level."""
    waiting: list[str] = []
    for text in _texts(value):
        waiting.append(text)
        if len(text) >= PIECE:
            yield "".join(waiting)
            waiting.clear()
    yield "".join(waiting)


def _texts(value: Any) -> Iterator[str]:
    """Yield the text of ``value`` as it comes."""
    if isinstance(value, LevelRecords):
        yield "["
        yield from level_pieces(value.table)
        yield "]"
    elif isinstance(value, dict) and any(isinstance(item, dict | list | LevelRecords) for item in value.values()):
        opening = "{"
        for name, item in value.items():
            yield f"{opening}{json.dumps(str(name))}: "
            yield from _texts(item)
            opening = ", "
        yield "}"
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        opening = "["
        for item in value:
            yield opening
            yield from _texts(item)
            opening = ", "
        yield "]"
    else:
        yield json.dumps(value, allow_nan=False)
