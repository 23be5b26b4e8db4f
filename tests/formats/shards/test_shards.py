"""Shards: a graph file in ranges of rows and back, to the byte; what is damaged, missing or there twice is named."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import zoo
from folders import names
from wide import split as split_cases

import bigbfs
from bigbfs.errors import DoesNotFitError, FileAccessError, FormatError, UsageError
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.shards import room
from bigbfs.formats.shards.checking import check_shards
from bigbfs.formats.shards.files import Shard
from bigbfs.formats.shards.manifest import read_manifest
from bigbfs.graph import varint
from bigbfs.graph.graph import Graph

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
FILES = sorted(path.name for path in GOLDEN.iterdir() if path.suffix in csrbin.SUFFIXES.values())
SUFFIX = csrbin.SUFFIXES
CASES = split_cases(
    [(name, codec, shards) for name in zoo.names() for codec in SUFFIX for shards in (1, 4, 17)],
    lambda name, codec, shards: (
        name not in zoo.BIG and shards == (4 if codec == "plain" else 17) and len(name) % 3 == 0
    ),
)


def save(graph, path):
    (graph if graph.codec == "varint" or path.suffix == ".csrbin" else graph.compress()).save(path)
    return path


@pytest.mark.parametrize(("name", "codec", "shards"), CASES)
def test_the_zoo_comes_back_to_the_byte(name, codec, shards, tmp_path):
    path = save(zoo.shared()[name], tmp_path / f"g{SUFFIX[codec]}")
    report = bigbfs.split(path, shards=shards)
    done = bigbfs.join(tmp_path / "g.shards", tmp_path / f"back{path.suffix}")
    assert (tmp_path / f"back{path.suffix}").read_bytes() == path.read_bytes()
    assert (report.vertices, report.edges, report.shards) == (done.vertices, done.edges, done.shards)
    assert names(tmp_path / "g.shards") == sorted(
        [*(f"{k:05}.shard" for k in range(shards)), "rest.shard", "manifest.json"]
    )


@pytest.mark.parametrize("name", FILES)
def test_what_files_hold_beside_rows_comes_back_too(name, tmp_path):
    """Wide ids, labels, in-neighbours, hubs, names: the golden files have them."""
    for shards in (1, 3):
        bigbfs.split(GOLDEN / name, tmp_path / "s", shards=shards, force=True)
        bigbfs.join(tmp_path / "s", tmp_path / name)
        assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


def test_a_file_of_another_layout_comes_back_too(tmp_path, graph):
    """Sections in another order, far apart, and one that this version does not know."""
    page, size = bytearray(layout.PAGE), 64 * layout.PAGE
    with Graph.open(graph) as opened:
        arrays = opened.decompress().adjacency.arrays() | {
            "labels": opened.labels,
            "later": np.arange(9, dtype=np.uint64),
        }
        header = layout.Header(opened.n, opened.m, frozenset({"directed", "sorted"}), 4, "plain", 0, 0, size)
    from bigbfs.formats.container.checksum import checksum

    content, at, table = bytearray(size), 3 * layout.PAGE, []
    for name in ("labels", "indices", "later", "indptr"):
        array = arrays[name]
        table.append(layout.Section(name, array.dtype.str, len(array), at, array.nbytes, checksum(array)))
        content[at : at + array.nbytes] = array.tobytes()
        at += (array.nbytes // layout.PAGE + 2) * layout.PAGE
    page = layout.pack(header, table)
    content[: len(page)] = page
    (tmp_path / "odd.csrbin").write_bytes(content)
    bigbfs.split(tmp_path / "odd.csrbin", shards=3)
    bigbfs.join(tmp_path / "odd.shards", tmp_path / "back.csrbin")
    assert (tmp_path / "back.csrbin").read_bytes() == bytes(content)


def test_a_shard_holds_its_rows_and_nothing_else(tmp_path, graph):
    report = bigbfs.split(graph, shards=5)
    manifest = read_manifest(tmp_path / "g.shards")
    with Graph.open(graph) as opened:
        plain = opened.decompress().adjacency
        for part, entry in enumerate(manifest.shards):
            with Shard(tmp_path / "g.shards" / entry.file) as shard:
                rows = range(shard.header.first_row, shard.header.first_row + shard.header.rows)
                assert (shard.header.part, shard.header.parts) == (part, 5)
                assert (entry.first_row, entry.rows) == (rows.start, len(rows)) and rows.start % 64 == 0
                parts = (shard.whole(name) for name in ("indptr", "degree", "blob", "hubs", "hub_ptr", "block_ptr"))
                indptr, degree, blob, hubs, hub_ptr, block_ptr = parts
                before, behind = rows.start, opened.n - rows.stop
                found = varint.decode(  # among all rows, the others being empty: ids are those of the graph
                    type(opened.adjacency)(
                        np.pad(indptr, (before, behind), "edge"),
                        np.pad(degree, (before, behind)),
                        blob,
                        hubs,
                        hub_ptr,
                        block_ptr,
                    )
                )
                assert entry.edges == len(found.indices)
                for row in rows:
                    mine = found.indices[found.indptr[row] : found.indptr[row + 1]]
                    assert mine.tolist() == plain.indices[plain.indptr[row] : plain.indptr[row + 1]].tolist()
                assert shard.whole("labels").tolist() == opened.labels[rows.start : rows.stop].tolist()
        assert report.edges == opened.m == sum(entry.edges for entry in manifest.shards)


def test_shards_are_of_about_equal_work(tmp_path):
    path = save(Graph.from_edges(*zoo.random(20_000, 100_000, seed=3)), tmp_path / "g.csrbin")
    bigbfs.split(path, shards=8)
    edges = [entry.edges for entry in read_manifest(tmp_path / "g.shards").shards]
    assert max(edges) < 1.1 * min(edges)


def test_the_golden_shards_are_written_the_same_to_the_byte_and_read_for_ever(tmp_path):
    bigbfs.split(GOLDEN / "directed.csrbin", tmp_path / "s", shards=2)
    kept = GOLDEN / "directed-2.shards"
    assert names(tmp_path / "s") == names(kept)
    for name in names(kept):
        assert (tmp_path / "s" / name).read_bytes() == (kept / name).read_bytes(), name
    for version in (kept, GOLDEN / "directed.shards"):  # 2, 1
        bigbfs.join(version, tmp_path / "g.csrbin", force=True)
        assert (tmp_path / "g.csrbin").read_bytes() == (GOLDEN / "directed.csrbin").read_bytes()
        assert list(check_shards(version))


def test_shards_of_version_1_stay_or_are_written_anew(tmp_path):
    shutil.copytree(GOLDEN / "directed.shards", tmp_path / "s")
    assert bigbfs.split(GOLDEN / "directed.csrbin", tmp_path / "s", shards=2).kept == 2
    assert bigbfs.split(GOLDEN / "directed.csrbin", tmp_path / "s", shards=2, force=True).kept == 0
    for path in (tmp_path / "s").iterdir():
        assert path.read_bytes() == (GOLDEN / "directed-2.shards" / path.name).read_bytes()


def test_what_no_section_of_a_shard_holds_is_zero(tmp_path, graph):
    """``check`` names a byte that is not, also behind the last section; no search reads it."""
    bigbfs.split(graph, shards=3)
    for path in (tmp_path / "g.shards").glob("*.shard"):
        whole = path.read_bytes()
        with Shard(path) as shard:
            ends = [section.offset + section.length for section in shard.sections.values()]
        for place in [end for end in ends if end % layout.PAGE]:
            path.write_bytes(whole[:place] + b"x" + whole[place + 1 :])
            with pytest.raises(FormatError, match=rf"{path.name}: byte {place}, between the sections, is not zero"):
                list(check_shards(tmp_path / "g.shards"))
        path.write_bytes(whole)


def test_every_shard_that_is_damaged_is_named(tmp_path, graph):
    """In its header, its table, each section; cut short, grown, empty, replaced by something else."""
    bigbfs.split(graph, shards=3)
    folder, output = tmp_path / "g.shards", tmp_path / "back.ccsr"
    for path in sorted(folder.glob("*.shard")):
        whole = path.read_bytes()
        with Shard(path) as shard:
            places = [20, 85, 130, *(section.offset for section in shard.sections.values() if section.length)]
        changed = [bytes(c ^ (1 if at == place else 0) for at, c in enumerate(whole)) for place in places]
        for content in [
            *changed,
            whole[:-4096],
            whole + bytes(4096),
            whole[:50],
            b"",
            b"no shard" * 999,
            graph.read_bytes(),
        ]:
            path.write_bytes(content)
            with pytest.raises(FormatError, match=path.name):
                bigbfs.join(folder, output)
            assert not output.exists() and names(tmp_path) == names(tmp_path)
            assert not any(name.startswith(".") for name in names(tmp_path))
        path.write_bytes(whole)
    bigbfs.join(folder, output)
    assert output.read_bytes() == graph.read_bytes()


def test_a_shard_that_is_missing_doubled_renamed_or_of_another_graph_is_named(tmp_path, graph):
    bigbfs.split(graph, shards=3)
    folder, output = tmp_path / "g.shards", tmp_path / "back.ccsr"
    save(Graph.from_edges(*zoo.path(200)), tmp_path / "other.ccsr")
    bigbfs.split(tmp_path / "other.ccsr", shards=3)
    for name in ("00000.shard", "00002.shard", "rest.shard"):
        path, whole = folder / name, (folder / name).read_bytes()
        path.unlink()
        with pytest.raises(FormatError, match=f"{name}: .* is missing"):
            bigbfs.join(folder, output)
        shutil.copy(folder / "00001.shard", path)
        with pytest.raises(FormatError, match=f"{name}: holds shard 1 of 3, which belongs in .*00001.shard"):
            bigbfs.join(folder, output)
        shutil.copy(tmp_path / "other.shards" / name, path)
        with pytest.raises(FormatError, match=f"{name}: is of another graph"):
            bigbfs.join(folder, output)
        path.write_bytes(whole)
        for copied, said in ((folder / name, "a second time"), (tmp_path / "other.shards" / name, "of another graph")):
            shutil.copy(copied, folder / "copy.shard")
            with pytest.raises(FormatError, match=f"copy.shard: .*{said}"):
                bigbfs.join(folder, output)
            (folder / "copy.shard").unlink()
    assert not output.exists()


def test_shards_of_one_graph_that_was_split_twice_do_not_mix(tmp_path, graph):
    """Of the same graph and number, but other bytes: the manifest knows its own."""
    bigbfs.split(graph, shards=3)
    path = tmp_path / "g.shards" / "manifest.json"
    content = json.loads(path.read_text())
    content["shards"][1]["header"] = "0" * 64
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=r"00001.shard: is not the shard 1 of 3 that .*manifest.json names"):
        bigbfs.join(tmp_path / "g.shards", tmp_path / "back.ccsr")


def one_edge_more(content):
    """Have the manifest say that there is an edge more, of the graph and of the first shard."""
    for place in (content["graph"], content["shards"][0]):
        place["edges"] += 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(version=2), "version 2"),
        (lambda c: c.update(format="other"), "'other'"),
        (lambda c: c.pop("rest"), "damaged"),
        (lambda c: c["shards"].pop(), "damaged"),
        (lambda c: c["shards"][1].update(first_row=1), "damaged"),
        (lambda c: c["shards"][1].update(more=1), "damaged"),
        (lambda c: c["graph"].update(identity="x"), "damaged"),
        (lambda c: c["graph"].update(edges=1), "damaged: the shards have"),
        (one_edge_more, "the manifest says another"),
        (lambda c: c["graph"].update(file_bytes=4096), "rest.shard"),
    ],
)
def test_a_manifest_that_cannot_be_true_is_refused(change, said, tmp_path, graph):
    bigbfs.split(graph, shards=2)
    path = tmp_path / "g.shards" / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=said):
        bigbfs.join(tmp_path / "g.shards", tmp_path / "back.ccsr")
    path.write_text("{")
    with pytest.raises(FormatError, match=r"manifest.json: is damaged"):
        bigbfs.join(tmp_path / "g.shards", tmp_path / "back.ccsr")
    path.unlink()
    with pytest.raises(FormatError, match="not complete"):
        bigbfs.join(tmp_path / "g.shards", tmp_path / "back.ccsr")
    with pytest.raises(FormatError, match="holds no shards"):
        bigbfs.join(tmp_path, tmp_path / "back.ccsr")
    with pytest.raises(FileAccessError, match="no such folder"):
        bigbfs.join(tmp_path / "nowhere", tmp_path / "back.ccsr")


def test_a_split_that_was_stopped_goes_on_where_it_was(tmp_path, graph):
    bigbfs.split(graph, shards=4)
    folder = tmp_path / "g.shards"
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert bigbfs.split(graph, shards=4).kept == 4  # nothing to do
    (folder / "manifest.json").unlink()
    (folder / "00002.shard").unlink()
    (folder / ".00002.shard.abcdefgh.tmp").write_bytes(b"half")
    damaged = bytearray(whole["00003.shard"])
    damaged[40] ^= 1
    (folder / "00003.shard").write_bytes(damaged)
    kept = {name: (folder / name).stat().st_ino for name in ("00000.shard", "00001.shard")}
    assert bigbfs.split(graph, shards=4).kept == 2
    assert {name: (folder / name).stat().st_ino for name in kept} == kept
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole


def test_a_folder_of_something_else_is_not_filled(tmp_path, graph):
    folder = tmp_path / "g.shards"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"mine.txt, which is no shard"):
        bigbfs.split(graph, shards=2, force=True)
    (folder / "mine.txt").rename(folder / "mine.shard")
    with pytest.raises(UsageError, match=r"mine.shard, which is no shard"):
        bigbfs.split(graph, shards=2, force=True)
    (folder / "mine.shard").unlink()
    bigbfs.split(graph, shards=3)
    with pytest.raises(UsageError, match="holds the 3 shards"):
        bigbfs.split(graph, shards=2)
    bigbfs.split(graph, shards=2, force=True)
    assert names(folder) == ["00000.shard", "00001.shard", "manifest.json", "rest.shard"]
    with pytest.raises(FileAccessError, match="no folder"):
        bigbfs.split(graph, tmp_path / "g.txt")
    with pytest.raises(UsageError, match="shards=0"):
        bigbfs.split(graph, shards=0)


def test_a_damaged_graph_is_not_split(tmp_path, graph):
    content = bytearray(graph.read_bytes())
    for place in (csrbin.open_container(graph).sections["blob"].offset + 5, layout.PAGE - 1):
        content[place] ^= 1
        graph.write_bytes(content)
        with pytest.raises(FormatError, match=r"blob|not zero"):
            bigbfs.split(graph, shards=2)
        assert not (tmp_path / "g.shards").exists()
        content[place] ^= 1
    np.array([2, 2, 0, 1, 2], np.uint64).tofile(tmp_path / "raw.csrbin")
    with pytest.raises(FormatError, match="no bigbfs graph file"):
        bigbfs.split(tmp_path / "raw.csrbin")


def test_what_the_disk_cannot_hold_is_refused_before(tmp_path, graph, monkeypatch):
    bigbfs.split(graph, shards=2)

    class Full:
        f_blocks, f_bavail, f_frsize = 9, 1, 4096

    monkeypatch.setattr(room.os, "statvfs", lambda folder: Full)
    with pytest.raises(DoesNotFitError, match=r"back.ccsr: .*graph takes .* KiB, and 4 KiB are free there"):
        bigbfs.join(tmp_path / "g.shards", tmp_path / "back.ccsr")
    with pytest.raises(DoesNotFitError, match="/new: the shards take"):
        bigbfs.split(graph, tmp_path / "new", shards=2)
    assert names(tmp_path) == ["g.ccsr", "g.csrbin", "g.shards", "g.txt"]


def test_a_name_that_says_other_rows_is_refused(tmp_path, graph):
    bigbfs.split(graph, shards=2)
    with pytest.raises(UsageError, match=r"is a .ccsr file"):
        bigbfs.join(tmp_path / "g.shards", tmp_path / "g2.csrbin")
    (tmp_path / "back.ccsr").write_text("mine")
    with pytest.raises(UsageError, match="nothing says that bigbfs wrote it"):
        bigbfs.join(tmp_path / "g.shards", tmp_path / "back.ccsr")
    assert bigbfs.join(tmp_path / "g.shards").output == str(tmp_path / "g.ccsr")


def test_shards_are_not_taken_for_a_graph(tmp_path, graph):
    bigbfs.split(graph, shards=2)
    for path in (tmp_path / "g.shards", tmp_path / "g.shards" / "00001.shard", tmp_path / "g.shards" / "rest.shard"):
        with pytest.raises(UsageError, match=r"bigbfs.join\(.*g.shards"):
            bigbfs.open(path)
        with pytest.raises(UsageError, match=r"bigbfs.join\(.*g.shards"):
            bigbfs.convert(path, tmp_path / "new.csrbin")
    (tmp_path / "g.shards" / "manifest.json").unlink()
    for use in (bigbfs.open, bigbfs.join, lambda path: bigbfs.bfs(path, 1)):  # `join` is no way out then
        with pytest.raises(FormatError, match=r"there is no manifest\.json; .* not complete: fetch it, or run again"):
            use(tmp_path / "g.shards")
