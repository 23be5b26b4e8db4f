"""plan, probe, and the budgets of bfs and cc, without a GPU: from profiles, and on a device that is only pretended."""

import json
from types import SimpleNamespace

import pytest

from bigbfs import generate
from bigbfs.config import find_profile, read_profile
from bigbfs.engines.gpu import engine
from bigbfs.engines.gpu.placement import renumbered
from bigbfs.engines.gpu.placement.ledger import PLACES
from bigbfs.engines.gpu.runtime import device
from bigbfs.errors import NoDeviceError
from bigbfs.graph.graph import Graph

KEYS = {
    *("schema", "command", "graph", "device", "device_origin", "residency", "why", "head_groups", "hot_bytes"),
    *("limits", "totals", "buffers", "floors"),
}


@pytest.fixture
def graph(folder):
    """g.csrbin in the working folder."""
    generate.graph("kronecker", scale=10, seed=1).save(folder / "g.csrbin")
    return folder / "g.csrbin"


@pytest.fixture
def no_gpu(monkeypatch):
    def probe():
        raise NoDeviceError("none")

    monkeypatch.setattr(device, "probe", probe)


def test_the_ledger_for_a_profile(run, graph, no_gpu):
    code, out, err = run("plan", "g.csrbin", "--profile", "laptop-6gb")
    assert code == 0, err
    assert "RTX 3060" in out
    assert "vram: " in out and "the first that fits" in out
    lines = [line.split() for line in out.splitlines()]
    assert {"indptr", "indices", "heads", "queue", "levels", "parents"} <= {line[0] for line in lines if line}
    floors = [line for line in lines if line[:1] in (["bfs,"], ["cc"])]
    # milliseconds and GTEPS come before the bytes that hold them
    assert [float(line[2 if line[0] == "bfs," else 1]) > 0 for line in floors] == [True] * 3


def test_json_object(run, graph, no_gpu):
    code, out, err = run("plan", "--json", "--residency", "mapped", "--ram-budget", "1GiB", "--vram-budget", "10MB")
    assert code == 0, err
    result = json.loads(out)
    assert set(result) == KEYS
    assert (result["command"], result["residency"], result["graph"]["path"]) == ("plan", "mapped", "g.csrbin")
    assert result["limits"] == {"vram": 10_000_000, "ram": 2**30}
    assert "no GPU is usable here" in result["device_origin"] and result["device"] == "NVIDIA H200"
    sums = dict.fromkeys(PLACES, 0)
    for buffer in result["buffers"]:
        assert set(buffer) == {"name", "bytes", "where", "purpose"}
        sums[buffer["where"]] += buffer["bytes"]
    assert sums == result["totals"]
    assert sums["vram"] <= 10_000_000 and sums["mapped"] > 0
    assert [item["work"] for item in result["floors"]] == ["bfs, auto", "bfs, topdown", "cc"]


def test_a_plan_for_the_device_that_is_here(run, graph, monkeypatch):
    info = SimpleNamespace(name="NVIDIA Test", free_bytes=300 << 20, registers_read_only=False)
    monkeypatch.setattr(device, "probe", lambda: info)
    code, out, err = run("plan", "--residency", "mapped", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["device"] == "NVIDIA Test" and "found here" in result["device_origin"]
    assert result["limits"]["vram"] == 150 << 20
    assert result["totals"]["pinned"] > 0 == result["totals"]["mapped"]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--vram-budget", "1kB"], 5, "--vram-budget"),
        (["--residency", "mapped", "--ram-budget", "1kB"], 5, "--ram-budget"),
        (["--profile", "h300"], 2, "no device profile 'h300'"),
        (["--profile", "gone.toml"], 1, "gone.toml: cannot read"),
        (["--profile", "bad.toml"], 1, "unknown key 'link_bytes'; did you mean"),
        (["--residency", "cloud"], 2, "cloud"),
        (["gone.csrbin"], 1, "gone.csrbin: cannot open"),
    ],
)
def test_bad_lines(run, graph, no_gpu, folder, arguments, code, text):
    (folder / "bad.toml").write_text(find_profile("h200").read_text().replace("link_bytes_per_second", "link_bytes"))
    got, out, err = run("plan", *arguments)
    assert (got, out) == (code, "")
    assert text in err and "Traceback" not in err


