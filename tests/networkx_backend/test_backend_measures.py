"""Eccentricities, centralities and mean lengths as NetworkX has them: values, order, types and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

nx = pytest.importorskip("networkx")

import zoo  # noqa: E402
from networkx_backend.graphs import graphs  # noqa: E402

import bigbfs  # noqa: E402
from bigbfs.errors import FormatError  # noqa: E402
from bigbfs.networkx import backend  # noqa: E402
from bigbfs.networkx.bridge import from_networkx, to_networkx  # noqa: E402
from bigbfs.networkx.views import NodeMap  # noqa: E402


def cases():
    """Graphs in one piece beside those that are not."""
    strong = nx.gnm_random_graph(40, 160, seed=8, directed=True)
    strong.add_edges_from((v, (v + 1) % 40) for v in range(40))
    return graphs() | {
        "one": nx.Graph([("a", "b"), ("b", "c"), ("b", "b")]),
        "whole": nx.connected_watts_strogatz_graph(50, 4, 0.3, seed=2),
        "strong": nx.relabel_nodes(strong, {v: (v % 7, v) for v in strong}),
        "tree": nx.random_labeled_tree(30, seed=4),
        "cycle": nx.cycle_graph(9),
        "alone": nx.empty_graph(["x"]),
        "alone with itself": nx.DiGraph([("x", "x")]),
        "nothing to follow": nx.empty_graph(3),
        "no edge, directed": nx.empty_graph(3, nx.DiGraph),
        "empty directed": nx.DiGraph(),
        "parallel, whole": nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2)]),
    }


def outcome(function, *arguments, **keywords):
    """Return what a call gives, or the error that it raises, in a form that can be compared."""
    try:
        found = function(*arguments, **keywords)
    except Exception as error:
        return type(error), str(error)
    return (type(found), list(found.items()) if isinstance(found, dict) else found)


def with_dicts(function):
    """Return a function of the backend whose views of a graph file are made dicts."""

    def call(*arguments, **keywords):
        found = function(*arguments, **keywords)
        return found.copy() if isinstance(found, NodeMap) else found

    return call


@pytest.mark.parametrize("name", cases())
def test_measures_are_those_of_networkx_to_the_bit(name):
    graph = cases()[name]
    made = from_networkx(graph)
    calls = [(f, {}) for f in ("diameter", "radius", "center", "periphery", "eccentricity", "closeness_centrality")]
    calls += [("average_shortest_path_length", {"method": method}) for method in (None, "unweighted", "dijkstra", "?")]
    calls += [("closeness_centrality", {"wf_improved": False}), ("closeness_centrality", {"u": "nobody"})]
    calls += [("closeness_centrality", {"u": []}), ("eccentricity", {"v": "nobody"}), ("eccentricity", {"v": 10**9})]
    calls += [("eccentricity", {"v": [[]]}), ("eccentricity", {"v": []})]
    calls += [(f, {"e": {"a": 2, "b": 1, "c": 2}}) for f in ("diameter", "radius", "center", "periphery")]
    for node in list(graph)[:3]:
        calls += [("closeness_centrality", {"u": node, "wf_improved": wf}) for wf in (True, False)]
        calls += [("eccentricity", {"v": node}), ("eccentricity", {"v": [node, "nobody", node, *list(graph)[-2:]]})]
    for function, keywords in calls:
        wanted = outcome(getattr(nx, function), graph, **keywords, backend="networkx")
        assert outcome(getattr(backend, function), made, **keywords) == wanted, (function, keywords)
    for function in ("diameter", "radius", "center", "periphery"):  # the error is another one
        wanted = outcome(getattr(nx, function), graph, usebounds=True, backend="networkx")
        found = outcome(getattr(backend, function), made, usebounds=True)
        assert found == wanted or (not len(graph) and found[0] is wanted[0] is ValueError), function


@pytest.mark.parametrize("name", cases())
def test_harmonic_centrality_is_that_of_networkx(name):
    graph = cases()[name]
    made, nodes = from_networkx(graph), list(graph)
    few, others = nodes[:1], nodes[1:6]
    for keywords in (
        {},
        {"nbunch": few},
        {"nbunch": [*few, "nobody"]},
        {"sources": others},
        {"nbunch": others, "sources": few},
        {"nbunch": few, "sources": others},
        {"nbunch": []},
        {"sources": []},
        *({"nbunch": node} for node in few),
    ):
        wanted = nx.harmonic_centrality(graph, **keywords, backend="networkx")
        found = backend.harmonic_centrality(made, **keywords)
        assert found.keys() == wanted.keys(), keywords
        for node, value in wanted.items():
            assert math.isclose(found[node], value, rel_tol=1e-12) and type(found[node]) is type(value), keywords


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("how", ["original", "degree", "compressed"])
def test_a_graph_file_has_measures_as_its_graph_of_networkx_has(tmp_path, how, directed):
    lines = [(3 * u + 5, 3 * v + 5) for u, v in zip(*zoo.random(40, 90, seed=2), strict=True)]
    lines += [(3 * u + 5, 3 * ((u + 1) % 40) + 5) for u in range(40)]
    (tmp_path / "g.txt").write_text("".join(f"{u} {v}\n" for u, v in lines))
    order = "degree" if how == "degree" else "original"
    path = tmp_path / ("g.ccsr" if how == "compressed" else "g.csrbin")
    bigbfs.convert(tmp_path / "g.txt", path, order=order, directed=directed)
    with bigbfs.open(path) as graph:
        theirs = to_networkx(graph)
        assert list(theirs) == graph.original_ids().tolist()
        some = list(theirs)[3:5]
        for function, keywords in (
            ("diameter", {}),
            ("radius", {}),
            ("center", {}),
            ("periphery", {}),
            ("eccentricity", {}),
            ("eccentricity", {"v": some}),
            ("eccentricity", {"v": some[0]}),
            ("closeness_centrality", {}),
            ("closeness_centrality", {"u": some[0]}),
            ("average_shortest_path_length", {}),
            ("has_path", {"source": some[0], "target": some[1]}),
            ("shortest_path_length", {"source": some[0], "target": some[1]}),
        ):
            wanted = outcome(getattr(nx, function), theirs, **keywords, backend="networkx")
            plain = with_dicts(getattr(backend, function))
            assert outcome(plain, graph, **keywords) == wanted, (function, keywords)
        for keywords in ({}, {"nbunch": some[:1]}, {"nbunch": some, "sources": some}):
            wanted = nx.harmonic_centrality(theirs, **keywords, backend="networkx")
            assert backend.harmonic_centrality(graph, **keywords) == pytest.approx(wanted, rel=1e-12)
        assert dict(backend.all_pairs_shortest_path_length(graph, 2)) == dict(
            nx.all_pairs_shortest_path_length(theirs, 2, backend="networkx")
        )


def test_names_of_a_file_are_its_nodes(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\nb,a\nc,b\n")
    bigbfs.convert(tmp_path / "g.csv", tmp_path / "g.csrbin")
    with bigbfs.open(tmp_path / "g.csrbin") as graph:
        assert backend.closeness_centrality(graph) == nx.closeness_centrality(nx.Graph([("a", "b"), ("b", "c")]))
        assert backend.center(graph) == ["b"] and backend.eccentricity(graph, "a") == 2
        assert backend.harmonic_centrality(graph, ["a"]) == {"a": 1.5}


def test_a_damaged_file_is_refused_before_kernels_follow_its_ids(tmp_path):
    zoo.build(50, zoo.random(50, 40, seed=2)).save(tmp_path / "g.csrbin")
    data = bytearray((tmp_path / "g.csrbin").read_bytes())
    with bigbfs.open(tmp_path / "g.csrbin") as graph:
        place = bytes(data).index(np.asarray(graph.adjacency.indices).tobytes())
    data[place : place + 4] = b"\xff\xff\xff\x7f"
    (tmp_path / "g.csrbin").write_bytes(data)
    for call in (
        lambda graph: next(backend.bfs_layers(graph, 0)),
        lambda graph: backend.has_path(graph, 0, 1),
        backend.diameter,
        backend.closeness_centrality,
        lambda graph: list(backend.connected_components(graph)),
    ):
        with bigbfs.open(tmp_path / "g.csrbin") as graph, pytest.raises(FormatError, match=r"g\.csrbin"):
            call(graph)
