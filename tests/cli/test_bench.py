"""``bigbfs bench bfs`` and ``bench report`` on the CPU: rows, tables, reports, and what is refused before measuring."""

import json

import pytest

import bigbfs
from bigbfs.algorithms.engine import Engine
from bigbfs.bench import measure
from bigbfs.cli.interrupts import Interrupted
from bigbfs.report.rows import read_rows

WITH_REPORT = ("jinja2", "altair", "vl_convert")

SUITE = """
[[cases]]
name = "a grid"
kind = "grid2d"
parameters = { rows = 8, columns = 9 }
codecs = ["plain", "varint"]
orders = ["original", "degree"]
strategies = ["topdown"]
sources = 2
trials = 2

[[cases]]
name = "a star"
kind = "star"
parameters = { vertices = 9 }
without = ["auto"]
sources = 1

[[cases]]
name = "from text"
file = "graph.txt"
convert = { directed = true }
chosen = [10]
"""


@pytest.fixture
def suite(small, monkeypatch):
    monkeypatch.setenv("BIGBFS_DATA", str(small))
    (small / "suite.toml").write_text(SUITE)
    return small


def test_rows_name_the_order_of_the_file(small, run):
    bigbfs.convert("graph.csrbin", "other.csrbin", order="degree")
    code, out, err = run("bench", "bfs", "other.csrbin", "--sources", "random:1", "--output", "r.jsonl")
    assert code == 0, err
    assert {row.order for row in rows_of(small / "r.jsonl").rows} == {"degree"} and "topdown (CPU, by degree)" in out


def rows_of(path):
    return read_rows([path])


def test_strategies_and_the_reference_from_the_same_sources(small, run):
    code, out, err = run(
        "bench", "bfs", "graph.csrbin", "--source", 10, "--source", 40, "--trials", 2, "--output", "r.jsonl"
    )
    assert code == 0, err
    record = rows_of(small / "r.jsonl")
    assert len(record.sessions) == 1
    assert record.graphs["graph"].sources == (10, 40)
    found = {(row.strategy, row.backend, row.source) for row in record.rows}
    assert found == {
        (s, b, v) for s, b in (("auto", "cpu"), ("topdown", "cpu"), ("reference", "serial")) for v in (10, 40)
    }
    assert {row.reached for row in record.rows if row.source == 10} == {3}
    assert all(row.verified and len(row.seconds) == len(row.switches) == 2 for row in record.rows)
    by_strategy = {(row.strategy, row.source): row for row in record.rows}
    assert by_strategy["topdown", 10].checked == 4
    assert by_strategy["topdown", 10].moved_bytes == 4 * 8 + 3 * 24
    assert by_strategy["auto", 10].launches is None
    assert by_strategy["auto", 10].levels.frontier[0] == 1
    assert by_strategy["auto", 40].levels is None
    for words in ("serial reference", "topdown (CPU)", "x serial", "hmean", "5 vertices"):
        assert words in out


def test_strategies_run_in_turn(small, run, monkeypatch):
    order = []
    original = measure.Placed.run

    def noted(self, source):
        order.append((source, self.contender.strategy))
        return original(self, source)

    monkeypatch.setattr(measure.Placed, "run", noted)
    code, _, err = run("bench", "bfs", "--source", 10, "--source", 40, "--trials", 2, "--no-baselines")
    assert code == 0, err
    assert order == [(s, name) for s in (0, 3) for _ in range(2) for name in ("auto", "topdown")]


def test_one_strategy_and_json(small, run):
    code, out, _ = run("bench", "bfs", "--strategy", "topdown", "--no-baselines", "--sources", "random:2", "--json")
    assert code == 0
    made = json.loads(out)
    assert made["command"] == "bench bfs"
    assert [row["contender"] for row in made["rows"]] == ["topdown (CPU)"]
    assert made["rows"][0]["sources"] == 2


