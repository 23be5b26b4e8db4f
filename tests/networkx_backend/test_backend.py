"""bigbfs as a backend of NetworkX: against NetworkX itself, and by NetworkX's own tests."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Set

import numpy as np
import pytest

nx = pytest.importorskip("networkx")

import zoo  # noqa: E402
from networkx_backend.graphs import graphs  # noqa: E402

import bigbfs  # noqa: E402
from bigbfs.graph.graph import Graph  # noqa: E402
from bigbfs.networkx import backend  # noqa: E402
from bigbfs.networkx.bridge import bridge_of, from_networkx, to_networkx  # noqa: E402
from bigbfs.networkx.info import FUNCTIONS, get_info  # noqa: E402


@pytest.mark.parametrize("name", graphs())
def test_every_function_gives_what_networkx_gives_in_its_order(name):
    graph = graphs()[name]
    made = from_networkx(graph)
    weak = "weakly_" if graph.is_directed() else ""
    pairs = [(f"{weak}connected_components", ()), (f"number_{weak}connected_components", ())]
    if len(graph):
        node, last = next(iter(graph)), list(graph)[-1]
        pairs += [(f"is_{weak}connected", ())] + ([("node_connected_component", (node,))] if not weak else [])
        pairs += [
            (f, (node,)) for f in ("bfs_edges", "bfs_predecessors", "bfs_successors", "bfs_layers", "descendants")
        ]
        pairs += [(f, (node, cut)) for f in ("descendants_at_distance",) for cut in (0, 2, 50)]
        pairs += [
            (f"single_{end}_shortest_path_length", (node, cut))
            for end in ("source", "target")
            for cut in (-1, 1, 1.5, None)
        ]
        pairs += [("has_path", (node, last)), ("has_path", (last, node)), ("shortest_path_length", (node,))]
        pairs += [
            ("shortest_path_length", (None, last)),
            ("shortest_path_length", ()),
            ("all_pairs_shortest_path_length", (1,)),
            ("bfs_edges", (node, True, 2)),
            ("bfs_edges", (node, False, 1.5)),
            ("bfs_layers", ([node, last],)),
        ]
    for function, arguments in pairs:
        wanted = getattr(nx, function)(graph, *arguments, backend="networkx")
        found = getattr(backend, function)(made, *arguments)
        if not isinstance(wanted, int | bool | set):
            wanted, found = (list(x.items() if isinstance(x, dict) else x) for x in (wanted, found))
            if function == "bfs_layers" and isinstance(arguments[0], list):
                wanted, found = ([set(layer) for layer in x] for x in (wanted, found))
        assert found == wanted and type(found) is type(wanted), (function, arguments)
    assert to_networkx(made) is graph


def test_topological_generations_and_cycles():
    graph = graphs()["acyclic"]
    assert list(backend.topological_generations(graph)) == list(nx.topological_generations(graph, backend="networkx"))
    with pytest.raises(nx.NetworkXUnfeasible):
        list(backend.topological_generations(nx.DiGraph([(0, 1), (1, 0)])))
    with pytest.raises(nx.NetworkXError):
        list(backend.topological_generations(nx.Graph([(0, 1)])))


def test_a_graph_file_is_a_graph_of_networkx(tmp_path, entry_points):
    made = zoo.build(50, zoo.random(50, 40, seed=2), labels=np.arange(50) * 3 + 7)
    made.save(tmp_path / "g.ccsr" if made.codec == "varint" else tmp_path / "g.csrbin")
    code = (
        "import sys, networkx as nx, bigbfs\n"
        "graph = bigbfs.open(sys.argv[1])\n"
        "plain = nx.Graph(); plain.add_nodes_from(graph.original_ids().tolist())\n"
        "csr = graph.to_scipy(); at = csr.nonzero(); ids = graph.original_ids()\n"
        "plain.add_edges_from(zip(ids[at[0]].tolist(), ids[at[1]].tolist()))\n"
        "assert list(nx.connected_components(graph)) == list(nx.connected_components(plain, backend='networkx'))\n"
        "assert nx.single_source_shortest_path_length(graph, 7) == nx.single_source_shortest_path_length(plain, 7)\n"
        "assert nx.single_source_shortest_path_length(plain, 7, backend='bigbfs')[7] == 0\n"
        "assert nx.closeness_centrality(graph) == nx.closeness_centrality(plain, backend='networkx')\n"
        "assert nx.eccentricity(nx.path_graph(4), backend='bigbfs') == {0: 3, 1: 2, 2: 2, 3: 3}\n"
        "nx.config.backend_priority = ['bigbfs']\n"
        "assert nx.diameter(nx.path_graph(4)) == nx.diameter(nx.path_graph(4), weight='w') == 3\n"
        "first = nx.harmonic_centrality(nx.path_graph(1001))[0]\n"
        "assert abs(first - sum(1 / d for d in range(1, 1001))) < 1e-9\n"
        "try: nx.has_path(graph, 7, 8)\n"
        "except nx.NodeNotFound as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "g.csrbin"], capture_output=True, text=True, env=entry_points
    )
    assert done.returncode == 0, done.stderr
    assert "Target 8 is not in G" in done.stdout


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("order", ["degree", "rcm"])
def test_a_file_in_another_order_gives_what_one_in_the_order_of_ids_gives(tmp_path, order, directed):
    lines = [(2 * u + 5, 2 * v + 5) for u, v in zip(*zoo.random(50, 45, seed=2), strict=True) if not directed or u < v]
    (tmp_path / "g.txt").write_text("".join(f"{u} {v}\n" for u, v in lines))
    for name, how in (("plain", "original"), ("turned", order)):
        bigbfs.convert(tmp_path / "g.txt", tmp_path / f"{name}.csrbin", order=how, directed=directed)
    with bigbfs.open(tmp_path / "plain.csrbin") as plain, bigbfs.open(tmp_path / "turned.csrbin") as turned:
        assert turned.flags.relabelled
        theirs, weak = to_networkx(turned), "weakly_" if directed else ""
        assert list(theirs) == turned.original_ids().tolist()
        node = list(theirs)[3]
        for function, arguments in (
            ("single_source_shortest_path_length", (node,)),
            ("single_source_shortest_path_length", (node, 1)),
            ("single_target_shortest_path_length", (node,)),
            ("shortest_path_length", (node,)),
            ("shortest_path_length", (None, node)),
        ):
            wanted = getattr(nx, function)(theirs, *arguments, backend="networkx")
            ascending = sorted(wanted.items(), key=lambda item: item[::-1])
            for graph in (turned, plain):
                assert list(getattr(backend, function)(graph, *arguments).items()) == ascending, function
        work = [(f"{weak}connected_components", ())]
        work += [("bfs_edges", (node, reverse)) for reverse in (False, True)] + [("descendants", (node,))]
        work += [("topological_generations", ())] if directed else [("node_connected_component", (node,))]
        for function, arguments in work:
            ours = getattr(backend, function)
            listed = [
                (lambda x: set(x) if isinstance(x, Set) else list(x))(f)
                for f in (
                    ours(turned, *arguments),
                    ours(plain, *arguments),
                    getattr(nx, function)(theirs, *arguments, backend="networkx"),
                )
            ]
            assert listed[0] == listed[1] == listed[2], function
        assert bridge_of(turned).number(4) is None


def test_what_cannot_or_should_not_be_run_is_said():
    small, large = nx.path_graph(5), nx.path_graph(backend.FEWEST_EDGES + 1)
    for words, name, args, kwargs in (
        ("bigbfs has no pagerank", "pagerank", (small,), {}),
        ("weights", "shortest_path_length", (small, 0), {"weight": "w"}),
        ("weights", "shortest_path_length", (small, 0, 1, "w"), {}),
        ("weights", "eccentricity", (small,), {"weight": "w"}),
        ("weights", "closeness_centrality", (small,), {"distance": "w"}),
        ("weights", "harmonic_centrality", (small, None, "w"), {}),
        ("not taken", "eccentricity", (small,), {"sp": {}}),
        ("floyd-warshall", "average_shortest_path_length", (small,), {"method": "floyd-warshall"}),
        ("sorted", "bfs_edges", (small, 0), {"sort_neighbors": sorted}),
        ("sorted", "bfs_edges", (small, 0, False, None, sorted), {}),
    ):
        assert words in backend.can_run(name, args, kwargs), (name, args, kwargs)
    for name, args in (
        ("bfs_edges", (small, 0)),
        ("descendants_at_distance", (small, 0, 1)),
        ("shortest_path_length", (small,)),
        ("average_shortest_path_length", (small, None, "dijkstra")),
        ("diameter", (small, None, True)),
        ("bfs_edges", (small, 0, 1, 2, 3, 4, 5)),  # the call says what is wrong with it
    ):
        assert backend.can_run(name, args, {}) is True
    for words, name, args in (
        ("fewer than 20,000 edges", "bfs_edges", (small, 0)),
        ("few nodes", "bfs_edges", (large, 0, False, 2)),
        ("few nodes", "descendants_at_distance", (large, 0, 1)),
        ("both ends", "has_path", (large, 0, 1)),
        ("both ends", "shortest_path_length", (large, 0, 1)),
        ("steps", "diameter", (small,)),
        ("given", "diameter", (large, {0: 0})),
    ):
        assert words in backend.should_run(name, args, {}), (name, args)
    thousand = nx.path_graph(1001)
    assert backend.should_run("diameter", (thousand,), {}) is True
    assert "edges" in backend.should_run("eccentricity", (thousand, 5), {})
    assert backend.should_run("bfs_edges", (large, 0), {}) is True
    assert backend.should_run("bfs_edges", (Graph.from_csr([0, 0], []), 0), {}) is True
    with pytest.raises(NotImplementedError):
        next(backend.bfs_edges(small, 0, sort_neighbors=sorted))
    with pytest.raises(NotImplementedError):
        backend.diameter(small, weight="w")
    with pytest.raises(NotImplementedError):
        backend.eccentricity(small, sp={})


def test_the_info_names_functions_that_are_there_and_imports_nothing():
    assert all(callable(getattr(backend, name)) and hasattr(nx, name) for name in FUNCTIONS)
    assert set(get_info()["functions"]) == set(FUNCTIONS)
    code = "import sys, bigbfs.networkx.info; sys.exit('numpy' in sys.modules or 'networkx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


class Equal:
    """Equal to others of its number, and told from them by ``is`` alone."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Equal) and self.number == other.number

    def __hash__(self):
        return self.number


