"""Names against sorted(set(...)): told apart, sorted, merged by way of the disk, in pages, from files of every kind."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from wide import split

import bigbfs
from bigbfs.conversion import ConvertOptions, convert, pipeline
from bigbfs.conversion.names import gather, reading, table
from bigbfs.conversion.names.gather import Gather, Texts
from bigbfs.conversion.names.named import Named
from bigbfs.conversion.on_disk import convert as external
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.errors import InputError, UsageError
from bigbfs.formats.container.check import check
from bigbfs.formats.container.part import save_part
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.graph import name_kernels
from bigbfs.graph.graph import Graph
from bigbfs.graph.name_pages import PageWriter, names_of, stretch_of
from bigbfs.jit.workers import Workers

SEED = random.Random(5)
NASTY = [b"a", b"a\0", b"a\0\0\0\0\0\0\0", b"a\0\0\0\0\0\0\0\0", b"\xff" * 5, b"q" * 70_000, "é".encode(), b"'\"\n,"]
POOL = [(f"n{SEED.randrange(3000)}" * SEED.choice([1, 1, 1, 3, 9])).encode() for _ in range(4000)] + NASTY


def texts(names):
    return Texts(np.frombuffer(b"".join(names) + b"tail", np.uint8), np.cumsum([0, *map(len, names)]))


@pytest.mark.parametrize(("room", "threads", "epochs"), [(1 << 26, 3, 1), (1 << 19, 1, 2), (600_000, 2, 2)])
def test_edges_and_names_are_those_that_were_given(tmp_path, monkeypatch, room, threads, epochs):
    monkeypatch.setattr(gather, "PIECE_ROWS", 3000)
    monkeypatch.setattr(gather, "PIECE_BYTES", 80_000)
    sources, targets = ([SEED.choice(POOL) for _ in range(12_000)] for _ in range(2))
    with Workers(threads) as workers, Scratch(tmp_path) as scratch:
        taken = Gather(room, scratch, workers, threads)
        for first in range(0, 12_000, 5000):
            taken.add(texts(sources[first : first + 5000]), texts(targets[first : first + 5000]))
        named = Named(taken, room, scratch, workers)
        wanted = sorted({*sources, *targets})
        names = named.names()
        assert [names.name_bytes(rank) for rank in range(len(names))] == wanted
        edges = named.feed(EdgeBuffer("names"))
        assert [wanted[i] for i in edges.src] == sources and [wanted[i] for i in edges.dst] == targets
        assert named.self_loops == sum(a == b for a, b in zip(sources, targets, strict=True))
        assert len(taken.epochs) >= epochs
    assert list(tmp_path.iterdir()) == []


def test_a_hash_shared_by_all_names_costs_time_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(gather.table, "hash_names", lambda data, offsets, first, last, seed, out: out.fill(7))
    sources = [SEED.choice(POOL[:300]) for _ in range(500)]
    with Workers(1) as workers, Scratch(tmp_path) as scratch:
        taken = Gather(1 << 24, scratch, workers, 1)
        taken.add(texts(sources), texts(sources))
        names = Named(taken, 0, scratch, workers).names()
        assert [names.name_bytes(rank) for rank in range(len(names))] == sorted(set(sources))


@pytest.mark.parametrize("count", split([20_000, 10**6], lambda count: count == 20_000))
@pytest.mark.parametrize("same", ["hash", "name"])
def test_one_prefix_of_all_hashes_or_names_costs_time_and_memory_alone(tmp_path, monkeypatch, count, same):
    """All names in one thread's shard, or names that differ behind their 48th byte alone; by way of the disk too."""
    hashed = table.hash_names

    def prefixed(data, offsets, first, last, seed, out):
        hashed(data, offsets, first, last, seed, out)
        out[first:last] &= np.uint64(0xFFFFFFFF)

    if same == "hash":
        monkeypatch.setattr(table, "hash_names", prefixed)
    prefix = b"" if same == "hash" else b"0" * 48
    ranks = np.random.default_rng(1).permutation(count)
    given = [prefix + b"%08d" % rank for rank in ranks]
    room = 60 * count
    with Workers(2) as workers, Scratch(tmp_path) as scratch:
        taken = Gather(room, scratch, workers, 2)
        for first in range(0, count, 4096):
            part = texts(given[first : first + 4096])
            taken.add(part, part)
        named = Named(taken, room, scratch, workers)
        assert len(taken.epochs) > 1 and named.n == count
        edges = named.feed(EdgeBuffer("names"))
        assert np.array_equal(edges.src, ranks) and np.array_equal(edges.dst, ranks)
        names = named.names()
        assert names.name_bytes(count // 3) == prefix + b"%08d" % (count // 3)


def test_pages_are_the_same_whatever_the_portions():
    wanted = sorted({*POOL, *(f"http://x.org/{i:06}/".encode() for i in range(3000))})
    whole = names_of([stretch_of(wanted)])
    stretch = stretch_of(wanted)
    words, records = np.empty(len(stretch.data) // 8 + 2 * len(wanted) + 1, np.uint64), np.empty(len(wanted), np.int64)
    name_kernels.records_of(stretch.data, stretch.offsets, 0, len(wanted), words, records)
    pages: list[bytes] = []
    writer, first = PageWriter(pages.append), 0
    while first < len(records):
        count = SEED.choice([0, 1, 1, 2, 700])
        writer.add(words, records[first : first + count])
        first += count
    ptr, firsts = writer.finish()
    assert b"".join(pages) == whole.blob.tobytes()
    assert np.array_equal(ptr, whole.ptr) and np.array_equal(firsts, whole.firsts) and whole.pages > 4


def test_both_directions_of_the_look_up():
    wanted = sorted(set(POOL))
    names = names_of([stretch_of(wanted)])
    assert [names.find(name) for name in wanted] == list(range(len(wanted)))
    assert names.find("nobody") is None and names.find("zzzz") is None and names.find("") is None
    data, places = names.taken([5, -1, 0, len(wanted) - 1, 5])
    found = [bytes(data[a:b]) for a, b in pairwise(places)]
    assert found == [wanted[5], b"", wanted[0], wanted[-1], wanted[5]]
    assert names.near("n1000", 2)[0] <= "n1000"


@pytest.fixture
def edges(tmp_path):
    """A Parquet file, and the edges in it."""
    pool = [name.decode() for name in POOL if name.isascii() and b"\0" not in name and len(name) < 100]
    pairs = [(SEED.choice(pool), SEED.choice(pool)) for _ in range(3000)]
    made = pa.table({"to": [b for _, b in pairs], "from": [a for a, _ in pairs]})
    pq.write_table(made, tmp_path / "e.parquet", row_group_size=700)
    return tmp_path / "e.parquet", pairs


def test_disk_and_memory_write_the_same_bytes(edges, tmp_path, monkeypatch):
    path, pairs = edges
    convert([path], tmp_path / "m.csrbin", ConvertOptions(compressed=True, directed=True))
    monkeypatch.setattr(pipeline, "must_spill", lambda *_: True)
    monkeypatch.setattr(external, "make_plan", lambda *_: Plan(1 << 28, 200, 1 << 12, 1 << 20, 7))
    done = convert([path], tmp_path / "d.csrbin", ConvertOptions(compressed=True, directed=True))
    assert done.method == "external" and done.lines == len(pairs)
    for suffix in ("csrbin", "ccsr"):
        with Graph.open(tmp_path / f"m.{suffix}") as one, Graph.open(tmp_path / f"d.{suffix}") as other:
            for name, array in one.names.arrays().items():
                assert np.array_equal(array, other.names.arrays()[name])
            assert one.adjacency.arrays().keys() == other.adjacency.arrays().keys()
            for name, array in one.adjacency.arrays().items():
                assert np.array_equal(array, other.adjacency.arrays()[name])
    assert [each.name for each in check(tmp_path / "d.ccsr")].count("names") == 1


@pytest.mark.parametrize("order", ["original", "degree"])
def test_a_search_by_name_is_the_search_by_number(edges, tmp_path, order):
    path, pairs = edges
    wanted = sorted({name for pair in pairs for name in pair}, key=str.encode)
    convert([path], tmp_path / "g.csrbin", ConvertOptions(order=order))
    rank = {name: number for number, name in enumerate(wanted)}
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("".join(f"{rank[a]} {rank[b]}\n" for a, b in pairs))
    convert([numbers])
    with Graph.open(tmp_path / "g.csrbin") as graph:
        for name in SEED.sample(wanted, 3):
            one = bigbfs.bfs(graph, name, backend="cpu", verify=True)
            other = bigbfs.bfs(tmp_path / "numbers.csrbin", rank[name], backend="cpu")
            assert np.array_equal(one.levels, other.levels) and graph.called(one.record.source) == name
        with pytest.raises(UsageError, match=r"no vertex is called 'nobody'.* beside it in byte order"):
            bigbfs.bfs(graph, "nobody")
        again = convert([tmp_path / "g.csrbin"], tmp_path / "again.ccsr", ConvertOptions(order="degree"))
    with Graph.open(tmp_path / "again.ccsr") as graph:
        assert again.vertices == len(graph.names) == len(wanted) and graph.names.name(3) == wanted[3]


def test_the_largest_component_keeps_its_names(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\nd,a\na,c\nx,y\n")
    convert([tmp_path / "g.csv"])
    with Graph.open(tmp_path / "g.csrbin") as graph:
        save_part(graph, np.array([True, True, True, False, False]), tmp_path / "part.csrbin")
    with Graph.open(tmp_path / "part.csrbin") as part:
        assert [part.names.name(rank) for rank in range(part.n)] == ["a", "c", "d"] and part.m == 4
    assert [each.name for each in check(tmp_path / "part.csrbin")].count("names") == 1


CSV = 'id,from,to\n1,"a, b","line\none"\n2,"say ""hi""",ünï\n3,"a, b",ünï\n'


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_with_everything_in_quotes(tmp_path, separator):
    name = "g.tsv" if separator == "\t" else "g.csv"
    text = "# by hand\n" + CSV.replace(",", separator)
    (tmp_path / name).write_text(text, encoding="utf-8")
    convert([tmp_path / name], tmp_path / "g.csrbin")
    with Graph.open(tmp_path / "g.csrbin") as graph:
        found = [graph.names.name(rank) for rank in range(graph.n)]
        assert found == [f"a{separator} b", "line\none", 'say "hi"', "ünï"] and graph.m == 6


@pytest.mark.parametrize(
    ("text", "header", "edges", "note"),
    [
        ("alice,bob\nbob,carol\n", None, 2, "its first record is an edge, since 'bob' occurs again"),
        ("a,b,w\nc,d,x\nd,a,y\n", None, 3, "again further down; the ids are read from the columns 1 and 2; 1 other"),
        ("Person A,Person B\nalice,bob\n", None, 1, "are taken for a header, not for an edge: header=False "),
        ("Person A,Person B\nalice,bob\n", False, 2, None),
        ("alice,bob\nbob,carol\n", True, 1, "edges lead from column 'alice' to column 'bob'"),
        ("source,target\nx,source\n", None, 1, "as their names say"),
        ("12,alice\nbob,carol\n", False, 2, None),
        (
            f"{2**63},{2**63 + 1}\n{2**64},{2**65}\n",
            None,
            2,
            f"its first record is an edge, since '{2**63}' is a number",
        ),
    ],
)
def test_a_first_record_that_is_an_edge_is_not_lost(tmp_path, text, header, edges, note):
    (tmp_path / "g.csv").write_text(text)
    report = convert([tmp_path / "g.csv"], options=ConvertOptions(header=header))
    assert report.lines == edges
    assert (report.notes == ()) if note is None else note in report.notes[0]
    assert convert([tmp_path / "g.csv"], options=ConvertOptions(header=header)).cached


def test_numbers_in_front_are_no_header_of_names(tmp_path):
    """1 and 2 do not occur again: a header of names before, and an edge fewer."""
    (tmp_path / "g.csv").write_text("1,2\n3,4\n")
    report = convert([tmp_path / "g.csv"], options=ConvertOptions(names=True))
    assert report.lines == 2 and "since '1' is a number" in report.notes[0]


def test_a_table_in_utf_16_is_called_so(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\na,b\n", encoding="utf-16")
    with pytest.raises(InputError, match=r"g\.csv: is UTF-16 text; convert it first: iconv"):
        convert([tmp_path / "g.csv"], options=ConvertOptions(names=True))


def test_a_header_of_integers_is_what_one_says_it_is(tmp_path):
    (tmp_path / "g.csv").write_text("1,2\n2,3\n")
    for header, lines in ((None, 2), (False, 2), (True, 1)):
        assert convert([tmp_path / "g.csv"], options=ConvertOptions(header=header)).lines == lines
    (tmp_path / "h.csv").write_text("source,target\n2,3\n")
    with pytest.raises(InputError, match=r"h\.csv: line 1: .source,target."):
        convert([tmp_path / "h.csv"], options=ConvertOptions(header=False))
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    with pytest.raises(UsageError, match="header=False"):
        convert([tmp_path / "g.mtx"], options=ConvertOptions(header=False))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"source,target\na,b\nc,\n", "line 3: an empty name"),
        (b"source,target\na,b\nc,\xff\xfe\n", r"line 3: '\\xff\\xfe' is no UTF-8, as names are; if it is Latin-1"),
        (b"source,target\na,b\nc\n", "a record has 1 field, and 2 are expected: .c.; correct it"),
        (b"source,target,source\na,b,c\n", "record 1|columns have one name|no edge"),
    ],
)
def test_bad_names_are_refused_with_their_place(tmp_path, content, says):
    (tmp_path / "g.csv").write_bytes(content)
    with pytest.raises(InputError, match=says):
        convert([tmp_path / "g.csv"])
    assert [path.name for path in tmp_path.iterdir()] == ["g.csv"]


def test_names_that_are_numbers_are_so_only_if_asked_for(tmp_path):
    big = 2**63
    (tmp_path / "big.csv").write_text(f"source,target\n{big},{big + 1}\n{big + 1},7\n")
    convert([tmp_path / "big.csv"])
    with Graph.open(tmp_path / "big.csrbin") as graph:
        assert [graph.names.name(rank) for rank in range(3)] == ["7", str(big), str(big + 1)]
    (tmp_path / "few.csv").write_text("source,target\n10,9\n9,x\n")
    with pytest.raises(InputError, match="line 3"):
        convert([tmp_path / "few.csv"])
    convert([tmp_path / "few.csv"], options=ConvertOptions(names=True))
    with Graph.open(tmp_path / "few.csrbin") as graph:
        assert [graph.names.name(rank) for rank in range(3)] == ["10", "9", "x"]
    mixed = pa.table({"source": [1, 2], "target": ["a", "b"]})
    pq.write_table(mixed, tmp_path / "mixed.parquet")
    with pytest.raises(InputError, match="'source' integers and 'target' names; read both as names with names"):
        convert([tmp_path / "mixed.parquet"])
    assert convert([tmp_path / "mixed.parquet"], options=ConvertOptions(names=True)).vertices == 4
    with pytest.raises(InputError, match=r"big\.csv holds names, and \S+n\.txt does not"):
        (tmp_path / "n.txt").write_text("1 2\n")
        convert([tmp_path / "big.csv", tmp_path / "n.txt"], tmp_path / "x.csrbin")


def test_names_that_differ_by_normal_form_are_kept_apart_and_said(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\ncafé,cafe\u0301\n", encoding="utf-8")
    report = convert([tmp_path / "g.csv"])
    assert report.vertices == 2 and any("normal form alone" in note for note in report.notes)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), "dictionary"])
