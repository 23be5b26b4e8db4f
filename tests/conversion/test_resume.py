"""A conversion by ranks that is killed, and its second run: what was finished is not done again; the same bytes.

Threads play the ranks. A rank that is killed raises what nobody catches, and its folder stays, no longer held.
"""

import json
import os
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from folders import names

import bigbfs
from bigbfs.conversion import ConvertOptions
from bigbfs.conversion.on_disk import plan
from bigbfs.conversion.on_disk.scratch import KEPT, PREFIX, Scratch, remove_stale
from bigbfs.conversion.spread import assemble, convert, numbering, on_disk, reading, shards, sorted_rows
from bigbfs.conversion.spread.checkpoint import Checkpoint
from bigbfs.conversion.spread.exchange import ExchangingWriter
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import DoesNotFitError

RANKS = 3
STEPS = {"read": (reading, "read_shares"), "numbered": (numbering, "list_labels"), "sorted": (on_disk, "sort_own_rows")}
"""A function that every rank calls once in each phase."""


class Killed(BaseException):
    """The end of a rank."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(convert, "fits", lambda *given, **named: False)  # what is in memory is not kept
    return tmp_path


def spread(ranks=RANKS, output="many.csrbin", **options):
    given = ConvertOptions(memory=2**30 + plan.resident_bytes(), threads=1, **options)
    return run(ranks, lambda group: convert.convert_over_ranks(["g.txt"], output, given, group))[0]


def write(hashes=False):
    """Edges with gaps in their ids and a hub; or hashes, for which there is no table."""
    pairs = np.random.default_rng(5).integers(0, 600, (2000, 2)) * 7
    if hashes:
        pairs = np.random.default_rng(3).integers(0, 2**63, 4200, np.int64)[pairs]
    np.savetxt("g.txt", pairs, "%d")


def kill(patch, where, name, who=None, when=lambda *given: True):
    """Let ranks (``who`` alone) end when they call a function."""
    whole = getattr(where, name)

    def end(*given, **more):
        mine = next((each for each in given if isinstance(each, Checkpoint)), None)
        if (who is None or (mine is not None and mine.rank == who)) and when(*given):
            raise Killed
        return whole(*given, **more)

    patch.setattr(where, name, end)


def killed(monkeypatch, *how, ranks=RANKS, output="many.csrbin", who=None, when=lambda *given: True, **options):
    """Convert, and be killed."""
    with monkeypatch.context() as patch:
        patch.setattr(Scratch, "close", lambda self: os.close(self._lock))
        kill(patch, *how, who=who, when=when)
        with pytest.raises(Killed):
            spread(ranks, output, **options)
    assert not Path(output).is_file()


def again(monkeypatch, ranks=RANKS, output="many.csrbin", **options):
    """Convert once more; return how many ranks went through each phase, and the report."""
    calls = Counter()
    with monkeypatch.context() as patch:
        for phase, (where, name) in STEPS.items():
            whole = getattr(where, name)

            def counted(*given, _phase=phase, _whole=whole, **more):
                calls[_phase] += 1
                return _whole(*given, **more)

            patch.setattr(where, name, counted)
        report = spread(ranks, output, **options)
    assert not [name for name in names(Path()) if name.startswith(".")]
    return dict(calls), report


def require_same(output="many.csrbin", **options):
    bigbfs.convert("g.txt", "one.csrbin", force=True, **options)
    assert Path(output).read_bytes() == Path("one.csrbin").read_bytes()
    if options.get("compressed"):
        assert Path(output).with_suffix(".ccsr").read_bytes() == Path("one.ccsr").read_bytes()


def by_phase(phase):
    return lambda self, name, *rest: name == phase


ALL = {"read": RANKS, "sorted": RANKS}
SORT = {"sorted": RANKS}
CASES = {
    "while pairs are exchanged": ((ExchangingWriter, "finish"), {}, ALL, None),
    "before one rank has kept what it read": ((Checkpoint, "_write"), {"who": 1}, ALL, None),
    "when all have read": ((on_disk, "meaning"), {}, SORT, "its inputs are read"),
    "while rows are sorted": ((sorted_rows, "consume"), {}, SORT, "its inputs are read"),
    "before one rank has kept its rows": (
        (Checkpoint, "_write"),
        {"who": 1, "when": by_phase("sorted")},
        SORT,
        "its inputs are read",
    ),
    "before one rank has let go of its pairs": (
        (Checkpoint, "leave_only"),
        {"who": 1, "when": lambda self, names: (self.scratch.folder / f"sorted{KEPT}").exists()},
        {},
        "its rows are sorted",
    ),
    "while the file is put together": ((assemble, "_put"), {}, {}, "its rows are sorted"),
}


@pytest.mark.parametrize("moment", CASES)
def test_what_was_finished_is_not_done_again(moment, monkeypatch):
    write()
    how, more, expected, said = CASES[moment]
    killed(monkeypatch, *how, **more, directed=True, compressed=True)
    calls, report = again(monkeypatch, directed=True, compressed=True)
    assert calls == expected
    assert [note for note in report.notes if "takes up" in note] == list(report.notes)
    assert len(report.notes) == (said is not None) and (said is None or said in report.notes[0])
    require_same(directed=True, compressed=True)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ((numbering, "number_values"), {"numbered": RANKS, "sorted": RANKS}),
        ((sorted_rows, "consume"), {"sorted": RANKS}),
        ((assemble, "_put"), {}),
    ],
)
def test_ids_that_no_table_holds_have_a_phase_of_their_own(how, expected, monkeypatch):
    write(hashes=True)
    killed(monkeypatch, *how)
    calls, report = again(monkeypatch)
    assert calls == expected and "takes up" in report.notes[0]
    require_same()


def test_killed_time_and_again(monkeypatch):
    """A run that takes up another is killed too, and again in the same phase."""
    write()
    for how in ((on_disk, "meaning"), (sorted_rows, "consume"), (sorted_rows, "consume"), (assemble, "_put")):
        killed(monkeypatch, *how)
        assert len(list(Path().glob(PREFIX + "*"))) == RANKS
    assert again(monkeypatch)[0] == {}
    require_same()


def test_a_signal_to_all_ranks_leaves_what_was_kept_and_an_error_nothing(monkeypatch):
    write()
    for failure, left in ((KeyboardInterrupt, RANKS), (SystemExit, RANKS), (RuntimeError, 0)):
        everyone = threading.Barrier(RANKS)

        def fail(*given, _failure=failure, _everyone=everyone):
            _everyone.wait(60)
            raise _failure

        with monkeypatch.context() as patch:
            patch.setattr(sorted_rows, "consume", fail)
            with pytest.raises(failure):
                spread()
        assert len(list(Path().glob(PREFIX + "*"))) == left
    assert again(monkeypatch)[0] == ALL


@pytest.mark.parametrize(
    ("output", "options", "last"),
    [
        ("many.csrbin", {"compressed": True}, (convert, "_report")),
        ("many.shards", {"shards": 2}, (shards, "peak_rss_bytes")),
    ],
)
@pytest.mark.parametrize("ranks", [1, RANKS])
def test_what_is_left_beside_an_output_that_is_there_goes(ranks, output, options, last, monkeypatch):
    """Killed when its output had got its name: the next run finds nothing to do, and tidies up."""
    write()
    with monkeypatch.context() as patch:
        patch.setattr(Scratch, "close", lambda self: os.close(self._lock))
        kill(patch, *last)
        with pytest.raises(Killed):
            spread(output=output, **options)
    assert len(list(Path().glob(PREFIX + "*"))) >= RANKS and Path(output).exists()
    report = spread(output=output, **options) if ranks > 1 else bigbfs.convert("g.txt", output, threads=1, **options)
    assert report.cached and not list(Path().glob(PREFIX + "*"))


@pytest.mark.parametrize(("output", "options"), [("many.csrbin", {}), ("many.shards", {"shards": 2})])
def test_what_is_left_of_other_inputs_stays_beside_an_output_that_is_up_to_date(output, options, monkeypatch):
    write()
    Path("other.txt").write_text("1 2\n2 3\n") and bigbfs.convert("other.txt", output, threads=1, **options)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Scratch, "close", lambda self: os.close(self._lock))
        kill(patch, sorted_rows, "consume")
        spread(output=output, force=True, **options)
    given = ConvertOptions(threads=1, **options)
    assert bigbfs.convert("other.txt", output, threads=1, **options).cached and len(kept()) == RANKS
    assert run(RANKS, lambda group: convert.convert_over_ranks(["other.txt"], output, given, group))[0].cached
    assert len(kept()) == RANKS
    assert again(monkeypatch, output=output, force=True, **options)[0] == SORT


def test_half_a_file_beside_one_that_is_up_to_date_goes():
    write()
    for output in ("one.csrbin", "one.ccsr"):
        bigbfs.convert("g.txt", output)
        Path(f".{output}.abcdefgh.tmp").write_bytes(b"half")
        assert bigbfs.convert("g.txt", output).cached
    assert names(Path()) == ["g.txt", "one.ccsr", "one.csrbin"]


def kept():
    """Return the manifests that lie there, with their folders."""
    return {path: json.loads(path.read_bytes()) for path in sorted(Path().glob(f"{PREFIX}*/*{KEPT}"))}


def damaged_file():
    path, manifest = next((path, each) for path, each in kept().items() if each["rank"] == 1)
    name = next(name for name, (size, _) in manifest["files"].items() if size)
    content = bytearray((path.parent / name).read_bytes())
    content[len(content) // 2] ^= 1
    (path.parent / name).write_bytes(content)
    return "is damaged"


def cut_file():
    path, manifest = next((path, each) for path, each in kept().items() if each["rank"] == 2)
    name = next(name for name, (size, _) in manifest["files"].items() if size)
    os.truncate(path.parent / name, 3)
    return "is damaged"


def missing_file():
    path, manifest = next((path, each) for path, each in kept().items() if each["rank"] == 0)
    (path.parent / next(iter(manifest["files"]))).unlink()
    return "is damaged"


def changed_manifest():
    path = next(iter(kept()))
    path.write_bytes(path.read_bytes().replace(b'"held": ', b'"held": 1'))
    return "is damaged"


def changed_input():
    write()
    return "other inputs or options"


@pytest.mark.parametrize("harm", [damaged_file, cut_file, missing_file, changed_manifest, changed_input])
def test_what_is_not_whole_is_not_taken_up(harm, monkeypatch):
    write()
    killed(monkeypatch, sorted_rows, "consume")
    said = harm()
    calls, report = again(monkeypatch)
    assert calls == ALL and "begins anew" in report.notes[0] and said in report.notes[0]
    require_same()


def test_other_options_and_other_numbers_of_ranks_begin_anew(monkeypatch):
    write()
    killed(monkeypatch, sorted_rows, "consume")
    calls, report = again(monkeypatch, ranks=2)
    assert calls == {"read": 2, "sorted": 2}
    assert "of 3 ranks, here are 2; with 3 ranks it is taken up" in report.notes[0]
    require_same()
    Path("many.csrbin").unlink()
    killed(monkeypatch, sorted_rows, "consume")
    calls, report = again(monkeypatch, keep_self_loops=True)
    assert calls == ALL and "other inputs or options" in report.notes[0]
    require_same(keep_self_loops=True)


def test_what_is_of_another_output_stays(monkeypatch):
    """Until that is converted, by ranks or by one process."""
    write()
    killed(monkeypatch, sorted_rows, "consume", output="first.csrbin")
    killed(monkeypatch, sorted_rows, "consume", output="second.csrbin")
    assert remove_stale(Path()) == 0
    spread()
    bigbfs.convert("g.txt", "one.csrbin")
    assert len(list(Path().glob(PREFIX + "*"))) == 2 * RANKS
    bigbfs.convert("g.txt", "first.csrbin")
    assert len(list(Path().glob(PREFIX + "*"))) == RANKS
    assert again(monkeypatch, output="second.csrbin")[0] == SORT


def test_folders_of_living_processes_are_left_alone(monkeypatch):
    write()
    killed(monkeypatch, sorted_rows, "consume")
    folder = next(path.parent for path, manifest in kept().items() if manifest["rank"] == 1)
    living = Scratch.taken(folder)
    spread()
    assert kept().keys() == {folder / f"read{KEPT}"}
    living.close()
    require_same()


@pytest.mark.parametrize("how", [(sorted_rows, "consume"), (shards, "split")])
def test_shards_are_taken_up_too(how, monkeypatch):
    write()
    killed(monkeypatch, *how, output="many.shards", shards=4)
    calls, report = again(monkeypatch, output="many.shards", shards=4)
    assert calls == (SORT if how[1] == "consume" else {}) and "takes up" in report.notes[-1]
    bigbfs.convert("g.txt", "one.shards", shards=4)
    for name in names(Path("one.shards")):
        assert (Path("many.shards") / name).read_bytes() == (Path("one.shards") / name).read_bytes()


def test_the_space_that_is_checked_has_what_is_kept(monkeypatch):
    """Bytes that lie there already are not asked for again; where all of them do not fit they go as they are read."""
    write()
    killed(monkeypatch, sorted_rows, "consume")
    there = sum(size for manifest in kept().values() for size, _ in manifest["files"].values())
    asked = []
    whole = on_disk.require_space
    monkeypatch.setattr(on_disk, "require_space", lambda *given: asked.append(given) or whole(*given))
    spread()
    assert [given[5] for given in asked] == [there, there] and asked[1][1] > asked[0][1]
    Path("many.csrbin").unlink()

    def narrow(tmp, spill, output, result, beside=0, there=0):
        asked.append(spill)
        if spill > asked[-2]:
            raise DoesNotFitError("no room")

    asked[:] = [10**12]
    with monkeypatch.context() as patch:
        patch.setattr(on_disk, "require_space", narrow)
        killed(patch, assemble, "_put")
        assert not kept() and asked[2] > asked[1]
        spread()
    require_same()
