"""Conversions by several ranks, threads here, held against the bytes that one process writes."""

from pathlib import Path

import numpy as np
from folders import names

import bigbfs
from bigbfs.conversion import ConvertOptions
from bigbfs.conversion.on_disk import plan
from bigbfs.conversion.spread import common, convert
from bigbfs.engines.ranks.threads import run

KINDS = {
    "plain": {},
    "compressed": {"compressed": True},
    "directed": {"directed": True, "compressed": True},
    "out-edges": {"directed": True, "in_edges": False},
    "all": {"keep_duplicates": True, "keep_self_loops": True},
    "kept-ids": {"keep_ids": True, "directed": True, "keep_duplicates": True},
}


def spread(ranks, inputs, output="many.csrbin", **options):
    """Convert by so many threads that play ranks; return the reports of all."""
    memory = options.pop("memory", 2**30) + plan.resident_bytes()  # whatever this process holds already
    given = ConvertOptions(memory=memory, threads=1, **options)
    return run(ranks, lambda group: convert.convert_over_ranks(inputs, output, given, group))


def require_same(ranks, inputs, **options):
    one = bigbfs.convert(inputs, "one.csrbin", force=True, **options)
    [many, *others] = spread(ranks, inputs, force=True, **options)
    assert Path("many.csrbin").read_bytes() == Path("one.csrbin").read_bytes()
    if options.get("compressed"):
        assert Path("many.ccsr").read_bytes() == Path("one.ccsr").read_bytes()
    for name in ("vertices", "edges", "lines", "self_loops", "duplicates", "reversed", "comment_lines", "input_bytes"):
        assert all(getattr(each, name) == getattr(one, name) for each in (many, *others)), name
    assert many.notes == tuple(note.replace("one.csrbin", "many.csrbin") for note in one.notes)
    assert not [name for name in names(Path()) if name.startswith(".")]
    return many


def keep_on_disk(monkeypatch):
    monkeypatch.setattr(convert, "fits", lambda *given, **named: False)


def send_messages(monkeypatch):
    """Let ranks have no memory in common."""
    monkeypatch.setattr(common, "seen_by_all", lambda group: False)


def edges():
    """Edges with gaps in their ids, duplicates, self-loops, both directions, and a hub of several blocks."""
    found = np.random.default_rng(5).integers(0, 600, (3000, 2)) * 7
    found[:1600, 0], found[:1600, 1] = 70, np.arange(1600)
    return found


def written(kind):
    if kind == "npy":
        np.save("g.npy", edges())
        return ["g.npy"]
    np.savetxt("g.txt", edges(), "%d", header="a comment\nand one more")
    return ["g.txt"]
