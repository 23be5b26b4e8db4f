"""Parquet and Arrow tables of integers: every type and cut, in memory and on disk, columns, nulls, damage."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bigbfs
from bigbfs.conversion import convert, pipeline
from bigbfs.conversion.memory import guessed
from bigbfs.conversion.on_disk import convert as external
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import InputError, UsageError
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.readers.named import read_names
from bigbfs.formats.readers.read import estimate, read_edges, sample_ids
from bigbfs.formats.tables import files, texts

RNG = np.random.default_rng(3)
EDGES = RNG.integers(0, 500, (4000, 2))


def table(first, second, names=("source", "target"), **more):
    return pa.table({names[0]: first, names[1]: second, **more})


def parquet(path, made, **how):
    pq.write_table(made, path, **({"row_group_size": 700} | how))
    return path


def arrow(path, made):
    with pa.ipc.new_file(path, made.schema) as writer:
        writer.write_table(made, 700)
    return path


def stream(path, made):
    with pa.ipc.new_stream(path, made.schema) as writer:
        writer.write_table(made, 700)
    return path


WRITERS = {"g.parquet": parquet, "g.arrow": arrow, "g.arrows": stream}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("small", [True, False])
def test_edges_come_in_order_whatever_the_cut(tmp_path, monkeypatch, name, small):
    if small:
        monkeypatch.setattr(files, "WHOLE_BYTES", 0)
        monkeypatch.setattr(files, "BATCH_ROWS", 64)
    path = WRITERS[name](tmp_path / name, table(EDGES[:, 0], EDGES[:, 1], weight=EDGES[:, 0] * 0.5))
    told = []
    edges = read_edges(path, threads=2, progress=told.append)
    assert np.array_equal(edges.src, EDGES[:, 0]) and np.array_equal(edges.dst, EDGES[:, 1])
    assert edges.src.dtype == np.uint32 and edges.input_bytes == path.stat().st_size
    assert "'source' to column 'target' (as their names say)" in edges.notes[0]
    assert sum(told) in (0, path.stat().st_size)  # a stream does not say how many rows it has
    assert estimate(path).edges_upper_bound >= len(EDGES)


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(), pa.float64(), "dictionary"],
)
def test_every_type_of_integers_is_read(tmp_path, kind):
    values = pa.array([3, 100, 7, 3])
    typed = values.dictionary_encode() if kind == "dictionary" else values.cast(kind)
    for name, write in WRITERS.items():
        edges = read_edges(write(tmp_path / name, table(typed, pa.array([1, 2, 3, 2**40]))))
        assert edges.src.tolist() == [3, 100, 7, 3] and edges.dst.tolist() == [1, 2, 3, 2**40]


def test_the_width_of_ids_is_foreseen(tmp_path):
    """By a sample, of the beginnings of row groups."""
    for place, seen in ((1, True), (30_500, False)):
        ids = np.arange(40_000)
        narrow = estimate(parquet(tmp_path / "n.parquet", table(ids, ids), row_group_size=20_000)).memory_bytes
        ids[place] = 2**32
        wide = parquet(tmp_path / "w.parquet", table(ids, ids), row_group_size=20_000)
        assert estimate(wide).memory_bytes == narrow + (8 * len(ids) if seen else 0)
        assert read_edges(wide).src.tolist() == ids.tolist()
    below = np.array([-7, -5])
    with pytest.raises(InputError, match="row 0: vertex id -7 is outside 0"):
        estimate(parquet(tmp_path / "b.parquet", table(below, below)))


def test_ids_are_looked_at_only_where_memory_is_short(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(files.ParquetTable, "sample", lambda self, rows, places: looked.append(places) or iter(()))
    path = parquet(tmp_path / "n.parquet", table(np.arange(1000), np.arange(1000)))
    assert guessed([path], ConvertOptions(memory=1 << 40))[0].closer is None and not looked
    assert guessed([path], ConvertOptions(memory=1 << 20))[0].closer is None and looked


def test_what_is_looked_at_in_names():
    """Offsets that descend, names without a byte and bytes above 127, at every place, of arrays that are slices."""
    data = np.full(300, 97, np.uint8)
    begins = np.concatenate([[0], np.cumsum(RNG.integers(1, 9, 40))]).astype(np.int64)
    assert texts.look(data, begins) == (-1, True, True) and texts.look(data, begins[3:9]) == (-1, True, True)
    for at in range(len(begins) - 1):
        cut = begins.copy()
        cut[at + 1] = cut[at]
        if at + 2 < len(cut):
            cut[-1] = cut[-2]  # the first of two is told
        assert texts.look(data, cut) == (at, True, True)
        cut[at + 1] = cut[at] - 1
        assert texts.look(data, cut)[1:] == (False, False)
    for place in range(len(data)):
        other = data.copy()
        other[place] = 128
        assert texts.look(other, begins[2:30]) == (-1, True, not begins[2] <= place < begins[29])
    assert texts.look(data[:9], begins)[1:] == (False, False) and texts.look(data, begins - 1)[1:] == (False, False)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (pa.array([1, None, 2]), r"row group 0, row 1: a null is no vertex id"),
        (pa.array([1, 2, -5]), r"row group 0, row 2: vertex id -5 is outside 0 to 2\^63-1; read every id as a name"),
        (pa.array([1, 2**63, 5], pa.uint64()), r"row 1: vertex id 9223372036854775808 is outside"),
        (pa.array([1.0, 2.5, 3.0]), r"row 1: 2.5 is no vertex id: ids are whole numbers"),
        (pa.array([1.0, float("nan"), 3.0]), r"row 1: nan is no vertex id"),
        (pa.array([1.0, 2.0**60, 3.0]), r"row 1: 1.15\S* is no vertex id: above 2\^53 a float is not exact"),
        (pa.array([True, False, True]), r"column 'target' is of type bool; vertex ids are integers or text"),
        (pa.array([[1], [2], [3]]), r"is of type list"),
        (pa.array([1, None, 2]).dictionary_encode(), r"row 1: a null"),
    ],
)
def test_what_is_no_id_is_refused_with_its_place(tmp_path, values, says):
    with pytest.raises(InputError, match=says):
        read_edges(parquet(tmp_path / "g.parquet", table(pa.array([0, 1, 2]), values)))


def test_floats_are_called_floats_and_other_columns_offered_first(tmp_path):
    """A column of weights in front: "integers and names" was said of it."""
    path = parquet(tmp_path / "g.parquet", table(pa.array([1.0, 2.5]), pa.array(["a", "b"])))
    says = (
        r"two kinds: 'source' floats \(double\) and 'target' names; name other columns with columns=..., or read both"
    )
    with pytest.raises(InputError, match=says):
        bigbfs.convert(path)
    with pytest.raises(InputError, match=r"row group 0, row 1: 2.5 is no vertex id: names are text, or whole numbers"):
        bigbfs.convert(path, names=True)
    with pytest.raises(InputError, match=r"from_arrow: its columns are of two kinds: 'source' floats"):
        bigbfs.Graph.from_arrow(table(pa.array([1.0, 2.5]), pa.array(["a", "b"])))
    with pytest.raises(InputError, match=r"row 1: nan is no vertex id: .*; drop such rows, or fill them$"):
        bigbfs.Graph.from_arrow(table(pa.array([1.0, float("nan")]), pa.array([1, 2])))


def test_a_null_in_a_later_row_group_is_named(tmp_path):
    column = pa.array([None if i == 1501 else i for i in range(2000)])
    with pytest.raises(InputError, match="row group 2, row 101: a null"):
        read_edges(parquet(tmp_path / "g.parquet", table(column, column)), threads=2)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (("sources", "target"), r"no column 'sources'; is 'source' meant\? It has 'source', 'target', 'x'"),
        (("source", "y"), r"no column 'y': it has 'source', 'target', 'x'"),
        ((1, 4), r"no column 4: it has 3"),
        ((1, "source"), r"'source' is one column"),
    ],
)
def test_columns_that_are_not_there(tmp_path, columns, says):
    path = parquet(tmp_path / "g.parquet", table([1], [2], x=[3]))
    with pytest.raises(InputError, match=says):
        read_edges(path, rules=Rules(columns=columns))


@pytest.mark.parametrize("columns", [("x", "source"), (3, 1), (3, "source")])
@pytest.mark.parametrize("name", WRITERS)
def test_columns_by_name_and_by_number(tmp_path, columns, name):
    path = WRITERS[name](tmp_path / name, table([1], [2], x=[3]))
    edges = read_edges(path, rules=Rules(columns=columns))
    assert (edges.src.tolist(), edges.dst.tolist(), edges.notes) == ([3], [1], ())


def test_columns_of_a_header_line_by_name(tmp_path):
    (tmp_path / "g.csv").write_text("a,weight,b\n1,5,2\n3,5,4\n")
    edges = read_edges(tmp_path / "g.csv", rules=Rules(columns=("b", "a")))
    assert edges.src.tolist() == [2, 4] and edges.dst.tolist() == [1, 3]
    (tmp_path / "bare.csv").write_text("1,5,2\n")
    with pytest.raises(InputError, match="no header line names the columns"):
        read_edges(tmp_path / "bare.csv", rules=Rules(columns=("b", "a")))
    np.save(tmp_path / "g.npy", EDGES)
    with pytest.raises(UsageError, match="npy, whose columns have no names"):
        read_edges(tmp_path / "g.npy", rules=Rules(columns=("b", "a")))


def test_empty_tables_and_those_of_one_column(tmp_path):
    with pytest.raises(InputError, match="no edge in it"):
        read_edges(parquet(tmp_path / "g.parquet", table(pa.array([], pa.int64()), pa.array([], pa.int64()))))
    with pytest.raises(InputError, match="one column"):
        read_edges(parquet(tmp_path / "g.parquet", pa.table({"a": [1]})))
    (tmp_path / "empty.parquet").touch()
    with pytest.raises(InputError, match="the file is empty"):
        read_edges(tmp_path / "empty.parquet")


@pytest.mark.parametrize("base", [0, 2**33])
def test_the_disk_gives_the_same_bytes(tmp_path, monkeypatch, base):
    edges = EDGES + base
    path = parquet(tmp_path / "g.parquet", table(edges[:, 0], edges[:, 1]))
    assert sample_ids(path).min() >= base
    assert convert([path], tmp_path / "memory.csrbin").method == "in memory"
    monkeypatch.setattr(pipeline, "must_spill", lambda *_: True)
    monkeypatch.setattr(external, "make_plan", lambda *_: Plan(1 << 28, 200, 1 << 12, 1 << 20, 7))
    assert convert([path], tmp_path / "disk.csrbin").method == "external"
    assert (tmp_path / "memory.csrbin").read_bytes() == (tmp_path / "disk.csrbin").read_bytes()


def test_a_folder_is_its_tables(tmp_path):
    folder = tmp_path / "edges"
    (folder / "year=1").mkdir(parents=True)
    half = len(EDGES) // 2
    parquet(folder / "part-0.parquet", table(EDGES[:half, 0], EDGES[:half, 1]))
    parquet(folder / "year=1" / "part-1.parquet", table(EDGES[half:, 0], EDGES[half:, 1]))
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").write_bytes(b"crc")
    assert convert([folder]).lines == len(EDGES)
    assert (tmp_path / "edges.csrbin").exists() and convert([folder]).cached
    (folder / "README.md").touch()
    with pytest.raises(InputError, match=r"README\.md in it is no table"):
        convert([folder], tmp_path / "x.csrbin")
    (folder / "README.md").rename(folder / "more.csv")
    with pytest.raises(InputError, match="a folder of parquet and text files"):
        convert([folder], tmp_path / "x.csrbin")


@pytest.mark.parametrize("name", WRITERS)
def test_damage_is_an_error_or_changes_values_alone(tmp_path, name):
    """Any byte: pyarrow's checks and ours end it in an InputError, or the values differ; nothing else comes out."""
    whole = WRITERS[name](tmp_path / name, table(EDGES[:50, 0], EDGES[:50, 1])).read_bytes()
    for number in range(120):
        data = bytearray(whole)
        if number % 3 == 0:
            del data[int(RNG.integers(1, len(data))) :]
        else:
            data[int(RNG.integers(0, len(data)))] ^= 1 << int(RNG.integers(0, 8))
        (tmp_path / name).write_bytes(data)
        try:
            assert len(read_edges(tmp_path / name, format="parquet" if "parquet" in name else "arrow").src) <= 50
        except (InputError, UsageError) as error:
            assert name in str(error)


