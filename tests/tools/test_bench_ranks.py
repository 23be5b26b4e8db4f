"""The suite for several ranks: what it asks for, what it leaves out and why, that it goes on where it was stopped."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import bench_ranks
import pytest
from rank_suite import cases, figures, lines, places, predictions, runs
from rank_suite.predictions import Facts

from bigbfs.config import RankRates
from bigbfs.engines.ranks import launch
from bigbfs.errors import ConfigError, DoesNotFitError, FormatError, UsageError, VerificationError

ROOT = Path(__file__).resolve().parents[2]
SUITE = cases.read(ROOT / "configs" / "bench-ranks.toml")
ROWS = {row.name: row for row in SUITE.rows}
MACHINE = places.Machine(("NVIDIA H200",) * 2, 139 << 30, 1 << 40, 1 << 40)

GPUS = """
seed = 1
[[rows]]
name = "tiny"
kind = "kronecker"
parameters = { scale = 8 }
residency = "vram"
counts = [1, 2, 4]
picoseconds = { bfs = 16 }
"""
DRY = """
seed = 1
[[dry]]
name = "tiny"
kind = "kronecker"
parameters = { scale = 8 }
grow = "scale"
counts = [1, 2]
sources = 2
trials = 1
[[dry]]
name = "pieces"
kind = "kronecker"
parameters = { scale = 9 }
counts = [2]
works = ["cc"]
trials = 2
"""


def printed(work="bfs", ranks=2, **changed):
    """What a command prints."""
    each = [{"rank": rank, "host": "h", "seconds": 2.0, "waited": 0.5 * rank, "sent": 100} for rank in range(ranks)]
    run = {"seconds": 2.0, "verified": True, "disturbed": 0, "gteps": 3.0, "reached": 5, "depth": 2} | changed
    run |= {"ranks": each, "exchanges": ["claims", None, "window"]} if ranks > 1 else {}
    return {
        "graph": {"vertices": 256, "edges": 4000, "codec": "plain"},
        "device": "d", "residency": "vram", "setup": {"place": 0.5}, "bytes": {"host": 1, "device": 2},
        "runs": [run], "components": 1, "largest": 256,
    }  # fmt: skip


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Run the tool on a suite; return its exit code and the last line of each measurement."""
    monkeypatch.setattr(runs, "stopped_cleanly", lambda: None)

    def run(suite, *arguments, machine=MACHINE):
        path = tmp_path / "suite.toml"
        path.write_text(suite)
        monkeypatch.setattr(places, "look", lambda folder: machine)
        monkeypatch.setattr(places, "look_again", lambda machine, folder: machine)
        line = ["bench_ranks.py", "--suite", str(path), "--folder", str(tmp_path / "graphs"), "--commit", "abc"]
        monkeypatch.setattr(sys, "argv", [*line, *arguments])
        with pytest.raises(SystemExit) as ended:
            bench_ranks.main()
        return ended.value.code, lines.read([tmp_path / "graphs" / "rows.jsonl"])

    return run


@pytest.fixture
def told(monkeypatch):
    """Commands that would run; what each answers can be changed."""
    asked = []

    def answer(runner, arguments):
        asked.append(arguments)
        if arguments[0] == "generate":
            Path(arguments[arguments.index("-o") + 1]).touch()
            return {}
        several = int(arguments[arguments.index("--gpus") + 1]) if "--gpus" in arguments else 1
        found = answer.of(arguments, several)
        if isinstance(found, Exception):
            raise found
        return found

    answer.of = lambda arguments, several: printed(arguments[0], several)
    answer.asked = asked
    monkeypatch.setattr(runs.Runner, "object_of", answer)
    monkeypatch.setattr(places, "takes_gpus", lambda work: True)
    return answer


def test_the_suite_has_what_is_to_be_shown():
    by_degree = [row for row in SUITE.rows if row.order == "degree" and row.residency == "vram" and not row.grow]
    assert [row.parameters["scale"] for row in by_degree] == [26, 29]
    weak = next(row for row in SUITE.rows if row.grow)
    assert [weak.parameters_for(count)["scale"] for count in weak.counts] == [26, 27, 28, 29]
    uniform = [row for row in SUITE.rows if row.kind == "uniform" and row.residency == "mapped"]
    assert [row.parameters["scale"] for row in uniform] == [26, 27, 28]
    assert any(row.largest and row.codec == "varint" and row.residency == "mapped" for row in SUITE.rows)
    road = ROWS["road 24 M"]
    assert {bar.kind for bar in road.bars} == {"stays"}
    for row in (*by_degree, weak, *uniform, road):
        assert row.works == ("bfs", "cc")
        assert {1, 2, 4, 8} <= set(row.counts)
    assert {row.kind for row in SUITE.dry} == {"kronecker", "uniform", "road"}


