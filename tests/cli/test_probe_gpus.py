"""``bigbfs probe --gpus``: what is refused, what is written beside what stands in a profile, and who reads it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bigbfs.algorithms.bfs.gpu.peers import measure
from bigbfs.cli import probe
from bigbfs.cli import ranks as ranks_of
from bigbfs.config import GpuLinks, RankRates, find_profile, profile_text, rates_text, read_profile
from bigbfs.engines.gpu.ranks import devices
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.ranks.threads import run as run_ranks

LINKS = GpuLinks("two of a kind", 2, 1, 123e9, 124e9, 1e-6, 9e-6)


def one_of_two(monkeypatch: pytest.MonkeyPatch, given: list[Any]) -> None:
    """Let this process be the first of two ranks with GPUs, whose links are as ``LINKS`` says."""
    monkeypatch.setattr(device, "count", lambda: 2)
    monkeypatch.setattr(devices, "own_gpu", lambda *_: SimpleNamespace(close=lambda: given.append("closed")))

    def measured(runtime: Any, group: Any, before: GpuLinks, **how: Any) -> GpuLinks:
        given.append((before, how["sizes"]))
        how["progress"]("a line")
        return replace(LINKS, host_nccl_call_seconds=before.host_nccl_call_seconds)

    monkeypatch.setattr(measure, "measure", measured)
    group = run_ranks(2, lambda group: group)[0]

    class Joined:
        def __init__(self, asked: ranks_of.Ranks, where: dict[str, Any]) -> None:
            assert asked.gpus is not None and not where

        def __enter__(self) -> Any:
            return group

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(probe.ranks_of, "joined", Joined)


@pytest.mark.parametrize("gpus", ["all", 1, 2])
def test_without_a_gpu(run: Any, monkeypatch: pytest.MonkeyPatch, gpus: object) -> None:
    monkeypatch.setattr(device, "count", lambda: 0)
    code, _, err = run("probe", "--gpus", gpus)
    assert code == 4 and "leave --gpus out and measure processes on CPUs with --ranks" in err
    assert "--backend" not in err


def test_fewer_gpus_than_asked_for(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "count", lambda: 2)
    code, _, err = run("probe", "--gpus", 3)
    assert code == 2 and "3 GPUs asked for, and this process sees 2" in err and "use --gpus 2" in err


@pytest.mark.parametrize("gpus", ["all", 1])
def test_one_gpu_has_no_other(run: Any, monkeypatch: pytest.MonkeyPatch, gpus: object) -> None:
    monkeypatch.setattr(device, "count", lambda: 1)
    code, _, err = run("probe", "--gpus", gpus)
    assert code == 2 and "one has no other; leave it out to measure that one" in err


def test_two_ways_at_once(run: Any) -> None:
    code, _, err = run("probe", "--gpus", 2, "--ranks", 2)
    assert code == 2 and "give one of them" in err
    code, _, err = run("probe", "--gpus", "some")
    assert code == 2 and "neither a number above 0 nor 'all'" in err


def test_printed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    one_of_two(monkeypatch, given)
    code, out, err = run("probe", "--gpus", "all", "--device-bytes", "64MiB")
    assert code == 0 and "[gpus]" in out and "meeting_seconds = 9e-06" in out and "a line" in err
    assert given == [(GpuLinks(), measure.Sizes(device=64 << 20)), "closed"]
    code, out, err = run("probe", "--gpus", 2, "--json")
    assert code == 0 and json.loads(out)["gpus"]["peer_bytes_per_second"] == 123e9


@pytest.mark.parametrize("before", ["device", "device and ranks", "ranks", "gpus", "nothing"])
def test_what_else_stands_there_stays(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """The table is written, or replaced; what one machine does not say of several is kept."""
    one_of_two(monkeypatch, [])
    laptop, ranks = read_profile(find_profile("laptop-6gb")), RankRates("some ranks", 3)
    kept = GpuLinks("before", host_nccl_call_seconds=0.5)
    texts = {
        "device": profile_text(laptop, "a device"),
        "device and ranks": profile_text(replace(laptop, ranks=ranks), "both"),
        "ranks": rates_text(ranks),
        "gpus": rates_text(kept),
    }
    if before != "nothing":
        (folder / "my.toml").write_text(texts[before])
        assert run("probe", "--gpus", 2, "-o", "my.toml")[0] == 2
    code, out, _ = run("probe", "--gpus", 2, "-o", "my.toml", "--force")
    assert code == 0 and "bigbfs plan --gpus N --profile my.toml" in out
    found = read_profile(folder / "my.toml")
    expected = replace(LINKS, host_nccl_call_seconds=0.5) if before == "gpus" else LINKS
    assert found.gpus == expected
    assert found.name == (laptop.name if "device" in before else "NVIDIA H200")
    assert found.ranks == (ranks if "ranks" in before else None)