def test_probe_without_a_gpu(run, folder, monkeypatch):
    from bigbfs.engines.gpu.runtime import cuda

    def probe(index):
        raise NoDeviceError("no NVIDIA driver is loaded")

    monkeypatch.setattr(cuda, "probe", probe)
    code, out, err = run("probe", "--output", "mine.toml")
    assert (code, out) == (4, "")
    assert "no NVIDIA driver" in err
    assert not list(folder.iterdir())
    assert run("probe", "--output", "no/such/mine.toml")[0] == 1


def test_probe_writes_a_profile_that_plan_takes(run, graph, monkeypatch):
    from bigbfs.engines.gpu import rates
    from bigbfs.engines.gpu.runtime import cuda

    made = read_profile(find_profile("laptop-6gb"))
    asked = []

    def measure(runtime, memory_bytes, sizes, progress):
        asked.append((memory_bytes, sizes.host, sizes.device))
        progress("link 1 B/s")
        return made

    closed = []
    info = SimpleNamespace(total_bytes=123, driver=13000)
    monkeypatch.setattr(cuda, "CudaRuntime", lambda: SimpleNamespace(info=info, close=lambda: closed.append(1)))
    monkeypatch.setattr(rates, "measure", measure)
    code, out, err = run("probe", "-o", "mine.toml", "--host-bytes", "1GiB", "--device-bytes", "1MiB")
    assert code == 0, err
    assert "--profile mine.toml" in out and "link 1 B/s" in err
    assert asked == [(123, 2**30, 2**20)] and closed == [1]
    assert read_profile("mine.toml") == made
    assert run("plan", "--profile", "mine.toml")[0] == 0
    code, out, _ = run("probe", "--json")
    assert json.loads(out)["profile"]["name"] == made.name
    code, out, _ = run("probe")
    assert out.splitlines()[1] == f'name = "{made.name}"'


@pytest.mark.parametrize("command", [["bfs", "--source", "0"], ["cc"]])
@pytest.mark.parametrize("budget", [["--vram-budget", "1kB"], ["--residency", "mapped", "--ram-budget", "1kB"]])
def test_a_run_that_cannot_fit_ends_before_it_starts(run, graph, monkeypatch, command, budget):
    """With exit code 5, the ledger and what helps: the plan's own words, because it is the same plan."""
    closed = []
    pretended = SimpleNamespace(
        name="pretended",
        sm_count=1,
        team=64,
        registers_read_only=True,
        free_bytes=lambda: 1 << 30,
        synchronize=lambda: None,
        close=lambda: closed.append(1),
    )
    monkeypatch.setattr(engine, "cuda_runtime", lambda limit: pretended)
    code, out, err = run(*command, "--backend", "gpu", *budget)
    assert (code, out) == (5, "")
    assert "indptr" in err and "what helps: " in err and closed == [1]
    planned = run("plan", "--profile", "h200", *budget)
    assert (planned[0], planned[2].splitlines()[-1].replace(", or use", ", use") + ", or use --backend cpu") == (
        5,
        err.splitlines()[-1],
    )


def test_a_profile_changes_costs_and_no_answer(run, graph, monkeypatch):
    """What bfs is told about the device arrives at the engine."""
    from bigbfs.engines.gpu.engine import GpuEngine

    seen = {}

    def stop(self, graph, **options):
        seen.update(options)
        raise NoDeviceError("far enough")

    monkeypatch.setattr(GpuEngine, "__init__", stop)
    arguments = ["--backend", "gpu", "--profile", "laptop-6gb", "--ram-budget", "1GiB", "--vram-budget", "2GiB"]
    assert run("bfs", "--source", "0", *arguments)[0] == 4
    assert seen["profile"] == read_profile(find_profile("laptop-6gb"))
    assert (seen["ram_budget"], seen["vram_budget"]) == (1 << 30, 2 << 30)


