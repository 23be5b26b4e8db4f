"""Results of a graph file against the dict and the set of Python that they stand for."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Mapping, Set
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

nx = pytest.importorskip("networkx")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import bigbfs  # noqa: E402
from bigbfs.graph.graph import Graph  # noqa: E402
from bigbfs.networkx import backend  # noqa: E402
from bigbfs.networkx.bridge import Bridge, from_networkx, to_networkx  # noqa: E402
from bigbfs.networkx.views import NodeMap, NodeSet  # noqa: E402

BIGGEST = 2**63 - 1
KINDS = ("numbers", "from 1", "ids", "huge", "degree", "names")


def made(kind, edges, n, folder):
    """Return a graph file of ``edges`` between 0 and n - 1 whose vertices are called in one of the KINDS."""
    if not edges or kind in ("numbers", "from 1"):
        src, dst = (np.array(side, np.int64) for side in (zip(*edges, strict=True) if edges else ((), ())))
        plain = Graph.from_edges(src, dst, n=n, keep_self_loops=True)
        return Graph(plain.adjacency, plain.flags, first_id=int(kind == "from 1"), m=plain.m)
    call = {
        "ids": lambda v: 7 * v + 3,
        "degree": lambda v: 5 * (n - v) + 2,
        "huge": lambda v: BIGGEST - 2 - (v << 58) % BIGGEST - v,
        "names": lambda v: f"é{v * 7 % n} \U0001f600",
    }[kind]
    text = folder / "g.csv"
    text.write_text("a,b\n" + "".join(f"{call(u)},{call(v)}\n" for u, v in edges), "utf-8")
    order = {"order": "degree"} if kind == "degree" else {}
    bigbfs.convert(text, folder / "g.csrbin", keep_self_loops=True, **order)
    return bigbfs.open(folder / "g.csrbin")


def strangers(nodes):
    """Return keys that are in no such graph, and some that are equal to nodes of it."""
    others = [-1, 10**30, 1.5, float("nan"), None, "x", "\ud800", b"x", (1, 2), frozenset(), -2, 2**61 - 1, "0"]
    for node in nodes[:3]:
        if isinstance(node, int):
            others += [float(node), Decimal(node), Fraction(node), complex(node), node + 2**61 - 1, np.int64(node)]
            others += [np.uint64(node), node == 1, np.float64(node), str(node)]
        else:
            others += [np.str_(node), node + "x", node.encode(), node[:-1]]
    return others


def same_map(view, plain):
    assert isinstance(view, NodeMap) and isinstance(view, Mapping)
    assert view == plain and plain == view
    assert list(view) == list(plain) and list(view.items()) == list(plain.items())
    assert list(view.keys()) == list(plain.keys()) and list(view.values()) == list(plain.values())
    for part in ("__iter__", "keys", "items", "values"):  # a dict goes backwards, too
        mine, theirs = ((each if part == "__iter__" else getattr(each, part)()) for each in (view, plain))
        assert list(reversed(mine)) == list(reversed(theirs)), part
    assert len(view) == len(plain) and bool(view) == bool(plain)
    assert {type(part) for item in view.items() for part in item} <= {int, float, str}
    assert dict(view) == {**view} == view.copy() == plain and type(view.copy()) is dict
    for key in [*plain, *strangers(list(plain))]:
        assert (key in view) == (key in plain), key
        assert view.get(key) == plain.get(key) and view.get(key, "no") == plain.get(key, "no"), key
        if key in plain:
            assert view[key] == plain[key] and type(view[key]) in (int, float)
        else:
            with pytest.raises(KeyError) as error:
                view[key]
            assert error.value.args[0] is key
    for key in ([], {}, [1]):
        for call in (view.__getitem__, view.get, view.__contains__):
            with pytest.raises(TypeError):
                call(key)
    with pytest.raises(TypeError):
        hash(view)
    assert view == OrderedDict(plain) and view != list(plain.items()) and view != {**plain, "another": 1}
    if plain:
        node = next(iter(plain))
        assert view != {**plain, node: 99} and view != {k: v for k, v in plain.items() if k != node}
        assert view.keys() & {node} == {node} and (node, plain[node]) in view.items()
        assert plain[node] in view.values() and "x" not in view.values()
    assert view | {"b": 1} == plain | {"b": 1} and {"b": 1} | view == {"b": 1} | plain
    for again in (pickle.loads(pickle.dumps(view)), copy.copy(view), copy.deepcopy(view)):
        assert again == plain and list(again.items()) == list(plain.items())


def same_set(view, plain):
    assert isinstance(view, NodeSet) and isinstance(view, Set)
    assert view == plain and plain == view and view == frozenset(plain) and view != list(plain)
    assert len(view) == len(plain) and sorted(view) == sorted(plain) and {type(node) for node in view} <= {int, str}
    assert view.copy() == plain and type(view.copy()) is set
    for key in [*plain, *strangers(list(plain))]:
        assert (key in view) == (key in plain), key
    for key in ([], {}):
        with pytest.raises(TypeError):
            view.__contains__(key)
    with pytest.raises(TypeError):
        hash(view)
    some = set(list(plain)[::2])
    for other in (some, {*some, "x", -5}, set(), {"y"}, frozenset(plain), {*plain, "x"}):
        for operator in ("__and__", "__or__", "__sub__", "__xor__", "__le__", "__lt__", "__ge__", "__gt__"):
            for left, right, a, b in ((view, other, plain, other), (other, view, other, plain)):
                wanted = getattr(a, operator)(b)
                found = {
                    "__and__": lambda a, b: a & b,
                    "__or__": lambda a, b: a | b,
                    "__sub__": lambda a, b: a - b,
                    "__xor__": lambda a, b: a ^ b,
                    "__le__": lambda a, b: a <= b,
                    "__lt__": lambda a, b: a < b,
                    "__ge__": lambda a, b: a >= b,
                    "__gt__": lambda a, b: a > b,
                }[operator](left, right)
                assert found == wanted, (operator, left, right)
        for name in ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset"):
            assert getattr(view, name)(other) == getattr(plain, name)(other)
        assert view.isdisjoint(other) == plain.isdisjoint(other) and other.isdisjoint(view) == other.isdisjoint(plain)
    assert view.union([1], ["z"]) == plain | {1, "z"} and set().union(view) == plain
    for again in (pickle.loads(pickle.dumps(view)), copy.copy(view), copy.deepcopy(view)):
        assert again == plain


def compared(graph):
    """Compare every function whose results are views with NetworkX, on the graph that NetworkX makes of it."""
    theirs = to_networkx(graph)
    nodes = list(theirs)
    same_map(backend.closeness_centrality(graph), nx.closeness_centrality(theirs, backend="networkx"))
    sums = backend.harmonic_centrality(graph)
    assert sums == pytest.approx(nx.harmonic_centrality(theirs, backend="networkx"), rel=1e-12)
    same_map(sums, {node: sums[node] for node in nodes})
    components = list(nx.connected_components(theirs, backend="networkx"))
    for function in (backend.connected_components, backend.weakly_connected_components):
        found = list(function(graph))
        assert found == components
        for view, plain in zip(found, components, strict=True):
            same_set(view, plain)
    if len(components) == 1:
        same_map(backend.eccentricity(graph), nx.eccentricity(theirs, backend="networkx"))
    every = dict(nx.all_pairs_shortest_path_length(theirs, backend="networkx"))
    for node, view in backend.all_pairs_shortest_path_length(graph):
        same_map(view, every.pop(node))
    assert not every
    for node in nodes[:2]:
        for cutoff in (None, 0, 1):
            wanted = nx.single_source_shortest_path_length(theirs, node, cutoff, backend="networkx")
            wanted = dict(sorted(wanted.items(), key=lambda item: (item[1], nodes.index(item[0]))))
            same_map(backend.single_source_shortest_path_length(graph, node, cutoff), wanted)
            same_map(backend.single_target_shortest_path_length(graph, node, cutoff), wanted)
        same_set(backend.node_connected_component(graph, node), nx.node_connected_component(theirs, node))
        same_set(backend.descendants(graph, node), nx.descendants(theirs, node, backend="networkx"))
        for distance in (-1, 0, 1, 1.0, 1.5, 2, 50):
            wanted = nx.descendants_at_distance(theirs, node, distance, backend="networkx")
            same_set(backend.descendants_at_distance(graph, node, distance), wanted)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_views_are_equal_to_the_dicts_and_sets_of_networkx(kind, data, tmp_path_factory):
    n = data.draw(st.integers(1, 9))
    ends = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(ends, ends), max_size=14))
    graph = made(kind, edges, n, tmp_path_factory.mktemp("g"))
    compared(graph)
    graph.close()


def test_no_vertex_and_one():
    nothing = Graph.from_csr([0], [])
    assert list(backend.connected_components(nothing)) == [] == list(backend.all_pairs_shortest_path_length(nothing))
    same_map(backend.closeness_centrality(nothing), {})
    assert repr(backend.closeness_centrality(nothing)) == "NodeMap({})"
    compared(Graph.from_csr([0, 0], []))


@pytest.mark.parametrize("kind", KINDS)
def test_views_live_on_when_the_graph_is_closed_and_its_file_is_gone(kind, tmp_path):
    graph = made(kind, [(0, 1), (1, 2), (3, 4)], 5, tmp_path)
    nodes = list(Bridge(graph))
    lengths = backend.single_source_shortest_path_length(graph, nodes[0])
    parts = list(backend.connected_components(graph))
    wanted = lengths.copy(), [set(part) for part in parts]
    graph.close()
    if (tmp_path / "g.csrbin").exists():
        (tmp_path / "g.csrbin").unlink()
    assert lengths == wanted[0] and parts == wanted[1]
    assert all(lengths[node] == length for node, length in wanted[0].items())


def test_texts_show_a_few_entries_and_pickles_hold_no_more_than_is_in_them():
    n = 5000
    graph = Graph.from_edges(np.r_[np.arange(1, n - 1), n - 1], np.r_[np.zeros(n - 2, np.int64), n], n=n + 1)
    lengths = backend.single_source_shortest_path_length(graph, 0)
    shown = "0: 0, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1"
    assert repr(lengths) == f"NodeMap({{{shown}, ... 4,999 nodes}})"
    giant, pair = backend.connected_components(graph)
    assert repr(giant) == "NodeSet({0, 1, 2, 3, 4, 5, 6, 7, ... 4,999 nodes})" and repr(pair) == "NodeSet({4999, 5000})"
    assert len(pickle.dumps(pair)) < 500 and type(pickle.loads(pickle.dumps(pair))) is NodeSet
    few = backend.single_source_shortest_path_length(graph, n)
    assert few == {n: 0, n - 1: 1} and len(pickle.dumps(few)) < 900 and type(pickle.loads(pickle.dumps(few))) is NodeMap
    assert len(few._values) == 2 and len(lengths._values) == n + 1  # few nodes hold no arrays of all


@pytest.mark.parametrize("room", [True, False])
def test_names_of_several_pages_are_looked_up_page_by_page_then_in_memory(room, tmp_path, monkeypatch):
    monkeypatch.setattr("bigbfs.graph.names.free_memory", lambda: 2**40 if room else 0)
    n = 3000
    graph = made("names", [(v, v + 1) for v in range(n - 1)], n, tmp_path)
    assert graph.names.pages > 2
    (every,) = backend.connected_components(graph)
    names = list(every)
    assert len(every) == n and names == sorted(names, key=str.encode)
    step = 1 if room else 40
    for name in [*names[::step], names[0], names[-1]]:
        assert name in every and name + "x" not in every and name[:-1] not in every
    assert "" not in every and "\U0010ffff" not in every and 0 not in every
    assert (graph.names._whole is not None) == room


def test_a_graph_of_networkx_has_plain_dicts_and_sets():
    graph = from_networkx(nx.path_graph(5))
    for found, kind in (
        (backend.single_source_shortest_path_length(graph, 0), dict),
        (backend.closeness_centrality(graph), dict),
        (backend.harmonic_centrality(graph), dict),
        (backend.eccentricity(graph), dict),
        (dict(backend.all_pairs_shortest_path_length(graph))[0], dict),
        (next(backend.connected_components(graph)), set),
        (backend.node_connected_component(graph, 1), set),
        (backend.descendants(graph, 0), set),
        (backend.descendants_at_distance(graph, 0, 2), set),
    ):
        assert type(found) is kind


def test_functions_of_networkx_take_views(tmp_path):
    graph = made("ids", [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5)], 6, tmp_path)
    theirs = to_networkx(graph)
    parts = list(backend.connected_components(graph))
    assert nx.community.is_partition(theirs, parts)
    assert nx.community.modularity(theirs, parts) == nx.community.modularity(theirs, [set(part) for part in parts])
    assert len(nx.quotient_graph(theirs, parts)) == len(nx.condensation(theirs.to_directed())) == 2
    assert list(theirs.subgraph(max(parts, key=len))) == [3, 10, 17]
    whole = theirs.subgraph(parts[0])
    lengths = backend.single_source_shortest_path_length(graph, 3)
    nx.set_node_attributes(theirs, lengths, "far")
    assert nx.get_node_attributes(theirs, "far") == lengths
    assert nx.diameter(whole, e=lengths) == 1 and nx.center(whole, e=lengths) == [3]
    assert nx.eccentricity(whole, sp=dict(backend.all_pairs_shortest_path_length(graph))) == dict.fromkeys(whole, 1)
    theirs.remove_nodes_from(parts[0])
    assert set(theirs) == parts[1] and theirs.subgraph(parts[1]).number_of_edges() == 2
