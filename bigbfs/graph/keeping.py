"""What ties a graph to its file: opening, saving, pickling; what they mean lies in bigbfs/formats (see files.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from bigbfs.errors import UsageError, naming
from bigbfs.graph import files
from bigbfs.graph.original_ids import OriginalIds
from bigbfs.sizes import file_path


class KeptInFile(OriginalIds):
    """The part of a Graph that knows of files; the attributes are described there."""

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Map the graph file ``path`` (.csrbin, .ccsr, raw .csrbin, GAP .sg); see :func:`open`."""
        graph: Self = files.keeper().open_graph(file_path("path", path))
        return graph

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any,
        *,
        n: int | None = None,
        directed: bool = False,
        keep_duplicates: bool = False,
        keep_self_loops: bool = False,
    ) -> Self:
        """Make a graph of the edges ``src[i]`` - ``dst[i]``, as :func:`bigbfs.convert` makes one of an edge list.

        Parameters
        ----------
        src, dst
            Ids, integers from 0 to 2^63 - 1, shape (edges,): NumPy arrays, lists, columns of a data frame. They are
            left as they are, and everything speaks them: vertices with gaps between their ids are renumbered inside.
        n
            The vertices are 0 to ``n - 1``; None: those whose ids occur.
        directed
            Edges lead one way; else both.
        keep_duplicates, keep_self_loops
            Keep what else is dropped.

        Raises
        ------
        ArgumentError
            ``src`` or ``dst`` holds something else than integers, or has more than one dimension.
        InputError
            They differ in length, or an id is negative, too large, or outside ``n``.
        """
        kept = {"directed": directed, "keep_duplicates": keep_duplicates, "keep_self_loops": keep_self_loops}
        graph: Self = files.builder().graph_of(src, dst, n, **kept)
        return graph

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        *,
        columns: tuple[int | str, int | str] | None = None,
        names: bool = False,
        directed: bool = False,
        keep_duplicates: bool = False,
        keep_self_loops: bool = False,
    ) -> Self:
        """Make a graph of two columns of a table: of pyarrow, polars, pandas, DuckDB, whatever has an Arrow stream.

        Integers of 32 or 64 bits in one piece are read where they lie. Text is names: the vertices are numbered in
        their byte order, and ``bigbfs.bfs(graph, "alice")`` starts at one.

        Parameters
        ----------
        table
            What has ``__arrow_c_stream__``.
        columns
            Two columns, by name or by number from 1 on; None: as their names say, or the first two.
        names
            Every id is a name, whatever it looks like.
        directed, keep_duplicates, keep_self_loops
            As for :meth:`from_edges`.

        Raises
        ------
        ArgumentError
            It is no table.
        InputError
            It has no such columns, or a value is missing or no id; with its row.
        UsageError
            pyarrow (the extra ``tables``) is not installed.
        """
        kept = {"directed": directed, "keep_duplicates": keep_duplicates, "keep_self_loops": keep_self_loops}
        graph: Self = files.builder().graph_of_table(table, "from_arrow", columns, names, kept)
        return graph

    @classmethod
    def from_pandas(cls, frame: Any, **how: Any) -> Self:
        """Make a graph of two columns of a DataFrame; the keywords, and what is raised, are those of from_arrow."""
        return cls.from_arrow(frame, **how)

    @classmethod
    def from_networkx(cls, graph: Any, *, keep_duplicates: bool = False, keep_self_loops: bool = False) -> Self:
        """Make a graph of a NetworkX graph, directed where that is; weights and other attributes are left out.

        Its nodes are integers from 0 on, or strings, which become names. Nodes without an edge are vertices.

        Raises
        ------
        ArgumentError
            It is no NetworkX graph, or its nodes are something else; one is named.
        InputError
            It has no node, or a name is empty or no UTF-8.
        """
        kept = {"keep_duplicates": keep_duplicates, "keep_self_loops": keep_self_loops}
        made: Self = files.builder().graph_of_networkx(graph, kept)
        return made

    def save(self, path: str | Path) -> None:
        """Write the graph as .csrbin (plain) or .ccsr (compressed), in the encoding that it has.

        Raises
        ------
        UsageError
            The suffix is that of another format.
        FileAccessError
            It cannot be written; nothing is left behind.
        """
        target = file_path("path", path)
        if target.suffix not in ("", ".csrbin", ".ccsr"):
            what = "a graph is written as .csrbin (plain) or .ccsr (compressed); name it so"
            raise UsageError(what, about=(("path", target),))
        with naming(output="path"):
            files.keeper().save_graph(self, target)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a graph of a file as that file's path, which is opened again; one in memory as its arrays."""
        if self.path is None:
            return super().__reduce_ex__(protocol)
        _ = self.adjacency  # refuses a closed graph
        return type(self).open, (str(self.path.absolute()),)

    def __deepcopy__(self, memo: Any) -> Self:
        raise UsageError(
            f"{self.path or 'graph'}: a graph is read-only and may be larger than memory, so it is not copied; "
            "share it, or open its file again"
        )