def test_many_searches_on_cpus(run, graph):
    code, out, err = run("plan", "g.csrbin", "--searches", "all", "--memory", "1MiB", "--threads", 2)
    assert code == 0, err
    lines = [line.split() for line in out.splitlines()]
    assert {"bits", "queues", "collected", "heads"} <= {line[0] for line in lines if line}
    assert [line[0] for line in lines if line and line[0].isdecimal()] == ["32", "64", "128", "256", "512"]
    assert "1,024, for closeness; 1 MiB of memory may be used" in out and "512 at once: 2 batches, about" in out
    code, out, err = run("plan", "--searches", "100", "--collect", "distances", "--memory", "300KiB", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert set(found) == {
        *("schema", "command", "graph", "device", "searches", "collect", "memory_limit", "width", "memory", "widths"),
        "notes",
    }
    assert (found["searches"], found["width"], found["memory_limit"]) == (100, 32, 300 << 10)
    assert [each["batches"] for each in found["widths"]] == [4, 2, 1, 1, 1]
    batch = sum(item["bytes"] for item in found["memory"] if item["name"] != "heads")
    assert batch == found["widths"][0]["bytes"] <= 300 << 10 < found["widths"][1]["bytes"]
    assert all(each["seconds"] > 0 and each["passes"] > 1 for each in found["widths"])


def test_many_searches_on_a_gpu_in_the_widest_batches_that_fit(run, graph, no_gpu):
    code, out, err = run("plan", "g.csrbin", "--searches", "all", "--residency", "streamed", "--vram-budget", "1MiB")
    assert code == 0, err
    assert "1,024, for closeness: 512 at once, 2 batches" in out and "streamed" in out and "wanted" in out
    found = []
    for arguments in (["100"], ["100", "--collect", "distances"], ["1000", "--vram-budget", "500KiB"]):
        code, out, err = run(
            "plan", "--residency", "streamed", "--json", "--vram-budget", "2MiB", "--searches", *arguments
        )
        assert code == 0, err
        found.append(json.loads(out))
    assert [(each["searches"], each["collect"]) for each in found] == [
        *((100, "closeness"), (100, "distances"), (1_000, "closeness"))
    ]
    assert (found[0]["width"], found[0]["batches"], found[0]["residency"]) == (100, 1, "streamed")
    assert found[2]["width"] < 512 and found[2]["batches"] == -(-1_000 // found[2]["width"])
    assert found[2]["totals"]["vram"] <= 500 << 10


def test_a_plan_of_many_searches_counts_the_vertices_that_have_numbers(run, graph, no_gpu, monkeypatch):
    vertices = []
    for smallest in (1 << 20, 1):
        monkeypatch.setattr(renumbered, "SMALLEST", smallest)
        for residency in ("vram", "streamed"):
            code, out, err = run("plan", "--residency", residency, "--json", "--searches", "all", "g.csrbin")
            assert code == 0, err
            sizes = {buffer["name"]: buffer["bytes"] for buffer in json.loads(out)["buffers"]}
            assert ("numbers" in sizes) == (smallest == 1 and residency == "vram")
            vertices.append(sizes["seen"] // 64)
    with Graph.open(graph) as opened:
        linked = int((opened.degrees() > 0).sum())
    assert 0 <= vertices[2] - linked < 8 and vertices[2] * 8 < vertices[0] * 7
    assert vertices[3] == vertices[1] == vertices[0], "streamed: of the file"


@pytest.mark.parametrize("where", [[], ["--residency", "streamed"]])
def test_no_more_searches_are_planned_than_there_are_vertices(run, graph, no_gpu, where):
    code, out, err = run("plan", "g.csrbin", "--searches", "1000000", "--json", *where)
    assert code == 0 and "--searches 1000000: only 1,024 vertices to search from" in err
    found = json.loads(out)
    assert found["searches"] == 1_024 and found["notes"] == [err.removeprefix("note: ").strip()]
    code, out, err = run("plan", "g.csrbin", "--searches", "1024", "--json", *where)
    assert (code, err) == (0, "") and json.loads(out)["searches"] == 1_024


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--searches", "none"], 2, "--searches 'none': write how many, or all"),
        (["--searches", "0"], 2, "write how many, or all"),
        (["--searches", "9", "--ranks", "2"], 2, "give one of them"),
        (["--searches", "9", "--residency", "mapped", "--memory", "1GiB"], 2, "--memory is for searches on CPUs"),
        (["--searches", "9", "--vram-budget", "1GiB", "--threads", "2"], 2, "--threads is for searches on CPUs"),
        (["--searches", "9", "--residency", "streamed", "--vram-budget", "100KiB"], 5, "does not fit"),
        (["--searches", "0", "--residency", "streamed"], 2, "write how many, or all"),
        (["--memory", "1GiB"], 2, "--memory goes with --searches; give that too"),
        (["--collect", "hops"], 2, "--collect goes with --searches; give that too"),
        (["--ranks", "2", "--memory", "1GiB"], 2, "--memory goes with --searches; give that too"),
        (["--searches", "9", "--hosts", "1"], 2, "--hosts goes with --ranks or --gpus; give that too"),
        (["--searches", "9", "--memory", "10KiB"], 5, "32 searches at once on 1,024 vertices take"),
    ],
)
def test_plans_of_many_searches_that_cannot_be(run, graph, arguments, code, text):
    found, out, err = run("plan", *arguments)
    assert (found, out) == (code, "") and text in err