def test_a_suite_generates_converts_and_varies(suite, run):
    code, _, err = run("bench", "bfs", "--suite", "suite.toml", "--output", "r.jsonl", "--trials", 1)
    assert code == 0, err
    record = rows_of(suite / "r.jsonl")
    grid = [row for row in record.rows if row.graph == "a grid"]
    places = {(row.codec, row.order) for row in grid if row.strategy == "topdown"}
    assert places == {(codec, order) for codec in ("plain", "varint") for order in ("original", "degree")}
    assert {(row.codec, row.order) for row in grid if row.strategy == "reference"} == {("plain", "original")}
    assert {len(row.seconds) for row in grid} == {2}
    assert len({row.source for row in grid}) == 2
    assert {row.strategy for row in record.rows if row.graph == "a star"} == {"topdown", "reference"}
    text = [row for row in record.rows if row.graph == "from text"]
    assert {row.source for row in text} == {10}
    assert record.graphs["from text"].directed
    assert [path.name for path in suite.iterdir() if path.name.startswith("bigbfs-bench-")] == []


def test_some_graphs_of_a_suite(suite, run):
    args = ("bench", "bfs", "--suite", "suite.toml", "--trials", 1)
    code, _, err = run(*args, "--case", "from text", "--case", "a star", "--output", "r.jsonl")
    assert code == 0, err
    assert list(rows_of(suite / "r.jsonl").graphs) == ["a star", "from text"]
    code, _, err = run(*args, "--case", "a grod")
    assert (code, "did you mean 'a grid'?" in err) == (2, True)
    code, _, err = run(*args, "--case", "none of them")
    assert (code, "choose from 'a grid', 'a star', 'from text'" in err) == (2, True)


def test_a_contender_that_ran_long_enough_gets_no_further_source(small, run):
    args = ("bench", "bfs", "--source", 10, "--source", 20, "--source", 40, "--seconds", 1e-9, "--output", "r.jsonl")
    code, _, err = run(*args)
    assert code == 0
    assert "s are over after 1 sources" in err
    assert {row.source for row in rows_of(small / "r.jsonl").rows} == {10}


def test_a_disturbed_run_says_so(small, run, monkeypatch):
    counts = iter(range(0, 10**6, 25))
    monkeypatch.setattr("bigbfs.record.switches", lambda: next(counts))
    monkeypatch.setattr("bigbfs.bench.measure.switches", lambda: next(counts))
    monkeypatch.setattr("bigbfs.record.waited", lambda: None)
    code, out, _ = run("bench", "bfs", "--source", 10, "--trials", 2, "--output", "r.jsonl")
    assert code == 0
    assert {row.switches for row in rows_of(small / "r.jsonl").rows} == {(25, 25)}
    assert {row.disturbed for row in rows_of(small / "r.jsonl").rows} == {2}
    assert "2 of 2" in out
    assert "6 of 6 runs waited for a core for over 10% of the time" in out


def test_switches_are_in_the_json_of_every_run(small, run, monkeypatch):
    """Those of bfs in all trials of a source, those of the others in each trial, or since the process began."""
    counts = iter(range(0, 10**6, 25))
    for place in ("record", "cli.manyopts", "cli.path"):
        monkeypatch.setattr(f"bigbfs.{place}.switches", lambda: next(counts))

    def told(*words):
        code, out, err = run(*words, "--json", "--backend", "cpu")
        assert code == 0, err
        return json.loads(out)

    before = told("bfs", "--source", 10, "--source", 20, "--trials", 2)["runs"]
    assert [each["switches"] for each in before] == [50, 50]
    assert [each["switches"] for each in told("cc", "--trials", 2)["runs"]] == [25, 25]
    counts = iter([7] * 10**4)
    assert told("hops")["switches"] == 7


def test_a_report_is_written_and_made_again_from_rows(small, run):
    for module in WITH_REPORT:
        pytest.importorskip(module, reason="the extra `report` is not installed")
    code, out, err = run("bench", "bfs", "--source", 10, "--output", "r.jsonl", "--report", "r.html")
    assert code == 0, err
    assert "report      r.html" in out
    code, out, _ = run("bench", "report", "r.jsonl", "-o", "again.html")
    assert code == 0
    assert "3 rows of 1 graph," in out
    assert (small / "again.html").read_text() == (small / "r.html").read_text()


