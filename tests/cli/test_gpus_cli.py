"""``bigbfs bfs`` and ``cc`` with ``--gpus``: what is refused before anything is started, and the way out."""

from __future__ import annotations

import pytest

from bigbfs.engines.gpu.runtime import device

COMMANDS = {"bfs": ("bfs", "graph.csrbin", "--source", 10), "cc": ("cc", "graph.csrbin")}


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest) -> tuple[object, ...]:
    """A command that takes ``--gpus``, with what it cannot do without."""
    return COMMANDS[request.param]


def there_are(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the driver see so many GPUs."""
    monkeypatch.setattr(device, "count", lambda: count)


@pytest.mark.parametrize(
    "more",
    [
        ("--gpus", 1),
        ("--gpus", 2),
        ("--gpus", "all"),
        ("--gpus", 2, "--backend", "gpu"),
        ("--gpus", 2, "--residency", "mapped", "--partition", "words", "-v"),
    ],
)
def test_without_a_gpu(run, small, command, monkeypatch, more):
    """The remedy is one that the same command takes: the CPU, and no --gpus."""
    there_are(0, monkeypatch)
    code, _, err = run(*command, *more)
    assert code == 4
    assert "GPU" in err or "NVIDIA" in err or "CuPy" in err
    assert "use --backend cpu and no --gpus" in err
    assert run(*command, "--backend", "cpu")[0] == 0


def test_without_the_option_the_cpu_is_named_alone(run, small, command):
    code, _, err = run(*command, "--backend", "gpu", "--threads", 2)
    assert code == 2
    assert "use --backend cpu" in err and "--gpus" not in err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--gpus", 0), "'0' is neither a number above 0 nor 'all'"),
        (("--gpus", -1), "'-1' is neither"),
        (("--gpus", "x"), "'x' is neither a number above 0 nor 'all'"),
        (("--gpus", 2, "--ranks", 2), "--gpus and --ranks each say how many processes there are; give one of them"),
        (("--gpus", "all", "--ranks", 1), "--gpus and --ranks each say"),
        (("--transport", "mpi"), "--transport is for ranks on GPUs; give --gpus too, or leave it out"),
        (("--ranks", 2, "--transport", "nccl"), "--transport is for ranks on GPUs"),
        (("--gpus", 2, "--backend", "cpu"), "--gpus and --backend cpu contradict each other; leave one of them out"),
        (("--gpus", 2, "--threads", 2), "--threads: CPU threads, and this run is on the GPU; leave it out, or use "),
        (("--gpus", 2, "--threads", 2), "use --backend cpu and no --gpus"),
        (("--gpus", 3), "3 GPUs asked for, and this process sees 2"),
        (("--gpus", 3), "; use --gpus 2"),
    ],
)
def test_what_gpus_do_not_go_with(run, small, command, monkeypatch, more, said):
    there_are(2, monkeypatch)
    code, _, err = run(*command, *more)
    assert code == 2
    assert said in err
    assert sorted(path.name for path in small.iterdir()) == ["graph.csrbin", "graph.txt"]


def test_an_exchange_that_is_of_no_use(run, small, command, monkeypatch):
    there_are(2, monkeypatch)
    code, _, err = run(*command, "--gpus", 2, "--exchange", "list")
    said = "components have one way to tell" if "cc" in command else "for GPUs with --transport nccl or mpi"
    assert code == 2 and said in err


def test_ranks_that_are_asked_for_on_a_gpu(run, small, command, monkeypatch):
    """What is named instead gets past this refusal."""
    there_are(0, monkeypatch)
    code, _, err = run(*command, "--ranks", 2, "--backend", "gpu")
    assert code == 2
    assert "use --gpus 2 in place of --ranks, or leave --backend gpu out" in err
    assert run(*command, "--gpus", 2, "--backend", "gpu")[0] == 4


def test_another_number_than_the_launcher_has_started(run, small, command, monkeypatch):
    there_are(4, monkeypatch)
    for name, value in (("PMI_RANK", "0"), ("PMI_SIZE", "2")):
        monkeypatch.setenv(name, value)
    code, _, err = run(*command, "--gpus", 3)
    assert code == 2
    assert "--gpus 3, and mpiexec (PMI) started 2; use --gpus all" in err