@pytest.mark.parametrize("how", [{}, {"use_dictionary": False, "compression": "zstd"}], ids=["dictionary", "plain"])
@pytest.mark.parametrize("name", WRITERS)
def test_damage_of_names_is_an_error_or_other_names(tmp_path, name, how):
    """Whatever byte it is: an InputError that names the file, or names that are some bytes of UTF-8 each."""
    text = [f"{number:05}-ä" for number in EDGES[:60, 0]]
    made = table(text, text[::-1])
    path = parquet(tmp_path / name, made, **how) if name == "g.parquet" else WRITERS[name](tmp_path / name, made)
    whole = path.read_bytes()
    rules = {"format": "parquet" if "parquet" in name else "arrow", "rules": Rules()}
    for number in range(100):
        data = bytearray(whole)
        if number % 4 == 0:
            del data[int(RNG.integers(1, len(data))) :]
        else:
            data[int(RNG.integers(0, len(data)))] ^= 1 << int(RNG.integers(0, 8))
        path.write_bytes(data)
        found = []
        try:
            read_names(path, **rules, threads=2, take=lambda *sides: found.extend(sides), progress=lambda count: None)
        except (InputError, UsageError) as error:
            assert name in str(error)
        for content, begins in found:
            words = [content[a:b].tobytes() for a, b in pairwise(begins)]
            assert all(words) and b"".join(words).decode() is not None


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (pa.table({}), "has no column; an edge takes two"),
        (pa.table({"source": [1]}), r"has one column \('source'\); an edge takes two"),
        (pa.table({"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64())}), "no edge in it"),
        (pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())}), "no edge in it"),
        (
            pa.table({"source": pa.nulls(1), "target": ["a"]}),
            "is of type null; vertex ids .*, or cast it to one of these",
        ),
    ],
)
@pytest.mark.parametrize("name", WRITERS)
def test_tables_without_edges(tmp_path, name, made, says):
    with pytest.raises(InputError, match=says):
        convert([WRITERS[name](tmp_path / name, made)])
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=f"{name}: the file is empty"):
        convert([tmp_path / name])
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_without_pyarrow_the_extra_is_named(tmp_path):
    path = parquet(tmp_path / "g.parquet", table([1], [2]))
    code = (
        "import sys; sys.modules['pyarrow'] = sys.modules['pyarrow.parquet'] = None\n"
        "import bigbfs\nbigbfs.convert(sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "pyarrow, which is not installed: pip install 'bigbfs[tables]'" in done.stderr


def test_of_several_bad_parts_the_first_is_told(tmp_path):
    """Whichever is met first; also where an id of 2^32 has everything after it read again."""
    ids = np.arange(90_000)
    for wide, bad in ((None, (3, 7)), (500, (2, 5)), (40_000, (6, 8))):
        sides = ids.copy()
        sides[[10_000 * part + 9 for part in bad]] = -4
        if wide is not None:
            sides[wide] = 2**32
        path = parquet(tmp_path / "many.parquet", table(ids, sides), row_group_size=10_000)
        for threads in (1, 4):
            with pytest.raises(InputError, match=f"row group {bad[0]}, row 9: vertex id -4 is outside 0"):
                read_edges(path, threads=threads)


def test_parts_that_are_no_longer_what_they_declare(tmp_path, monkeypatch):
    path = parquet(tmp_path / "e.parquet", table(np.arange(300), np.arange(300)), row_group_size=100)
    made = files.ParquetTable.__init__

    def other(declared):
        def init(self, *given):
            made(self, *given)
            self.part_rows = declared

        return init

    for declared in ([100, 99, 101], [100, 101, 99]):
        monkeypatch.setattr(files.ParquetTable, "__init__", other(declared))
        with pytest.raises(InputError, match="row group 1 has not as many rows as it declares"):
            read_edges(path)
