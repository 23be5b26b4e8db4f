"""Conversion by several ranks (threads here): the bytes that one process writes, errors alike on all ranks."""

import gzip
import itertools
from pathlib import Path

import numpy as np
import pytest
import zoo
from folders import names
from spreading import KINDS, edges, keep_on_disk, require_same, spread, written
from wide import split

import bigbfs
from bigbfs.conversion import ConvertOptions
from bigbfs.conversion.on_disk.spill import Writer
from bigbfs.conversion.spread import (
    assemble,
    convert,
    exchange,
    numbering,
    reading,
    whole,
)
from bigbfs.errors import FileAccessError, InputError, UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["memory", "disk"])
def way(request, monkeypatch):
    """Where pairs are kept."""
    if request.param == "disk":
        keep_on_disk(monkeypatch)
    return request.param


CASES = split(
    list(itertools.product(("text", "npy"), KINDS, (1, 2, 3, 8))),
    lambda form, kind, ranks: (form == "text") == (ranks % 2 == 1) and (ranks == 3 or kind == "directed"),
)


@pytest.mark.covered("way+kind")
@pytest.mark.parametrize(("form", "kind", "ranks"), CASES)
def test_the_same_bytes(form, kind, ranks, way):
    require_same(ranks, written(form), **KINDS[kind])


@pytest.mark.covered("way+ranks")
@pytest.mark.parametrize(
    ("name", "ranks"),
    split(
        [(name, ranks) for name in zoo.names(big=False) for ranks in (2, 5)],
        lambda name, ranks: (len(name) + ranks) % 6 == 0,
    ),
)
def test_the_zoo(name, ranks, way):
    graph = zoo.shared()[name]
    rows, plain = np.repeat(np.arange(graph.n), graph.degrees()), graph.decompress().adjacency.indices
    if len(rows):
        np.savetxt("g.txt", np.column_stack([graph.original(rows), graph.original(plain)]), "%d")
        require_same(ranks, ["g.txt"], directed=graph.flags.directed)


@pytest.mark.covered("way+ranks")
@pytest.mark.parametrize(
    "text",
    [
        b"source,target,weight\n1,2,5\n2,3,6\n9,1,7\n4,4,1\n",
        b"1 2\r\n2 3\r\n\r\n3 4",
        b"\xef\xbb\xbf1 2\n2 3\n",
        b"% asym unweighted\n1 2\n2 3\n3 1\n",
        b"# " + b"long comment " * 40 + b"\n1 2\n",
        b"1 2",
        b"1 2\n# between\n\n2 3\n# at the end\n",
        b"1 2\r2 3\r3 4\r",
    ],
)
@pytest.mark.parametrize("ranks", [2, 7])
def test_texts_that_are_cut_anywhere(text, ranks, way):
    """More ranks than lines among them."""
    Path("g.txt").write_bytes(text)
    require_same(ranks, ["g.txt"])