def outcome(function, *arguments):
    """Return what a call gives, told apart by type too, or what it raises, to the word."""
    try:
        found = function(*arguments)
        if isinstance(found, nx.Graph):
            found = list(found), list(found.edges)
        elif isinstance(found, dict):
            found = list(found.items())
        elif not isinstance(found, set | bool | int):
            found = list(found)
    except (nx.NetworkXException, KeyError, TypeError, ValueError) as error:
        return type(error), str(error)
    return [(id(node) if isinstance(node, Equal) else repr(node)) for node in _flat(found)]


def _flat(found):
    """Return everything within lists, pairs and sets."""
    if not isinstance(found, list | tuple | set):
        return [found]
    return [each for part in found for each in _flat(part)]


def _asked(graph, node):
    weak = [] if graph.is_directed() else [("node_connected_component", (node,))]
    return [
        *((name, (node,)) for name in ("bfs_edges", "bfs_tree", "bfs_predecessors", "bfs_successors", "bfs_layers")),
        *((name, (node,)) for name in ("descendants", "single_source_shortest_path_length", "shortest_path_length")),
        *((name, (node, 0)) for name in ("has_path", "shortest_path_length", "descendants_at_distance")),
        *((name, (None, node)) for name in ("has_path", "shortest_path_length")),
        ("single_target_shortest_path_length", (node,)),
        ("bfs_edges", (node, True)),
        *weak,
    ]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_equal_nodes_and_what_is_no_node_as_networkx_has_them(kind):
    """A source is given back as the caller has named it; messages are the same to the word."""
    nodes = [Equal(number) for number in range(4)]
    number = nx.path_graph(4, create_using=kind)
    named = nx.path_graph(nodes, create_using=kind)
    for graph, given in ((number, (1, 1.0, True, 99, "x", None, [1], {2}, (1, 2))), (named, (nodes[1], Equal(1), 1))):
        made = from_networkx(graph)
        for node in given:
            for function, arguments in _asked(graph, node):
                wanted = outcome(lambda *a, f=function: getattr(nx, f)(*a, backend="networkx"), graph, *arguments)
                assert outcome(getattr(backend, function), made, *arguments) == wanted, (function, arguments)


