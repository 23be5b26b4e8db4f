"""Graphs of edges that are in memory already: arrays, tables of other libraries.

What is integers is taken as it lies; names are told apart and sorted as those of files are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.conversion.in_memory.build import build
from bigbfs.conversion.in_memory.from_arrays import graph_of
from bigbfs.conversion.in_memory.from_networkx import edges_of_networkx
from bigbfs.conversion.memory import default_allowance
from bigbfs.conversion.names.gather import Gather, Texts
from bigbfs.conversion.names.named import Named
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import ArgumentError, BigBfsError, InputError
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.table_edges import add_ids
from bigbfs.formats.tables.columns import choose
from bigbfs.formats.tables.integers import INTEGERS, NAMES, ids_of, kind_of, of_two_kinds
from bigbfs.formats.tables.library import brief, pyarrow
from bigbfs.formats.tables.texts import texts_of
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.graph import Graph
from bigbfs.graph.name_pages import names_of, stretch_of
from bigbfs.graph.names import Names
from bigbfs.jit.workers import Workers, thread_count

__all__ = ["graph_of", "graph_of_list", "graph_of_networkx", "graph_of_table"]


def graph_of_table(table: Any, function: str, columns: Any, names: bool, kept: dict[str, Any]) -> Graph:
    """Return the graph of the edges in two columns of a table; see ``Graph.from_arrow``.

    Raises
    ------
    ArgumentError
        It is no table.
    InputError
        It has not these columns, or they hold what is no id and no name.
    UsageError
        pyarrow is not installed.
    """
    options = ConvertOptions(columns=columns, names=names or None, **kept)
    arrow = pyarrow(function)
    if hasattr(table, "iloc") and hasattr(table, "columns"):  # pandas converts every column, those without use too
        first, second, _ = choose(function, [str(name) for name in table.columns], options.columns)
        table, options = table.iloc[:, [first - 1, second - 1]], replace(options, columns=(1, 2))
        if not table.columns.is_unique:  # pandas hands no such columns on
            table = table.set_axis([f"column {place}" for place in (first, second)], axis=1)
    with _converting(function):
        if hasattr(table, "__arrow_c_stream__"):
            reader = arrow.RecordBatchReader.from_stream(table)
        elif hasattr(table, "iloc"):  # a DataFrame of pandas before 2.2
            reader = arrow.Table.from_pandas(table, preserve_index=False).to_reader()
        else:
            what = "must be a table: of pyarrow, polars, pandas, DuckDB, or what has __arrow_c_stream__"
            raise ArgumentError(what, about=(("table", table),))
    schema = reader.schema
    first, second, _ = choose(function, schema.names, options.columns)
    fields = [schema.field(place - 1) for place in (first, second)]
    kinds = {NAMES if names else kind_of(function, field.name, field.type) for field in fields}
    if len(kinds) > 1:
        raise of_two_kinds(function, [(field.name, field.type) for field in fields])
    batches = _batches(reader, first - 1, second - 1)
    with _converting(function):
        return (_of_integers if kinds == {INTEGERS} else _of_names)(batches, function, options)


@contextmanager
def _converting(function: str) -> Iterator[None]:
    """Turn what pyarrow says of values that it cannot convert into an InputError."""
    arrow = pyarrow(function)
    try:
        yield
    except (arrow.ArrowException, OverflowError, UnicodeEncodeError) as error:
        if isinstance(error, BigBfsError):
            raise
        what = f"{function}: a column is neither integers nor text: {brief(error)}"
        raise InputError(what, remedies=("cast it to one of these",)) from error


def _batches(reader: Any, first: int, second: int) -> Iterable[tuple[Any, Any, int]]:
    row = 0
    for batch in reader:
        if batch.num_rows:
            yield batch.column(first), batch.column(second), row
        row += batch.num_rows


def _of_integers(batches: Iterable[tuple[Any, Any, int]], function: str, options: ConvertOptions) -> Graph:
    parts = []
    for first, second, row in batches:
        parts.append([ids_of(side, lambda i: f"{function}: row {row + i}") for side in (first, second)])
    if not parts:
        raise InputError(f"{function}: no edge in the table; a graph without vertices is not made")
    if len(parts) == 1 and parts[0][0].dtype == parts[0][1].dtype and parts[0][0].itemsize in (4, 8):
        return graph_of_list(EdgeList(parts[0][0], parts[0][1]), options, reuse=False)
    edges = EdgeBuffer(function)
    edges.reserve(sum(len(first) for first, _ in parts))
    while parts:
        add_ids(edges, *parts.pop(0))
    return graph_of_list(EdgeList(*edges.arrays()), options, reuse=True)


def _of_names(batches: Iterable[tuple[Any, Any, int]], function: str, options: ConvertOptions) -> Graph:
    threads = thread_count(options.threads)
    with ExitStack() as held:
        folder = held.enter_context(tempfile.TemporaryDirectory(prefix="bigbfs-"))
        workers = held.enter_context(Workers(threads))
        scratch = held.enter_context(Scratch(Path(folder)))
        gather = Gather(default_allowance(), scratch, workers, threads)
        for first, second, row in batches:
            sides = [texts_of(side, lambda i: f"{function}: row {row + i}") for side in (first, second)]
            gather.add(*(Texts(*side) for side in sides))
        if not gather.lines:
            raise InputError(f"{function}: no edge in the table; a graph without vertices is not made")
        named = Named(gather, default_allowance(), scratch, workers)
        edges = named.feed(EdgeBuffer(function))
        found = named.names()
        names = Names(np.array(found.blob), found.ptr, found.firsts)
    graph = graph_of_list(edges, options, reuse=True)
    graph.names = names
    return graph


def graph_of_list(edges: EdgeList, options: ConvertOptions, *, reuse: bool) -> Graph:
    """Return the graph of one list of edges, whose arrays are used up where ``reuse`` allows it."""
    if not reuse:
        edges.src, edges.dst = edges.src.view(), edges.dst.view()
        edges.src.flags.writeable = edges.dst.flags.writeable = False
    graph, _ = build([edges], options) if reuse else _build_beside(edges, options)
    graph.declare_valid()
    return graph


def _build_beside(edges: EdgeList, options: ConvertOptions) -> tuple[Graph, object]:
    from bigbfs.conversion.in_memory.build import build_graph

    return build_graph(edges.src, edges.dst, edges.declared_n, options=options)


def graph_of_networkx(graph: Any, kept: dict[str, Any]) -> Graph:
    """Return a NetworkX graph as one of ours; see ``Graph.from_networkx``.

    Raises
    ------
    ArgumentError
        It is no such graph, or its nodes are neither all integers from 0 on nor all strings.
    InputError
        It has no node, or a name is empty or no UTF-8.
    """
    directed = bool(getattr(graph, "is_directed", bool)())
    options = ConvertOptions(directed=directed, **kept)
    edges, names = edges_of_networkx(graph, options.keep_duplicates)
    made = graph_of_list(edges, options, reuse=True)
    if names is not None:
        made.names = names_of([stretch_of(names)])
    return made
