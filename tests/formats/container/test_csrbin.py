"""The container on disk: round trips, damage at every byte, lifetime of the mapping, provenance, newest graph."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from wide import CODECS, in_turn, split

from bigbfs.errors import BigBfsError, FileAccessError, FormatError, UsageError
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.check import check
from bigbfs.formats.container.checksum import STRETCH, checksum
from bigbfs.formats.container.newest import newest_graph
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph


def same(a, b):
    """Whether two graphs are equal in everything that a file keeps."""
    arrays = {**a.adjacency.arrays()}, {**b.adjacency.arrays()}
    for name, array in arrays[0].items():
        assert array.dtype == arrays[1][name].dtype and np.array_equal(array, arrays[1][name]), name
    if a.in_adjacency is not None and not a.flags.symmetric:
        for name, array in a.in_adjacency.arrays().items():
            assert np.array_equal(array, b.in_adjacency.arrays()[name]), name
    assert (a.labels is None) == (b.labels is None)
    assert a.labels is None or np.array_equal(a.labels, b.labels)
    assert (a.n, a.m, a.flags, a.first_id, a.ids) == (b.n, b.m, b.flags, b.first_id, b.ids)
    assert (a.in_adjacency is None) == (b.in_adjacency is None)
    return True


ZOO = split(
    [(name, codec) for name in zoo.names(big=False) for codec in CODECS], lambda name, codec: in_turn(codec, name)
)


@pytest.mark.parametrize(("name", "codec"), ZOO)
def test_the_zoo_survives_a_file_and_passes_every_check(name, codec, tmp_path):
    graph = zoo.shared()[name]
    graph = graph.decompress() if codec == "plain" else graph.compress()
    path = tmp_path / "g"
    graph.save(path)
    with Graph.open(path) as back:
        assert same(graph, back)
        assert not back.adjacency.indptr.flags.writeable
    assert len(list(check(path))) >= 10
    assert path.stat().st_size % layout.PAGE == 0


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.uint32, np.uint64]), st.booleans(), st.booleans())
def test_random_graphs_survive(tmp_path, seed, ids, compressed, directed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3000))
    u, v = rng.integers(0, n, (2, int(rng.integers(0, 6000))))
    u[: len(u) // 2] = 0  # a hub of more than one block, with duplicates
    extra = {"labels": np.unique(rng.integers(0, 2**62, n))} if seed % 2 else {"first_id": 1}
    graph = zoo.build(n, (u, v), directed=directed, keep=True, ids=ids, **extra)
    graph = graph.compress() if compressed else graph
    path = tmp_path / "g"
    graph.save(path)
    with Graph.open(path) as back:
        assert same(graph, back)
    list(check(path))


@pytest.fixture
def files(tmp_path):
    """One plain file with everything in it, one compressed."""
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, 50, 300), rng.integers(0, 50, 300)
    directed = zoo.build(50, pairs, directed=True, labels=np.arange(50, dtype=np.int64) * 7)
    hub = zoo.build(1400, (np.zeros(1399, np.int64), np.arange(1, 1400)))
    csrbin.save_graph(directed, tmp_path / "d.csrbin", {"source": "x.txt"})
    csrbin.save_graph(hub.compress(), tmp_path / "h.ccsr")
    return [tmp_path / "d.csrbin", tmp_path / "h.ccsr"]


def refused(path):
    with pytest.raises(FormatError) as caught:
        Graph.open(path).close()
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_file_cut_anywhere_is_refused(files, tmp_path):
    for path in files:
        data = path.read_bytes()
        cut = tmp_path / "cut"
        start = layout.HEADER_BYTES + layout.ENTRY_BYTES * len(csrbin.open_container(path).sections)
        for size in [*range(start + 2), *range(start, len(data), 997), len(data) - 1]:
            cut.write_bytes(data[:size])
            refused(cut)
        cut.write_bytes(data + b"\0")
        assert "instead of" in refused(cut)


def test_a_changed_byte_of_header_or_table_is_refused(files, tmp_path):
    for path in files:
        data = path.read_bytes()
        bad = tmp_path / "bad"
        for at in range(layout.HEADER_BYTES + layout.ENTRY_BYTES * len(csrbin.open_container(path).sections)):
            bad.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :])
            refused(bad)


def test_a_changed_byte_anywhere_else_is_found_by_check(files, tmp_path):
    for path in files:
        data = path.read_bytes()
        bad = tmp_path / "bad"
        start = layout.HEADER_BYTES + layout.ENTRY_BYTES * len(csrbin.open_container(path).sections)
        spans = [(s.offset, s.offset + s.length) for s in csrbin.open_container(path).sections.values()]
        places = [*range(start, len(data), 1009), len(data) - 1]
        places += [at for low, high in spans if high > low for at in (low, (low + high) // 2, high - 1, high)]
        for at in places:
            bad.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
            with pytest.raises(FormatError, match=r"damaged|is not zero|indptr runs"):
                list(check(bad))


def test_opening_reads_no_edges(tmp_path):
    """A sparse file of 2**36 edges opens at once, and nothing is allocated or read for them."""
    path = tmp_path / "huge"
    n, m = 10**6, 2**36
    sections, end = [], layout.PAGE
    for name, dtype, count, width in (("indptr", "<u8", n + 1, 8), ("indices", "<u4", m, 4)):
        offset = layout.aligned(end, count * width)
        sections.append(layout.Section(name, dtype, count, offset, count * width, 0))
        end = offset + count * width + layout.PADDING
    total = layout.file_bytes(sections)
    flags = frozenset({"sorted", "symmetric"})
    header = layout.Header(n, m, flags, 4, "plain", 0, 0, total)
    with path.open("wb") as stream:
        stream.write(layout.pack(header, sections))
        stream.seek(sections[0].offset + 8 * n)
        stream.write(m.to_bytes(8, "little"))
        stream.truncate(total)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        with Graph.open(path) as graph:
            times.append(time.perf_counter() - start)
            assert graph.m == m
    assert min(times) < 0.01


def test_indptr_that_ends_elsewhere_is_refused(files):
    path = files[0]
    data = bytearray(path.read_bytes())
    section = csrbin.open_container(path).sections["indptr"]
    data[section.offset + section.length - 8] ^= 1
    path.write_bytes(data)
    assert "indptr runs from 0 to" in refused(path)


def test_what_is_no_graph_file_is_refused(tmp_path):
    path = tmp_path / "x.csrbin"
    for content in (b"0 1\n1 2\n", b"\x89BFS\r\n\x1a", b"\x89BFS\n\x1a\n", bytes(100), os.urandom(5000)):
        path.write_bytes(content)
        assert "no graph file" in refused(path)
    path.write_bytes(b"")
    assert "empty" in refused(path)
    path.write_bytes(b"0 1\n")
    with pytest.raises(FormatError, match="no bigbfs graph file"):
        csrbin.read_provenance(path)
    with pytest.raises(FileAccessError, match="folder"):
        Graph.open(tmp_path)
    with pytest.raises(FileAccessError, match="No such file"):
        Graph.open(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileAccessError, match="no regular file"):
        Graph.open(tmp_path / "pipe")


def maps(path):
    return str(path) in Path("/proc/self/maps").read_text()


def test_close_unmaps(files):
    graph = Graph.open(files[0])
    assert int(graph.adjacency.indptr[0]) == 0 and maps(files[0])
    graph.close()
    graph.close()
    assert not maps(files[0])
    with pytest.raises(UsageError, match="closed"):
        graph.adjacency  # noqa: B018
    with pytest.raises(UsageError, match="closed"):
        graph.in_adjacency  # noqa: B018
    assert "closed" in repr(graph) and graph.m > 0


def test_an_array_in_use_keeps_the_mapping(files):
    with Graph.open(files[0]) as graph:
        indices = graph.adjacency.indices[:5]
        expected = indices.tolist()
    assert maps(files[0]) and indices.tolist() == expected
    del indices
    gc.collect()
    assert not maps(files[0])


def test_no_file_handle_stays(files):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        for path in files:
            Graph.open(path).close()
            list(check(path))
            csrbin.read_provenance(path)
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_saving_over_the_file_that_is_mapped(files):
    with Graph.open(files[0]) as graph:
        expected = graph.adjacency.indices.tolist()
        graph.save(files[0])
        assert graph.adjacency.indices.tolist() == expected
    with Graph.open(files[0]) as graph:
        assert graph.adjacency.indices.tolist() == expected


def test_flags_that_no_reader_takes_are_not_written(tmp_path):
    graph = zoo.build(3, ([0, 1], [1, 2]))
    for flags in (GraphFlags(directed=False, symmetric=False), GraphFlags(sorted=False)):
        with pytest.raises(UsageError, match="flags"):
            Graph(graph.adjacency, flags).save(tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


def test_provenance(files, tmp_path):
    assert csrbin.read_provenance(files[0]) == {"source": "x.txt"}
    assert csrbin.read_provenance(files[1]) is None
    data = bytearray(files[0].read_bytes())
    data[csrbin.open_container(files[0]).sections["provenance"].offset] ^= 1
    files[0].write_bytes(data)
    with pytest.raises(FormatError, match="provenance is damaged"):
        csrbin.read_provenance(files[0])


def test_newest_graph(tmp_path):
    assert newest_graph(tmp_path) is None
    for age, name in enumerate(["new.csrbin", "new.ccsr", "old.csrbin", "old.ccsr", "g.txt"]):
        (tmp_path / name).write_bytes(b"foreign" if name == "g.txt" else layout.MAGIC)
        os.utime(tmp_path / name, ns=(0, 10**18 - age * 10**9))
    (tmp_path / "folder.csrbin").mkdir()
    os.mkfifo(tmp_path / "pipe.csrbin")  # which nobody writes to
    (tmp_path / "raw.csrbin").write_bytes(bytes(64))  # of another tool, and the newest of all
    assert newest_graph(tmp_path).name == "new.csrbin"
    assert newest_graph(tmp_path, compressed=True).name == "new.ccsr"
    assert newest_graph(tmp_path, compressed=False).name == "new.csrbin"


def test_checksum_is_the_documented_one():
    import zlib

    array = np.arange(STRETCH // 4 + 5, dtype=np.uint32)
    data = array.tobytes()
    inner = b"".join(zlib.crc32(data[at : at + STRETCH]).to_bytes(4, "little") for at in (0, STRETCH))
    assert checksum(array) == zlib.crc32(inner)
    assert checksum(array[:0]) == 0


def test_opening_needs_no_numba(files):
    code = (
        "import sys; from bigbfs.graph import Graph\n"
        f"for path in {[str(path) for path in files]!r}:\n    Graph.open(path).close()\n"
        "sys.exit('numba' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_any_noise_after_the_magic_is_an_error_of_ours(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "noise"
    for _ in range(200):
        path.write_bytes(layout.MAGIC + rng.bytes(int(rng.integers(0, 6000))))
        with pytest.raises(BigBfsError):
            Graph.open(path)