@pytest.mark.covered("way+kind")
@pytest.mark.parametrize("kind", ["plain", "directed", "all"])
@pytest.mark.parametrize("ranks", [2, 5])
def test_ids_that_no_table_holds(kind, ranks, way):
    """Hashes, of which some are given at one end alone; and ids without gaps that begin beyond any table."""
    hashes = np.random.default_rng(3).integers(0, 2**63, 700, np.int64, endpoint=False)
    found = np.column_stack([hashes[edges()[:, 0] // 7 % 700], hashes[edges()[:, 1] % 700]])
    np.savetxt("g.txt", found, "%d")
    require_same(ranks, ["g.txt"], **KINDS[kind])
    np.save("g.npy", np.column_stack([np.arange(500), np.arange(500)[::-1]]) + 2**62)
    require_same(ranks, ["g.npy"], **KINDS[kind])


def test_several_inputs_and_rounds_of_a_few_pairs(monkeypatch):
    keep_on_disk(monkeypatch)
    monkeypatch.setattr(reading, "MOST_HELD", 1)
    monkeypatch.setattr(reading, "min", lambda *each: 1 if 1 in each else min(*each), raising=False)
    rounds = []
    whole = exchange.ExchangingWriter._round
    monkeypatch.setattr(exchange.ExchangingWriter, "_round", lambda self, state: rounds.append(0) or whole(self, state))
    require_same(3, [*written("text"), *written("npy")], directed=True)
    assert len(rounds) > 9


@pytest.mark.parametrize("compressed", [False, True])
def test_shards(compressed, way):
    """The folder that one process writes."""
    inputs = written("text")
    bigbfs.convert(inputs, "one.shards", shards=5, compressed=compressed)
    found = spread(3, inputs, "many.shards", shards=5, compressed=compressed)
    assert names(Path("many.shards")) == names(Path("one.shards"))
    assert all(
        (Path("many.shards") / name).read_bytes() == (Path("one.shards") / name).read_bytes()
        for name in names(Path("one.shards"))
    )
    assert names(Path()) == ["g.txt", "many.shards", "one.shards"]
    assert found[1].shards == 5 and found[1].output == "many.shards" and not found[1].cached
    assert found[2].output_bytes == sum(path.stat().st_size for path in Path("many.shards").glob("*.shard"))
    assert all(each.cached for each in spread(2, inputs, "many.shards", shards=5, compressed=compressed))
    with pytest.raises(UsageError, match="or another number of them"):
        spread(2, inputs, "many.shards", shards=4)
    spread(2, inputs, "many.shards", shards=4, force=True)
    assert len(names(Path("many.shards"))) == 6
    with pytest.raises(UsageError, match=r'many.csrbin: shards go to a folder, .*output="many.shards"$'):
        spread(2, inputs, "many.csrbin", shards=4)


def test_what_is_done_is_not_done_again():
    found = spread(2, written("text"))
    again = spread(2, ["g.txt"])
    assert not found[0].cached and all(each.cached for each in again)
    assert (again[0].vertices, again[0].lines) == (found[0].vertices, found[0].lines)
    assert bigbfs.convert("g.txt", "many.csrbin").cached  # by one process neither


@pytest.mark.parametrize("line", [1, 700, 1500, 2999])
def test_a_bad_line_is_named_whoever_reads_it(line, way):
    lines = [f"{i} {i + 1}" for i in range(3000)]
    lines[line] = "7 x"
    Path("g.txt").write_text("\n".join(lines))
    with pytest.raises(InputError, match=rf"g.txt: line {line + 1}: '7 x': expected"):
        spread(4, ["g.txt"])
    assert names(Path()) == ["g.txt"]


def test_columns_between_delimiters(way):
    """A field may be empty or hold blanks where a header, or the first line, shows what separates them."""
    Path("g.csv").write_text("what,a,b\n" + "".join(f"one {i} x,{i},{i + 1}\n,{i},{i + 2}\n" for i in range(50)))
    require_same(2, ["g.csv"], columns=(2, 3))


def test_inputs_that_are_no_edge_lists(way):
    Path("g.txt").write_text("1 2\n" * 500 + "1 2 3\n" * 500)
    with pytest.raises(InputError, match="adjacency list"):
        spread(2, ["g.txt"])
    Path("g.txt").write_text("# nothing\n" * 50)
    with pytest.raises(InputError, match="no edge in it, only 50 comment and blank lines"):
        spread(3, ["g.txt"])
    Path("g.txt").write_text("# nothing\na,b\n")
    with pytest.raises(InputError, match="only a header, line 2: 'a,b' and a comment or blank line; an edge list"):
        spread(2, ["g.txt"])
    np.save("g.npy", np.array([[1, 2], [3, -4]]))
    with pytest.raises(InputError, match="vertex id -4"):
        spread(2, ["g.npy"], columns=(1, 2))
    with pytest.raises(FileAccessError, match="missing"):
        spread(2, ["missing.txt"])
    assert names(Path()) == ["g.npy", "g.txt"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"order": "degree"}, 'order="degree": is for one process'),
        ({"bipartite": True}, "bipartite=True: is for one process"),
        ({"skip_bad_lines": 3}, "skip_bad_lines=3: is for one process"),
        ({"format": "mtx"}, "is mtx, which one process reads"),
    ],
)
def test_options_that_ranks_refuse(options, said):
    Path("g.txt").write_text("1 2\n")
    with pytest.raises(UsageError, match=said):
        spread(2, ["g.txt"], **options)