def test_predictions_are_those_of_the_design():
    def ms(name, ranks, work="bfs"):
        row = ROWS[name]
        asked = cases.Measurement(row, work, ranks, row.parameters_for(ranks), 1)
        return 1e3 * predictions.of_gpus(asked)["seconds"]

    assert ms("R-MAT 26 by degree", 1) == pytest.approx(1.08, rel=0.01)
    assert ms("R-MAT 26 by degree", 2) == pytest.approx(0.64, abs=0.03)  # 0.66, overlapped 0.62
    assert ms("uniform 26", 2) == pytest.approx(6.04, rel=0.02)
    assert ms("uniform 26", 8) == pytest.approx(1.6, rel=0.02)
    assert ms("R-MAT 29 by degree", 2) == pytest.approx(4.55, abs=0.2)  # 4.7, overlapped 4.4
    assert ms("road 24 M", 8) == ms("road 24 M", 1)
    assert ms("road 24 M", 2, "cc") < ms("road 24 M", 1, "cc")


def test_ranks_that_share_cores_are_predicted_to_take_turns():
    row = SUITE.dry[0]
    facts, rates = Facts(1 << 18, 170_000, 7_600_000), RankRates()
    for work in row.works:
        asked = cases.Measurement(row, work, 4, row.parameters, 1)
        two, four = (predictions.of_cpus(asked, facts, rates, cores) for cores in (2, 4))
        worked = [each["seconds"] - each["exchange_seconds"] for each in (two, four)]
        assert worked[0] == pytest.approx(2 * worked[1])
        assert two["bytes"] == 0