def test_an_interrupt_keeps_the_rows_so_far_and_reports_them(small, run, monkeypatch):
    for module in WITH_REPORT:
        pytest.importorskip(module, reason="the extra `report` is not installed")
    original = measure.Placed.run

    def stopped(self, source):
        if source == 3:
            raise Interrupted(2)
        return original(self, source)

    monkeypatch.setattr(measure.Placed, "run", stopped)
    with pytest.raises(Interrupted):
        run("bench", "bfs", "--source", 10, "--source", 40, "--output", "r.jsonl", "--report", "r.html")
    assert {row.source for row in rows_of(small / "r.jsonl").rows} == {10}
    assert "This run ended early" in (small / "r.html").read_text()


def test_a_wrong_result_ends_the_run_with_3(small, run, monkeypatch):
    original = measure.Placed.prove

    def wrong(self, source):
        result = original(self, source)
        result.record.reached += self.contender.strategy == "topdown"
        return result

    monkeypatch.setattr(measure.Placed, "prove", wrong)
    code, _, err = run("bench", "bfs", "--source", 10)
    assert code == 3
    assert "results differ" in err
    assert "topdown on the CPU: 4 vertices" in err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--strategy", "nosuch"), 2, "nosuch"),
        (("--source", 99), 2, "99"),
        (("--sources", "random:0"), 2, "random:0"),
        (("--source", 10, "--sources", "random:2"), 2, "one of them"),
        (("none.csrbin",), 1, "none.csrbin"),
        (("--output", "none/r.jsonl"), 1, "does not exist"),
        (("--report", "none/r.html"), 1, "does not exist"),
        (("--report", "."), 1, "folder"),
        (("--report", "same", "--output", "same"), 2, "its own file"),
        (("--suite", "none.toml"), 1, "none.toml"),
        (("--suite", "none.toml", "graph.csrbin"), 2, "brings its own graphs"),
        (("--backend", "cpu", "--residency", "mapped"), 2, "--residency"),
        (("--case", "a star"), 2, "give --suite too"),
    ],
)
def test_what_cannot_work_is_refused_before_measuring(small, run, monkeypatch, arguments, code, says):
    monkeypatch.setattr("bigbfs.bench.measure.placed", lambda *_: pytest.fail("something was placed"))
    found, _, err = run("bench", "bfs", *arguments)
    assert found == code
    assert says in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seed = 1", "at least one"),
        ("[[cases]]\nname='a'\nkind='star'\nparameters={scale=3}\nsorces=3", "did you mean 'sources'"),
        ("[[cases]]\nname='a'", "give kind"),
        ("[[cases]]\nname='a'\nkind='star'\nparameters={scale=3}\nfile='b'", "give kind"),
        ("[[cases]]\nname='a'\nkind='star'\nparameters={scale=3}\nstrategies=['nosuch']", "nosuch"),
        ("[[cases]]\nname='a'\nkind='star'\nparameters={scale=3}\ncodecs=['zip']", "codecs is"),
        ("[[cases]]\nname='a'\nkind='star'\nparameters={scale=3}\nsources=0", "sources is 0"),
        (
            "[[cases]]\nname='a'\nkind='star'\nparameters={scale=3}\n[[cases]]\nname='a'\nkind='star'\nparameters={scale=3}",
            "two cases are named 'a'",
        ),
        ("[[cases]]\nname='a'\nfile='none.txt'", "no file 'none.txt'"),
        ("[[cases]]\nname='a'\nkind='stra'", "case 1: cannot generate 'stra': did you mean star"),
        ("[[cases]]\nname='a'\nkind='star'\nparameters={scal=3}", "did you mean scale"),
        ("[[cases]]\nname='a'\nfile='none.txt'\nconvert={keep_self_loop=true}", "did you mean 'keep_self_loops'"),
        ("sead = 1\n[[cases]]\nname='a'\nkind='star'\nparameters={scale=3}", "did you mean 'seed'"),
    ],
)
def test_a_suite_that_is_none_is_refused(small, run, monkeypatch, text, says):
    monkeypatch.setenv("BIGBFS_DATA", str(small))
    (small / "suite.toml").write_text(text)
    code, _, err = run("bench", "bfs", "--suite", "suite.toml")
    assert code == 1
    assert says in err