def test_inputs_that_ranks_refuse():
    Path("g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    np.save("g.npy", edges())
    Path("g.npy.gz").write_bytes(gzip.compress(Path("g.npy").read_bytes()))
    Path("names.csv").write_text("a,b\nann,bob\nbob,cid\n")
    for path, said in (("g.mtx", "is mtx"), ("g.npy.gz", "is npy, gzip"), ("-", "is no file"), ("names.csv", "names")):
        with pytest.raises(UsageError, match=said):
            spread(2, [path])
    assert "many.csrbin" not in names(Path())


def whole_files():
    """Write edges as files that are cut and files that are not; some hold ids beyond 32 bits."""
    arrow = pytest.importorskip("pyarrow")
    parquet, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
    parts = np.array_split(edges(), 6)
    parts[3] = parts[3] + 2**33
    for number in (0, 1):
        np.savetxt(f"{number}.txt.gz", parts[number], "%d", header="a comment")
    np.savetxt("2.txt", parts[2], "%d")
    tables = [arrow.table({"source": part[:, 0], "target": part[:, 1], "weight": part[:, 1] / 2}) for part in parts]
    Path("folder").mkdir()
    parquet.write_table(tables[3], "folder/3.parquet", row_group_size=100)
    parquet.write_table(tables[4], "folder/4.parquet")
    feather.write_feather(tables[5], "5.arrow")
    return ["0.txt.gz", "1.txt.gz", "2.txt", "folder", "5.arrow"]


@pytest.mark.parametrize(
    ("ranks", "kind"),
    split(
        [(ranks, kind) for ranks in (1, 2, 3, 8) for kind in KINDS if kind != "kept-ids"],
        lambda ranks, kind: (ranks, kind) in ((3, "directed"), (8, "plain")),
    ),
)
def test_files_that_are_not_cut_are_dealt_to_ranks(ranks, kind, way):
    require_same(ranks, whole_files(), **KINDS[kind])


def test_who_reads_which_file_follows_from_their_sizes():
    for number, size in enumerate((10, 900, 500, 450, 20)):
        Path(f"{number}.txt.gz").write_bytes(gzip.compress(np.random.default_rng(1).bytes(size).hex().encode()))
    Path("cut.txt").write_text("1 2\n")
    inputs = [*(f"{number}.txt.gz" for number in range(5)), "cut.txt"]
    assert whole.takers(inputs, ConvertOptions(), 2) == [0, 0, 1, 1, 0, None]


def test_what_is_wrong_with_a_file_that_is_not_cut(way):
    """Its line is named on all ranks; a file that says its edges lead one way says so to all."""
    good, bad = gzip.compress(b"1 2\n2 3\n"), gzip.compress(b"1 2\n" * 10 + b"1 x\n")
    for name, content in (("a.txt.gz", good), ("b.txt.gz", bad)):
        Path(name).write_bytes(content)
    with pytest.raises(InputError, match=r"b.txt.gz: line 11: "):
        spread(3, ["a.txt.gz", "b.txt.gz"])
    Path("b.txt.gz").write_bytes(bad[:-12])
    with pytest.raises(InputError, match=r"b.txt.gz"):
        spread(3, ["a.txt.gz", "b.txt.gz"])
    Path("b.txt.gz").write_bytes(gzip.compress(b"# nothing\n"))
    with pytest.raises(InputError, match=r"b.txt.gz: no edge in it"):
        spread(3, ["a.txt.gz", "b.txt.gz"])
    Path("b.txt.gz").write_bytes(gzip.compress(b"% asym unweighted\n5 6\n7 6\n"))
    report = require_same(3, ["b.txt.gz"])
    assert any("% asym" in note for note in report.notes)


def test_a_rank_whose_disk_is_full_ends_all(monkeypatch):
    """While it keeps what it gets, and while it writes its rows: one error everywhere, nothing left behind."""
    keep_on_disk(monkeypatch)
    inputs, kept = written("text"), Writer._write

    def full(self, pairs, starts, stream, group):
        if self._group.rank == 1:
            raise self._scratch.error(OSError(28, ""))
        kept(self, pairs, starts, stream, group)

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_write", full)
        with pytest.raises(FileAccessError, match="No space left on device"):
            spread(3, inputs)
    assert names(Path()) == inputs

    def put(handle, path, *rest):
        raise OSError(28, "")

    with monkeypatch.context() as patch:
        patch.setattr(assemble, "_put", put)
        with pytest.raises(FileAccessError, match=r"many.csrbin: cannot write: No space left on device"):
            spread(3, inputs)
    assert names(Path()) == inputs
    require_same(3, inputs)


@pytest.mark.parametrize("late", [False, True])
def test_a_rank_that_fails_over_numbers_ends_all(late, monkeypatch):
    """Before it has made a round, and after: the others learn of it in the next one, wherever they are."""
    keep_on_disk(monkeypatch)
    np.savetxt("g.txt", np.random.default_rng(3).integers(0, 2**63, (900, 2), np.int64), "%d")
    kept = numbering.number_values

    def fail(partitions, labels, writer, *rest, **more):
        if late or writer._group.rank != 1:
            kept(partitions, labels, writer, *rest, **more)
        if writer._group.rank == 1:
            raise FileAccessError("rank 1 has no room for numbers")

    with monkeypatch.context() as patch:
        patch.setattr(numbering, "number_values", fail)
        with pytest.raises(FileAccessError, match="rank 1 has no room for numbers"):
            spread(3, ["g.txt"])
    assert names(Path()) == ["g.txt"]
    require_same(3, ["g.txt"])


def test_ranks_that_see_different_files_are_refused(monkeypatch):
    inputs = written("text")
    seen = convert.cache.identify_sources
    count = itertools.count()

    def changed(paths):
        return [each | {"size": next(count)} for each in seen(paths)]

    monkeypatch.setattr(convert.cache, "identify_sources", changed)
    with pytest.raises(UsageError, match=r"rank 0 \(host here\) and rank 1 \(host here\) see different files as g.txt"):
        spread(2, inputs)
