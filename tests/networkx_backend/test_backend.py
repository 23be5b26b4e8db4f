"""bigbfs as a backend of NetworkX: against NetworkX itself, and by NetworkX's own tests."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

nx = pytest.importorskip("networkx")

import zoo  # noqa: E402

import bigbfs  # noqa: E402
from bigbfs.graph.graph import Graph  # noqa: E402
from bigbfs.networkx import backend  # noqa: E402
from bigbfs.networkx.bridge import from_networkx, to_networkx  # noqa: E402
from bigbfs.networkx.info import FUNCTIONS, get_info  # noqa: E402

SUITES = {
    "components.tests.test_connected": "",
    "components.tests.test_weakly_connected": "",
    "traversal.tests.test_bfs": "",
    "shortest_paths.tests.test_generic": "",
    "shortest_paths.tests.test_unweighted": "",
    "tests.test_dag": "descendants or topological_generations",
}
"""Modules of NetworkX's tests, and which tests of them."""


def graphs():
    """Graphs of NetworkX: names of any kind, loops, parallel edges, edges put in without order."""
    random = nx.gnm_random_graph(60, 90, seed=3)
    directed = nx.gnm_random_graph(60, 110, seed=4, directed=True)
    backwards = nx.Graph(list(random.edges)[::-1])
    words = nx.relabel_nodes(directed, {v: f"n{v * 7 % 60}" for v in directed})
    parallel = nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (3, 3), (4, 5)])
    acyclic = nx.DiGraph((u, v) for u, v in directed.edges if u < v)
    return {
        "random": random,
        "backwards": backwards,
        "directed": directed,
        "words": words,
        "parallel": parallel,
        "acyclic": acyclic,
        "loop": nx.Graph([("a", "a"), ("a", 1)]),
        "empty": nx.Graph(),
    }


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
            (f"single_{end}_shortest_path_length", (node, cut)) for end in ("source", "target") for cut in (1, None)
        ]
        pairs += [("has_path", (node, last)), ("has_path", (last, node)), ("shortest_path_length", (node,))]
        pairs += [
            ("shortest_path_length", (None, last)),
            ("bfs_edges", (node, True, 2)),
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
        "assert nx.diameter(nx.path_graph(4)) == 3\n"
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
        work = [(f"{weak}connected_components", ()), ("single_source_shortest_path_length", (node,))]
        work += [("bfs_edges", (node, reverse)) for reverse in (False, True)] + [("descendants", (node,))]
        work += [("topological_generations", ())] if directed else [("node_connected_component", (node,))]
        for function, arguments in work:
            ours = getattr(backend, function)
            listed = [
                (lambda x: list(x.items() if isinstance(x, dict) else x))(f)
                for f in (
                    ours(turned, *arguments),
                    ours(plain, *arguments),
                    getattr(nx, function)(theirs, *arguments, backend="networkx"),
                )
            ]
            assert listed[0] == listed[1] == listed[2], function
        assert backend.bridge_of(turned).number(4) is None


def test_what_cannot_or_should_not_be_run_is_said():
    small, large = nx.path_graph(5), nx.path_graph(backend.FEWEST_EDGES + 1)
    assert backend.can_run("pagerank", (small,), {}) == "bigbfs has no pagerank"
    assert "weights" in backend.can_run("shortest_path_length", (small, 0), {"weight": "w"})
    assert "all pairs" in backend.can_run("shortest_path_length", (small,), {})
    assert "sorted" in backend.can_run("bfs_edges", (small, 0), {"sort_neighbors": sorted})
    assert backend.can_run("bfs_edges", (small, 0), {}) is True
    assert "fewer" in backend.should_run("bfs_edges", (small, 0), {})
    assert backend.should_run("bfs_edges", (large, 0), {}) is True
    assert backend.should_run("bfs_edges", (Graph.from_csr([0, 0], []), 0), {}) is True
    with pytest.raises(NotImplementedError):
        next(backend.bfs_edges(small, 0, sort_neighbors=sorted))


def test_the_info_names_functions_that_are_there_and_imports_nothing():
    assert all(callable(getattr(backend, name)) and hasattr(nx, name) for name in FUNCTIONS)
    assert set(get_info()["functions"]) == set(FUNCTIONS)
    code = "import sys, bigbfs.networkx.info; sys.exit('numpy' in sys.modules or 'networkx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture(scope="module")
def entry_points(tmp_path_factory):
    """An environment in which NetworkX finds the backend, whether the package is installed or only imported."""
    found = [*importlib.metadata.entry_points(group="networkx.backends", name="bigbfs")]
    path = [str(Path(backend.__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    if not found:
        folder = tmp_path_factory.mktemp("site") / "bigbfs_backend-0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: bigbfs-backend\nVersion: 0\n")
        (folder / "entry_points.txt").write_text(
            "[networkx.backends]\nbigbfs = bigbfs.networkx.backend\n"
            "[networkx.backend_info]\nbigbfs = bigbfs.networkx.info:get_info\n"
        )
        path.append(str(folder.parent))
    return os.environ | {"PYTHONPATH": os.pathsep.join(path)}


COUNTING = """
from collections import Counter
from bigbfs.networkx import backend
from bigbfs.networkx.info import FUNCTIONS

calls, now = {name: set() for name in FUNCTIONS}, [""]

def counted(name, function):
    def call(*arguments, **keywords):
        calls[name].add(now[0])
        return function(*arguments, **keywords)
    return call

for each in FUNCTIONS:
    setattr(backend, each, counted(each, getattr(backend, each)))

def pytest_runtest_setup(item):
    now[0] = item.nodeid

def pytest_sessionfinish():
    print("\\ntests:", ", ".join(f"{name} {len(tests)}" for name, tests in calls.items()))
"""


def test_networkx_own_tests_of_every_claimed_function_pass(entry_points, tmp_path):
    """NetworkX turns every graph of its tests into one of ours, and compares what its functions return."""
    (tmp_path / "counting.py").write_text(COUNTING)
    each = [f"({module.rpartition('.')[2]}{f' and ({only})' if only else ''})" for module, only in SUITES.items()]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "counting",
        "-k",
        " or ".join(each),
    ]
    modules = ["--pyargs", *(f"networkx.algorithms.{module}" for module in SUITES)]
    env = entry_points | {"NETWORKX_TEST_BACKEND": "bigbfs", "NETWORKX_FALLBACK_TO_NX": "1"}
    env["PYTHONPATH"] += os.pathsep + str(tmp_path)
    env.pop("PYTEST_ADDOPTS", None)  # those of this run
    done = subprocess.run([*command, *modules], capture_output=True, text=True, env=env, cwd=tmp_path)
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|xfailed|error)", done.stdout)}
    assert done.returncode == 0 and counts.get("passed", 0) > 80 and "xfailed" not in counts, done.stdout[-3000:]
    (line,) = re.findall(r"^tests: (.*)$", done.stdout, re.MULTILINE)
    called = dict(word.rsplit(" ", 1) for word in line.split(", "))
    assert set(called) == set(FUNCTIONS) and "0" not in called.values(), called
    print(line)