@pytest.mark.parametrize("order", [None, "degree"])
@pytest.mark.parametrize("others", [0, 3, 40])
def test_components_of_a_graph_file_come_as_their_first_nodes_do_each_ascending(order, others, tmp_path):
    edges = [*nx.path_graph(range(100, 200)).edges, *((10 * k, 10 * k + 1) for k in range(1, others // 2 + 1))]
    edges += [(1000 + 10 * k, 1001 + 10 * k) for k in range(others)]
    graph = nx.Graph(edges)
    text = tmp_path / "g.txt"
    text.write_text("".join(f"{a} {b}\n" for a, b in graph.edges))
    made = bigbfs.convert(text, tmp_path / "g.csrbin", **({} if order is None else {"order": order}))
    made = made if isinstance(made, Graph) else bigbfs.open(tmp_path / "g.csrbin")
    plain = nx.Graph()
    plain.add_nodes_from(sorted(graph))
    plain.add_edges_from(graph.edges)
    wanted = list(nx.connected_components(plain, backend="networkx"))
    found = list(backend.connected_components(made))
    assert found == wanted and [list(each) for each in found] == [sorted(each) for each in wanted]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ["random", "star", "path", "two", "dense"])
def test_lengths_of_a_graph_file_are_those_of_networkx_by_level_and_id(tmp_path, name, directed, both):
    """Wide levels of these are searched bottom-up, where the rows of in-neighbours are known."""
    rng = np.random.default_rng(3)
    pairs = {
        "random": rng.integers(0, 600, (3000, 2)),
        "star": np.array([(0, k) for k in range(1, 900)]),
        "path": np.array([(k, k + 1) for k in range(300)]),
        "two": np.array([(k, (k * 7 + 1) % 50) for k in range(50)] + [(100, 101), (101, 102)]),
        "dense": rng.integers(0, 60, (2500, 2)),
    }[name].tolist()
    (tmp_path / "g.txt").write_text("".join(f"{u} {v}\n" for u, v in pairs if u != v))
    bigbfs.convert(tmp_path / "g.txt", tmp_path / "g.csrbin", directed=directed, in_edges=both and directed)
    with bigbfs.open(tmp_path / "g.csrbin") as graph:
        plain = (nx.DiGraph if directed else nx.Graph)((u, v) for u, v in pairs if u != v)
        for node in graph.original_ids()[[0, -1, graph.n // 2]].tolist():
            for function in ("single_source_shortest_path_length", "single_target_shortest_path_length"):
                for cutoff in (None, 1, 2.5):
                    wanted = getattr(nx, function)(plain, node, cutoff, backend="networkx")
                    found = getattr(backend, function)(graph, node, cutoff)
                    assert list(found.items()) == sorted(wanted.items(), key=lambda item: item[::-1])


def test_a_path_of_many_levels_takes_no_time_for_each(tmp_path):
    n = 300_000
    path = bigbfs.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)
    times = {}
    for graph in (bigbfs.Graph.from_edges(np.zeros(n - 1, np.int64), np.arange(1, n), n=n), path):
        backend.single_source_shortest_path_length(graph, 0)
        start = time.process_time()
        found = backend.single_source_shortest_path_length(graph, 0)
        times[found[n - 1]] = time.process_time() - start
        assert len(found) == n and list(found) == list(range(n))
    assert found == dict(zip(range(n), range(n), strict=True))
    assert times[n - 1] < 6 * times[1] + 0.1, times  # a Python step for each level: 20 times