def test_files_of_a_suite_need_the_folder_of_the_data(small, run, monkeypatch):
    (small / "suite.toml").write_text("[[cases]]\nname='a'\nfile='graph.txt'")
    monkeypatch.delenv("BIGBFS_DATA", raising=False)
    code, _, err = run("bench", "bfs", "--suite", "suite.toml")
    assert (code, "BIGBFS_DATA is not set" in err) == (1, True)


def test_a_graph_without_edges_is_refused_by_name(folder, run):
    (folder / "empty.txt").write_text("1 1\n2 2\n")
    bigbfs.convert("empty.txt")
    code, _, err = run("bench", "bfs", "empty.csrbin", "--source", 1)
    assert code == 2
    assert "empty.csrbin: the graph has no edge" in err


def test_bench_cc_is_still_there(small, run):
    code, out, _ = run("bench", "cc", "--algorithm", "sv", "--trials", 1)
    assert code == 0
    assert "skip giant" in out
    code, out, _ = run("bench", "--help")
    assert code == 0
    assert all(name in out for name in ("bfs", "cc", "report"))


def test_bench_cc_warms_up_before_it_times(small, run, monkeypatch):
    """What is compiled, mapped and cached by the first run of a variant is not in any time."""
    ran = []
    run_one, measure = Engine.run_internal, Engine.measure
    monkeypatch.setattr(Engine, "run_internal", lambda self, how: [ran.append("run"), run_one(self, how)][1])
    monkeypatch.setattr(Engine, "measure", lambda self, *a, **k: [ran.append("measure"), measure(self, *a, **k)][1])
    code, _, _ = run("bench", "cc", "--algorithm", "sv", "--trials", 2)
    assert code == 0
    assert ran[:2] == ["run", "measure"]


def test_rows_that_are_none_are_refused(folder, run):
    (folder / "r.jsonl").write_text("{}\n")
    code, _, err = run("bench", "report", "r.jsonl", "-o", "r.html")
    assert code == 1
    assert "r.jsonl:1: no row of a bench" in err


def test_pictures_of_commands(small, run):
    for module in WITH_REPORT[1:]:
        pytest.importorskip(module, reason="the extra `plot` is not installed")
    assert run("bfs", "--source", 10, "--plot", "b.svg")[0] == 0
    assert "vertices expanded" in (small / "b.svg").read_text()
    assert run("cc", "--plot", "c.png")[0] == 0
    assert (small / "c.png").read_bytes().startswith(b"\x89PNG")
    assert run("info", "graph.csrbin", "--plot", "i.svg")[0] == 0
    assert "degree" in (small / "i.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("bfs", "--source", 10, "--plot", "a.jpg"), 2, "a picture is .svg or .png"),
        (("bfs", "--source", 10, "--source", 40, "--plot", "a.svg"), 2, "one run, and 2 sources"),
        (("cc", "--plot", "none/a.svg"), 1, "does not exist"),
        (("info", "graph.csrbin", "--plot", "a.html"), 2, "a picture is .svg or .png"),
    ],
)
def test_pictures_that_cannot_be_drawn(small, run, arguments, code, says):
    found, _, err = run(*arguments)
    assert (found, says in err) == (code, True), err


@pytest.mark.parametrize("arguments", [("bfs", "--source", 10), ("cc",), ("info", "graph.csrbin")])
def test_a_missing_extra_is_named(small, run, monkeypatch, arguments):
    monkeypatch.setattr("bigbfs.report.pictures.find_spec", lambda name: None)
    code, _, err = run(*arguments, "--plot", "a.svg")
    assert (code, "pip install 'bigbfs[plot]'" in err) == (2, True)
