"""What a line of results says of a measurement: figures out of the object that ``bigbfs bfs`` or ``cc`` has printed.

The share of the exchange is the time in calls to other ranks, waiting for whoever came last included, over the time of
all ranks. Bytes are what all ranks together handed to calls; what they read of shared memory is not among them.
"""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any

from bigbfs.errors import VerificationError
from rank_suite.cases import Measurement
from rank_suite.runs import RunError


def of(measurement: Measurement, found: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of ``found``.

    Raises
    ------
    VerificationError
        A run was not proved.
    RunError
        It was run by another number of ranks than asked for.
    """
    runs = found["runs"]
    if not runs or not all(run["verified"] is True for run in runs):
        raise VerificationError(f"{measurement.work}: a result was not verified")
    ran = _ranks_of(measurement, runs)
    seconds = [run["seconds"] for run in runs]
    shares = [_share(run["ranks"]) for run in runs if len(run.get("ranks", ())) > 1]
    sent = [sum(rank["sent"] for rank in run["ranks"]) for run in runs if run.get("ranks")]
    figures = {
        "graph": {"n": found["graph"]["vertices"], "m": found["graph"]["edges"], "codec": found["graph"]["codec"]},
        "device": found["device"],
        "residency": found["residency"],
        "ran_as": ran,
        "verified": True,
        "seconds": median(seconds),
        "slowest_seconds": max(seconds),
        "share": median(shares) if shares else 0.0,
        "bytes": int(median(sent)) if sent else 0,
        "place": found["setup"]["place"],
        "memory": found["bytes"],
        "disturbed": sum(int(run["disturbed"]) for run in runs),
    }
    return figures | (_of_bfs(runs) if measurement.work == "bfs" else _of_components(found))


def _ranks_of(measurement: Measurement, runs: list[dict[str, Any]]) -> int:
    """Return by how many ranks it was run; ``auto`` may stay on one only where that is the bar."""
    ran = {len(run.get("ranks", ())) or 1 for run in runs}
    may_stay = measurement.row.may_stay(measurement.work)
    if ran != {measurement.ranks} and not (may_stay and ran == {1}):
        raise RunError(f"asked for {measurement.ranks} ranks, ran as {', '.join(map(str, sorted(ran)))}")
    return ran.pop()


def _share(ranks: list[dict[str, Any]]) -> float:
    return float(sum(rank["waited"] for rank in ranks) / max(sum(rank["seconds"] for rank in ranks), 1e-12))


def _of_bfs(runs: list[dict[str, Any]]) -> dict[str, Any]:
    rates = [run["gteps"] for run in runs]
    return {
        "sources": len(runs),
        "median_gteps": median(rates),
        "slowest_gteps": min(rates),
        "reached": int(median(run["reached"] for run in runs)),
        "depth": int(median(run["depth"] for run in runs)),
        "exchanges": dict(Counter(kind or "nothing" for run in runs for kind in run.get("exchanges", ()))),
    }


def _of_components(found: dict[str, Any]) -> dict[str, Any]:
    return {"components": found["components"], "largest": found["largest"]}