def test_every_type_of_text(tmp_path, kind):
    values = pa.array(["b", "ä", "b", "c" * 50])
    column = values.dictionary_encode() if kind == "dictionary" else values.cast(kind)
    made = pa.table({"source": column, "target": column})
    with pa.ipc.new_file(tmp_path / "g.arrow", made.schema) as writer:
        writer.write_table(made)
    assert convert([tmp_path / "g.arrow"]).vertices == 3


def test_damage_of_the_section_is_found(tmp_path):
    """Any byte of the section: opening, looking up or checking says FormatError, and nothing else comes out."""
    names = names_of([stretch_of(sorted(set(POOL[:300])))])
    for number in range(200):
        blob = names.blob.copy()
        blob[SEED.randrange(len(blob))] ^= 1 << SEED.randrange(8)
        broken = type(names)(blob[: len(blob) - number % 2], names.ptr, names.firsts)
        try:
            assert sum(len(stretch) for stretch in broken.stretches()) == len(names)
        except bigbfs.FormatError as error:
            assert "names: page" in str(error)


def test_memory_for_merging_is_what_gathering_had(edges, tmp_path, monkeypatch):
    asked = []

    def room_for(memory):
        asked.append(memory)
        return 1 << 20

    monkeypatch.setattr(reading, "room_for", room_for)
    monkeypatch.setattr(gather, "PIECE_BYTES", 4000)
    monkeypatch.setattr(gather, "PIECE_ROWS", 50)
    monkeypatch.setattr(Gather, "_used", lambda self: (1 << 30) * (sum(int(s[0]) for s in self._states) > 2000))
    convert([edges[0]], tmp_path / "g.csrbin")
    assert len(asked) == 1  # after gathering, what it holds would be taken for what the program takes
    wanted = sorted({name.encode() for pair in edges[1] for name in pair})
    with Graph.open(tmp_path / "g.csrbin") as graph:
        assert [graph.names.name_bytes(rank) for rank in range(graph.n)] == wanted


@pytest.mark.parametrize("last", ['c,"d', 'c,"d\n', '"c,d\n', 'c,"d""\n', 'c,"d\ne,f\n', 'c,"', 'e,f\nc,"d,e\r\n'])
def test_a_quote_that_is_not_closed_is_refused(tmp_path, last):
    """What is cut short inside a quote would else be a name of its own."""
    (tmp_path / "g.csv").write_text("source,target\na,b\n" + last, newline="")
    with pytest.raises(InputError, match="not closed"):
        bigbfs.convert(tmp_path / "g.csv")


@pytest.mark.parametrize("last", ["c,d", "c,d\r\n", 'c,"d"', 'c,"d""x"\n', 'c,d"\n', 'c,d""', "c,d\n\n\n", '"c","d\n"'])
def test_a_last_record_that_is_whole_is_taken(tmp_path, last):
    (tmp_path / "g.csv").write_text("source,target\na,b\n" + last, newline="")
    bigbfs.convert(tmp_path / "g.csv")
    with bigbfs.open(tmp_path / "g.csrbin") as graph:
        names = [graph.names.name(rank) for rank in range(graph.n)]
        assert graph.m == 4 and names[:3] == ["a", "b", "c"] and names[3].startswith("d")