def test_rows_for_gpus_are_refused_by_name_before_anything_is_made(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(places, "takes_gpus", lambda work: False)
    code, found = bench(GPUS, machine=replace(MACHINE, gpus=()))
    assert code == 0
    reasons = {ranks: line["reason"] for (_, _, _, ranks), line in found.items()}
    assert reasons[1] == "1 GPU asked for, 0 here"
    assert "no option --gpus" in reasons[2]
    assert all(line["status"] == "left out" and line["predicted"]["seconds"] > 0 for line in found.values())
    assert [path.name for path in (tmp_path / "graphs").iterdir()] == ["rows.jsonl"]


def test_what_takes_gpus_is_what_the_command_says(monkeypatch):
    from bigbfs.cli import bfs

    has = any("--gpus" in option.opts for option in bfs.command.params)
    assert places.takes_gpus("bfs") == has
    option = type("option", (), {"opts": ["--gpus"]})
    monkeypatch.setattr(bfs.command, "params", [*bfs.command.params, option])
    assert places.takes_gpus("bfs")


def test_gpus_run_by_an_option_of_the_same_command(bench, told, monkeypatch):
    monkeypatch.setattr(launch, "mpiexec", lambda: Path("mpiexec"))
    code, found = bench(GPUS)
    assert code == 0
    one, two = (line for line in told.asked if line[0] == "bfs")
    assert " ".join(one[2:]) == (
        "--trials 3 --verify --backend gpu --residency vram --sources random:8 --seed 1 --strategy auto"
    )
    at = one.index("vram") + 1
    assert two == [*one[:at], "--gpus", "2", *one[at:]]
    assert found["rows", "tiny", "bfs", 4]["reason"] == "4 GPUs asked for, 2 here"
    line = found["rows", "tiny", "bfs", 2]
    assert line["status"] == "measured"
    assert (line["bytes"], line["share"], line["ran_as"]) == (200, 0.125, 2)
    assert line["predicted"]["at"] <= line["started"]
    assert "/" not in line["command"]


@pytest.mark.parametrize(
    ("error", "status", "ends"),
    [
        (DoesNotFitError("too large"), "left out", 0),
        (VerificationError("vertex 3"), "wrong", 3),
        (runs.RunError("killed"), "failed", 1),
    ],
)
def test_what_ends_badly_says_so_and_is_tried_again(error, status, ends, bench, told):
    usual, told.of = told.of, lambda arguments, several: error
    only = GPUS.replace("[1, 2, 4]", "[1]")
    code, found = bench(only)
    assert code == ends
    assert found["rows", "tiny", "bfs", 1]["status"] == status
    assert str(error) in found["rows", "tiny", "bfs", 1]["reason"]
    told.of = usual
    code, found = bench(only)
    assert code == 0
    assert found["rows", "tiny", "bfs", 1]["status"] == "measured"
    told.asked.clear()
    bench(only)
    assert told.asked == []  # it is there
    bench(only.replace("scale = 8", "scale = 9"))
    assert len(told.asked) == 2


def test_unproved_results_and_other_numbers_of_ranks_are_refused():
    row = ROWS["R-MAT 26 by degree"]
    asked = cases.Measurement(row, "bfs", 2, row.parameters, 1)
    with pytest.raises(VerificationError):
        figures.of(asked, printed(verified=None))
    with pytest.raises(runs.RunError, match="asked for 2 ranks, ran as 1"):
        figures.of(asked, printed(ranks=1))
    stays = replace(asked, row=ROWS["road 24 M"])
    assert figures.of(stays, printed(ranks=1))["ran_as"] == 1


def test_the_largest_scale_is_the_largest_that_fits():
    row = ROWS["the largest R-MAT up to 32, compressed"]
    assert places.largest(row, 1, MACHINE).parameters["scale"] == 31
    less = replace(MACHINE, memory_bytes=24 << 30)
    found = places.largest(row, 1, less).parameters["scale"]
    assert found < 28
    assert places.largest(row, 1, replace(less, disk_bytes=1 << 25)).parameters["scale"] < found
    assert places.largest(ROWS["uniform 28"], 1, less) is ROWS["uniform 28"]


def test_what_has_no_room_is_left_out(bench, told):
    code, found = bench(GPUS, machine=replace(MACHINE, disk_bytes=1000))
    assert code == 0
    assert "the disk has 1,000 B free" in found["rows", "tiny", "bfs", 1]["reason"]
    _, found = bench(GPUS, machine=replace(MACHINE, gpu_bytes=1000))
    assert "of each GPU's memory" in found["rows", "tiny", "bfs", 1]["reason"]
    assert told.asked == []


def test_a_graph_by_degree_too_large_for_memory_is_ordered_on_disk(tmp_path, monkeypatch):
    asked = []

    def answer(runner, arguments):
        asked.append(arguments)
        if "--order" in arguments and arguments[0] == "generate":
            raise DoesNotFitError("too large")
        Path(arguments[arguments.index("-o") + 1]).touch()
        return {}

    monkeypatch.setattr(runs.Runner, "object_of", answer)
    row = ROWS["R-MAT 29 by degree"]
    made = runs.generate(runs.Runner(1), cases.Measurement(row, "bfs", 1, row.parameters, 1), tmp_path)
    assert [line[0] for line in asked] == ["generate", "generate", "convert"]
    assert list(tmp_path.iterdir()) == [made]


def test_commands_that_fail_or_take_too_long_are_told_apart(tmp_path):
    line = ["generate", "kronecker", "--scale", "20", "--memory", "1MiB", "-o", str(tmp_path / "g.csrbin")]
    with pytest.raises(DoesNotFitError):
        runs.Runner(100).object_of(line)
    with pytest.raises(runs.RunError, match="no-such"):
        runs.Runner(100).object_of(["bfs", str(tmp_path / "no-such.csrbin"), "--source", "0"])
    with pytest.raises(runs.RunError, match=r"ended after 0\.01 s"):
        runs.Runner(0.01).object_of(line)


def test_what_was_started_ends_with_the_tool(tmp_path, monkeypatch):
    usual, children = subprocess.Popen.communicate, []

    def stopped(child, *given, **named):
        children.append(child)
        if len(children) == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        return usual(child, *given, **named)

    monkeypatch.setattr(subprocess.Popen, "communicate", stopped)
    before = signal.getsignal(signal.SIGTERM)
    try:
        runs.stopped_cleanly()
        with pytest.raises(SystemExit) as ended:
            runs.Runner(100).object_of(["generate", "kronecker", "--scale", "20", "-o", str(tmp_path / "g.csrbin")])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 143
    assert children[0].returncode not in (None, 0)
    assert list(tmp_path.glob("*.csrbin")) == []


def test_a_line_that_was_cut_off_goes_and_others_are_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    line = {"section": "dry", "row": "a", "work": "bfs", "ranks": 1}
    path.write_text(json.dumps(line) + '\n{"section": "d')
    lines.mend(path)
    lines.append(path, line | {"ranks": 2})
    assert len(lines.read([path])) == 2
    path.write_text("{}\n")
    with pytest.raises(FormatError, match="line 1"):
        lines.read([path])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("counts = [1, 2]", "counts = [3]"), "powers of two"),
        (("grow =", "grows ="), "did you mean 'grow'"),
        (('"scale"', '"rows"'), "parameters lack 'rows'"),
        (('works = ["cc"]', 'works = ["dfs"]'), "works is 'dfs'"),
        (('"pieces"', '"tiny"'), "one name"),
    ],
)
def test_suites_that_make_no_sense_are_refused(change, problem, tmp_path):
    path = tmp_path / "suite.toml"
    path.write_text(DRY.replace(*change))
    with pytest.raises(ConfigError, match=problem):
        cases.read(path)


def test_a_dry_run_is_proved_predicted_and_resumed(bench, monkeypatch, tmp_path, capsys):
    try:
        launch.mpiexec()
    except UsageError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(runs, "probe", lambda runner, ranks: RankRates(ranks=ranks))
    code, found = bench(DRY, "--dry")
    assert code == 0, found
    assert set(found) == {("dry", "tiny", "bfs", 1), ("dry", "tiny", "bfs", 2), ("dry", "pieces", "cc", 2)}
    for (_, _, _, ranks), line in found.items():
        assert (line["status"], line["verified"], line["ran_as"]) == ("measured", True, ranks)
        assert line["bytes"] == 0, "ranks of one machine work on one state"
        assert line["predicted"]["at"] <= line["started"]
    assert found["dry", "tiny", "bfs", 2]["graph"]["n"] == 512
    assert found["dry", "tiny", "bfs", 2]["exchanges"]
    assert [path.name for path in (tmp_path / "graphs").iterdir()] == ["rows.jsonl"]
    capsys.readouterr()
    bench(DRY, "--dry")
    assert "0 of 3 measurements to do" in capsys.readouterr().err
    with pytest.raises(UsageError, match="no row"):
        bench(DRY, "--dry", "--only", "x")
