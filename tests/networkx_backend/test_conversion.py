"""Graphs of NetworkX as rows: whatever a node may be, however the graph is held, rows are those of a plain look-up."""

from __future__ import annotations

import datetime
import gc
import sys
from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

nx = pytest.importorskip("networkx")

from bigbfs import Graph  # noqa: E402
from bigbfs.conversion.in_memory import nodes as numbering  # noqa: E402
from bigbfs.errors import ArgumentError, InputError  # noqa: E402
from bigbfs.jit import settings  # noqa: E402
from bigbfs.networkx import backend  # noqa: E402
from bigbfs.networkx.bridge import from_networkx  # noqa: E402

NAN = float("nan")


@dataclass(frozen=True)
class Written:
    """A node whose hash is computed by Python."""

    name: str


class Plain:
    """A node that is equal to itself alone."""


class Ordered(nx.Graph):
    """A graph whose dictionaries are of another kind."""

    node_dict_factory = OrderedDict
    adjlist_outer_dict_factory = OrderedDict
    adjlist_inner_dict_factory = OrderedDict


def ring(nodes, kind=nx.Graph):
    """Return a ring with chords."""
    graph = kind()
    graph.add_nodes_from(nodes)
    graph.add_edges_from((nodes[i], nodes[(i * 3 + 1) % len(nodes)], {"weight": i}) for i in range(len(nodes)))
    graph.add_edges_from((nodes[i], nodes[i - 1]) for i in range(len(nodes)))
    return graph


def held():
    """Graphs by what is odd in them."""
    numbers = list(range(12))
    equal = nx.Graph([(0, 1), (1, 2), (2, 3)])
    equal.add_edges_from([(True, 3.0), (np.int64(2), 0), (Fraction(3), 0)])  # adjacency holds these, nodes hold ints
    renamed = nx.Graph([(True, False), (2.0, True)])
    moved = Ordered([(0, 1), (0, 2), (0, 3), (2, 3)])
    moved._adj[0].move_to_end(1)
    apart = nx.Graph([(0, 1), (1, 2)])
    apart._adj[0] = apart._adj.pop(0)  # rows in another order than the nodes
    whole = ring(numbers)
    directed = ring(numbers, nx.DiGraph)
    directed.add_nodes_from([99, "alone"])
    many = nx.MultiDiGraph([(0, 1), (0, 1), (1, 1), (1, 1), (2, 0)], weight=3)
    frozen = nx.freeze(ring([f"n{v}" for v in numbers]))
    return {
        "numbers": whole,
        "from 1": ring([v + 1 for v in numbers]),
        "backwards": ring(numbers[::-1]),
        "negative": ring([-3, -2, -1, 0, 1]),  # -1 and -2 have one hash
        "large": ring([2**61 - 1, 0, 2**70, 1, 2**61]),  # so have 2**61 - 1 and 0
        "large, zero first": nx.Graph([(2**61 - 1, 1)]),
        "texts": ring(["", "a", "ä", "\udcff", "x" * 1000]),
        "bytes": ring([b"a", b"", b"a\0"]),
        "floats": ring([0.5, NAN, float("inf"), 0.0]),
        "two that are no number": ring([NAN, float("nan"), 1]),
        "mixed": ring([1, "1", b"1", 1.5, (1,), frozenset([1]), datetime.date(2020, 1, 1), 1j]),
        "tuples": nx.grid_2d_graph(4, 5),
        "tuples that Python hashes": ring([(Written("a"), 1), (Written("b"), 2), ("c", 3)]),
        "hashed by Python": ring([Written("a"), Written("b"), Written("c")]),
        "objects": ring([Plain(), Plain(), Plain(), "x"]),
        "numbers of NumPy": ring(list(np.arange(5))),
        "equal objects": equal,
        "bools and floats": renamed,
        "loops": nx.Graph([(0, 0), (0, 1), ("a", "a")]),
        "parallel": many,
        "parallel, both ways": nx.MultiGraph([(0, 1, "key"), (0, 1, "other"), (1, 0)]),
        "directed, nodes alone": directed,
        "frozen": frozen,
        "ordered": moved,
        "apart": apart,
        "part": whole.subgraph([9, 2, 3, 4, 5]),
        "large part": whole.subgraph(numbers[2:]),
        "edges of a part": whole.edge_subgraph([(0, 1), (3, 10)]),
        "without some": nx.restricted_view(directed, [3], [(0, 1)]),
        "filtered": nx.subgraph_view(whole, filter_node=lambda v: v % 3, filter_edge=lambda u, v: u + v != 3),
        "reversed": directed.reverse(copy=False),
        "both ways": directed.to_undirected(as_view=True),
        "one way": whole.to_directed(as_view=True),
        "parallel, part": many.subgraph([0, 1]),
        "nodes alone": nx.empty_graph(4),
        "nothing": nx.Graph(),
    }


@pytest.mark.parametrize("name", held())
def test_rows_are_those_of_a_look_up(name):
    graph = held()[name]
    made, nodes = from_networkx(graph), list(graph)
    sides = [(made.out, graph._adj)] + ([(made.into, graph._pred)] if graph.is_directed() else [])
    for (indptr, indices), adjacency in sides:
        wanted = [[next(i for i, u in enumerate(nodes) if u is w or u == w) for w in adjacency[v]] for v in nodes]
        found = [indices[indptr[v] : indptr[v + 1]].tolist() for v in range(len(nodes))]
        assert found == wanted
    assert len(made) == len(nodes) and made.is_directed() == graph.is_directed()
    for number, node in enumerate(nodes):
        assert made.number(node) == number and made.nodes(np.array([number]))[0] is nodes[number]
        assert type(made.nodes(np.array([number]))[0]) is type(node)
    assert made.number("nobody") is None and made.number(10**30) is None and made.number(float("nan")) is None
    with pytest.raises(TypeError):
        made.number([])


