"""Ids of 64 bits, which 2**32 vertices make necessary, chosen by themselves: here from the first vertex on.

What only so many vertices show is in tools/check_wide.py.
"""

from __future__ import annotations

import io

import check_wide
import numpy as np
import pytest
from folders import require_whole

import bigbfs
from bigbfs import generate
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.algorithms.internal import internal_engine
from bigbfs.conversion import ConvertOptions, convert, pipeline
from bigbfs.conversion.on_disk import convert as external
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.errors import DoesNotFitError
from bigbfs.formats.writers.export import export
from bigbfs.graph import adjacency
from bigbfs.graph.graph import Graph

SMALL = Plan(room=1 << 28, pairs=500, block_bytes=1 << 12, present_bytes=1 << 20, parts=7)
OPTIONS = ({}, {"directed": True}, {"order": "degree"}, {"keep_ids": True}, {"order": "bfs"})


@pytest.fixture
def text(tmp_path):
    edges = generate.generate("rmat", scale=9, edge_factor=6, seed=3)
    path = tmp_path / "g.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in zip(edges.src.tolist(), edges.dst.tolist(), strict=True)))
    return path


def converted(text, name, **options):
    convert([text], text.with_name(f"{name}.csrbin"), ConvertOptions(force=True, compressed=True, **options))
    return [text.with_name(f"{name}{suffix}") for suffix in (".csrbin", ".ccsr")]


def exported(path):
    stream = io.BytesIO()
    with Graph.open(path) as graph:
        export(graph, "el", stream)
        return graph.ids, stream.getvalue()


@pytest.mark.covered
@pytest.mark.parametrize(
    ("way", "options"),
    # the order by BFS is made in memory alone
    [
        (way, how)
        for how in OPTIONS
        for way in ("in memory", "external")
        if (way, how.get("order")) != ("external", "bfs")
    ],
    ids=lambda value: " ".join(map(str, value.values())) or "default" if isinstance(value, dict) else value,
)
def test_wide_ids_all_the_way(text, monkeypatch, way, options):
    narrow = converted(text, "narrow", **options)
    monkeypatch.setattr(adjacency, "WIDE_FROM", 1)
    monkeypatch.setattr(pipeline, "must_spill", lambda *_: way == "external")
    monkeypatch.setattr(external, "make_plan", lambda *_: SMALL)
    for before, path in zip(narrow, converted(text, "wide", **options), strict=True):
        ids, lines = exported(path)
        assert ids == np.uint64 and exported(before) == (np.dtype(np.uint32), lines)
        require_whole(path)
        with Graph.open(path) as graph, Graph.open(before) as same, internal_engine(graph, backend="cpu") as engine:
            assert graph.n == same.n
            source = int(graph.degrees().argmax())
            result = engine.bfs(source)
            assert np.array_equal(result.levels, reference_bfs(same, source)[0])
            validate_tree(graph, source, result.levels, result.parents)
            labels = engine.connected_components().labels
            validate_labels(graph, labels)
            assert np.array_equal(labels, bigbfs.connected_components(same, backend="cpu").labels) or options


def test_narrow_while_the_largest_id_is_free(monkeypatch):
    assert [adjacency.id_dtype(n).itemsize for n in (0, 2**32 - 1, 2**32)] == [4, 4, 8]
    monkeypatch.setattr(adjacency, "WIDE_FROM", 3)
    assert [Graph.from_csr([0] * (n + 1), []).ids.itemsize for n in (2, 3)] == [4, 8]


@pytest.mark.parametrize("memory", ["1GiB", "250MiB"])
def test_the_check_that_only_a_large_machine_can_run_in_full(tmp_path, monkeypatch, capsys, memory):
    monkeypatch.setattr(adjacency, "WIDE_FROM", 50_000)
    arguments = ["--vertices", "70000", "--edges", "3000", "--used", "2500", "--memory", memory]
    assert check_wide.main([*arguments, "--folder", str(tmp_path), "--compressed"]) == 0
    assert capsys.readouterr().out.count("ok") == 8
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: 70_000 * 25)  # for a search top-down, no more
    assert check_wide.main([*arguments, "--folder", str(tmp_path)]) == 0
    says = capsys.readouterr().out
    assert says.count("ok") == 4 and says.count("left out: BFS, strategy auto") == says.count("left out: comp") == 1


def test_a_search_that_does_not_fit_is_refused(monkeypatch):
    graph = generate.graph("rmat", scale=10, seed=2)
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: 20_000)
    with internal_engine(graph, backend="cpu") as engine:
        with pytest.raises(DoesNotFitError, match=r"1,024 vertices take .* strategy topdown takes"):
            engine.bfs(0)
        with pytest.raises(DoesNotFitError, match=r"1,024 vertices take 33\.. KiB .* KiB are free"):
            engine.connected_components()
        with pytest.raises(DoesNotFitError):
            engine.traverse(0)
    with internal_engine(graph, backend="cpu", strategy="topdown") as engine:
        assert engine.traverse(0).reached > 1
        with pytest.raises(DoesNotFitError, match="leave out levels or parents"):
            monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: 10_000)
            engine.bfs(0)


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
def test_what_a_search_needs_is_known_beforehand(ids):
    from bigbfs.engines.cpu import memory

    graph = generate.graph("uniform", vertices=1 << 19, edges=1 << 19, seed=2)
    plain = graph.adjacency
    graph = Graph.from_csr(plain.indptr, plain.indices, ids=ids)
    n, ids = graph.n, np.dtype(ids)
    with internal_engine(graph, backend="cpu") as engine:
        edges = engine.bytes.host
        engine.traverse(0)
        searched = engine.bytes.host - edges
        buffers = engine.program(engine.search(0))._search._state.buffers.nbytes  # of the threads, whatever the graph
        need = memory.search_bytes(n, ids) + memory.survey_bytes(n, ids)
        assert need <= searched - buffers < 1.01 * need
        engine.connected_components()
        held = engine.bytes.host - edges - searched
        assert held == memory.components_bytes(n, ids) - 16 * n