@pytest.mark.parametrize("name", held())
def test_searches_and_components_of_what_is_odd(name):
    graph = held()[name]
    made, weak = from_networkx(graph), "weakly_" if graph.is_directed() else ""
    found = list(getattr(backend, f"{weak}connected_components")(made))
    assert found == list(getattr(nx, f"{weak}connected_components")(graph, backend="networkx"))
    for node in list(graph)[:3]:
        wanted = nx.single_source_shortest_path_length(graph, node, backend="networkx")
        assert list(backend.single_source_shortest_path_length(made, node).items()) == list(wanted.items())


@pytest.mark.skipif(settings.interpreted(), reason="kernels run as Python")
def test_what_is_walked_by_compiled_code_and_what_is_not():
    graphs = held()
    walked = {name for name, graph in graphs.items() if numbering.Numbering(list(graph))._slots is not None}
    # -1 and -2 have one hash; "1" and b"1", 2**61 - 1 and 0 have, too
    looked_up = {"negative", "large", "mixed", "tuples that Python hashes", "hashed by Python"}
    assert set(graphs) - walked == looked_up
    counted = {name for name, graph in graphs.items() if numbering.Numbering(list(graph)).counted}
    assert counted >= {"numbers", "equal objects", "nodes alone", "one way", "parallel"}
    assert not counted & {
        "from 1",
        "backwards",
        "loops",
        "part",
        "bools and floats",
        "large, zero first",
        "numbers of NumPy",
    }


def test_references_are_left_as_they_were():
    graph = ring([f"node {v}" for v in range(500)])
    nodes = list(graph)
    from_networkx(graph)
    gc.collect()
    before = [sys.getrefcount(node) for node in nodes]
    for _ in range(3):
        from_networkx(graph)
    gc.collect()
    assert [sys.getrefcount(node) for node in nodes] == before


def test_a_neighbour_that_is_no_node_is_an_error_and_not_a_wrong_row():
    for nodes in ([0, 1, 2], ["a", "b", "c"]):
        graph = ring(nodes)
        for stranger in ("stranger", 77, -1):
            graph._adj[nodes[1]][stranger] = {}
            with pytest.raises(KeyError):
                from_networkx(graph)
            del graph._adj[nodes[1]][stranger]
        assert len(from_networkx(graph)) == 3


def test_nodes_with_equal_hashes_and_long_rows():
    """Rows longer than what is fetched together, and a table in which many hashes want one slot."""
    nodes = [v << 58 for v in range(8)] + [v * 2**61 for v in range(1, 4)]
    graph = nx.complete_graph(nodes)
    assert len(from_networkx(graph).out[1]) == 110
    star = nx.star_graph([f"n{v}" for v in range(1000)])
    made = from_networkx(star)
    assert made.out[1][:999].tolist() == list(range(1, 1000)) and (made.out[1][999:] == 0).all()


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name", held())
def test_graphs_of_ours_have_the_edges_of_those_of_networkx(name, keep):
    graph = held()[name]
    kinds = {"ids" if isinstance(v, int | np.integer) and type(v) is not bool else type(v) for v in graph}
    if kinds not in ({"ids"}, {str}) or any(v == "" or v == "\udcff" or (kinds == {"ids"} and v < 0) for v in graph):
        with pytest.raises((ArgumentError, InputError)):
            Graph.from_networkx(graph)
        return
    if any(kinds == {"ids"} and v >= 2**63 for v in graph):
        with pytest.raises(ArgumentError, match=str(2**70)):
            Graph.from_networkx(graph)
        return
    made = Graph.from_networkx(graph, keep_duplicates=keep, keep_self_loops=keep)
    called = sorted(graph) if made.names is None else sorted(graph, key=str.encode)
    assert [made.called(each) for each in made.original_ids().tolist()] == called
    edges = [edge[:2] for edge in graph.edges]
    edges += [] if graph.is_directed() else [(v, u) for u, v in edges if u != v]
    edges = edges if keep else {(u, v) for u, v in edges if u != v}
    place = {node: number for number, node in enumerate(called)}
    indptr, indices = (array.tolist() for array in made.adjacency.arrays().values())
    assert made.flags.directed == graph.is_directed()
    assert [(v, w) for v in range(made.n) for w in indices[indptr[v] : indptr[v + 1]]] == sorted(
        (place[u], place[v]) for u, v in edges
    )


@pytest.mark.parametrize(
    ("nodes", "error", "says"),
    [
        ([1, "a"], ArgumentError, "all integers from 0 on, or all strings, and has 'a'"),
        (["a", 1], ArgumentError, "has 1"),
        ([0, -1], ArgumentError, "has -1"),
        ([0, 2**63], ArgumentError, f"has {2**63}"),
        ([True, 2], ArgumentError, "has True"),
        ([2, NAN], ArgumentError, "has nan"),
        (["a", ""], InputError, "node '' is no name"),
        (["a", "\udcff"], InputError, r"node '\\udcff' is no name: names are UTF-8"),
        ([], InputError, "no node"),
    ],
)
def test_nodes_that_are_no_ids_and_no_names(nodes, error, says):
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    with pytest.raises(error, match=says):
        Graph.from_networkx(graph)


def test_what_is_no_graph_of_networkx():
    for thing in (3, {0: [1]}, Graph.from_edges([0], [1])):
        with pytest.raises(ArgumentError, match="must be a NetworkX graph"):
            Graph.from_networkx(thing)
