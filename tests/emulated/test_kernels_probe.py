"""The kernels of `bigbfs probe`, emulated: what they read is what they should, and a profile comes out of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bigbfs.config import find_profile, profile_text, read_profile
from bigbfs.engines.gpu import rates
from bigbfs.engines.gpu.rates import LINE, Sizes, measure
from bigbfs.engines.gpu.runtime.arguments import BLOCK
from bigbfs.errors import ConfigError, DeviceError, UsageError
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()


def kernel(runtime, name):
    (spec,) = (spec for spec in rates.KERNELS if spec.name == name)
    return spec.build(runtime, np.dtype(np.uint32), "plain")


def scatter(x):
    """The scramble of probe_link.cu."""
    x = x.astype(np.uint64)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor) & np.uint64(2**32 - 1)
    return x


@pytest.mark.parametrize("units", [0, 1, 255, 1024, 3 * 256 * 4 + 5])
@pytest.mark.parametrize("build", HERE)
def test_every_unit_is_read_once(build, units):
    runtime = SimtRuntime(build=build)
    data = np.random.default_rng(units).integers(0, 2**32, 4 * units, dtype=np.uint32)
    total = runtime.zeros(1, np.uint64)
    kernel(runtime, "read_units")(3, BLOCK, (runtime.upload(data), np.uint64(units), total))
    assert int(total[0]) == int(data.sum(dtype=np.uint64))


@pytest.mark.parametrize(("window", "per_window"), [(1, 1), (4, 1), (64, 1), (16, 4), (100, 25), (128, 100)])
@pytest.mark.parametrize("build", HERE)
def test_lines_are_drawn_from_their_windows(build, window, per_window):
    runtime = SimtRuntime(build=build)
    lines = 256
    data = np.random.default_rng(7).integers(0, 2**32, (lines, LINE // 4), dtype=np.uint32)
    count = lines // window * per_window
    k = np.arange(count)
    chosen = k // per_window * window + (scatter(k) * np.uint64(window) >> np.uint64(32)).astype(np.int64)
    assert (chosen // window == k // per_window).all()
    if per_window == 1:
        assert (np.diff(chosen) > 0).all(), "ascending"
    total = runtime.zeros(1, np.uint64)
    arguments = (runtime.upload(data.ravel()), np.uint64(window), np.uint64(per_window), np.uint64(count), total)
    kernel(runtime, "read_lines")(2, BLOCK, arguments)
    assert int(total[0]) == int(data[chosen].sum(dtype=np.uint64))


@pytest.mark.parametrize("build", HERE)
def test_a_copy_is_whole(build):
    runtime = SimtRuntime(build=build)
    data = np.arange(4 * 1003, dtype=np.uint32)
    target = runtime.empty(len(data), np.uint32)
    kernel(runtime, "copy_units")(2, BLOCK, (runtime.upload(data), target, np.uint64(1003)))
    np.testing.assert_array_equal(target, data)


@pytest.mark.parametrize("rounds", [0, 1, 6, 7])
@pytest.mark.parametrize("build", HERE)
def test_blocks_meet_as_often_as_asked(build, rounds):
    runtime = SimtRuntime(build=build)
    word = runtime.zeros(1, np.uint32)
    kernel(runtime, "meet")(3, 64, (word, np.uint64(rounds)))
    assert int(word[0]) == (rounds % 2) << 31


class Timed(SimtRuntime):
    """A device on which every launch takes a millisecond."""

    def timer(self):
        return Millisecond()


class Millisecond:
    seconds = 1e-3

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize("build", HERE[:1])
def test_a_profile_comes_out(build, tmp_path, monkeypatch):
    monkeypatch.setattr(rates, "WINDOWS", (1 << 13, 1 << 14, 1 << 30))
    said = []
    profile = measure(Timed(build=build), 123 << 20, Sizes(host=1 << 16, device=1 << 12, rounds=10), said.append)
    assert (profile.name, profile.memory_bytes, profile.multiprocessors) == ("emulated GPU", 123 << 20, 3)
    assert profile.memory_bytes_per_second == pytest.approx(2 * (1 << 12) / 1e-3)
    assert profile.link_bytes_per_second == pytest.approx((1 << 16) / 1e-3)
    assert profile.barrier_seconds == pytest.approx(1e-4)
    ascending = [rate for rate in profile.line_rates if rate.pattern == "ascending"]
    assert [(rate.every, rate.lines_per_second) for rate in ascending] == [
        (every, pytest.approx(512 // every / 1e-3)) for every in rates.EVERY
    ]
    windows = [rate.window_bytes for rate in profile.line_rates if rate.pattern == "random"]
    assert windows == [1 << 13, 1 << 14]
    assert profile.link_random_lines_per_second == pytest.approx(512 / 4 / 1e-3)
    assert len(said) == 2 + 1 + len(rates.EVERY) + 2
    path = tmp_path / "made.toml"
    path.write_text(profile_text(profile, "made by a test"))
    again = read_profile(path)
    assert again.link_bytes_per_second == pytest.approx(profile.link_bytes_per_second, rel=1e-3)
    assert profile_text(again, "made by a test") == path.read_text()


@pytest.mark.parametrize("build", HERE[:1])
def test_a_rate_of_something_else_is_no_rate(build, monkeypatch):
    runtime = Timed(build=build)
    monkeypatch.setattr(np, "ones", lambda count, dtype: np.full(count, 2, dtype))
    with pytest.raises(DeviceError, match="read a sum of"):
        measure(runtime, 1 << 20, Sizes(host=1 << 14, device=1 << 12, rounds=2))


@pytest.mark.parametrize("build", HERE[:1])
def test_the_mapping_is_taken_back_whatever_happens(build, monkeypatch):
    runtime, closed = Timed(build=build), []
    kept = runtime.map

    def spy(array):
        mapping = kept(array)
        close = mapping.close
        mapping.close = lambda: (closed.append(1), close())
        return mapping

    def interrupted(*_):
        raise KeyboardInterrupt

    runtime.map = spy
    monkeypatch.setattr(rates._Bench, "lines", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(runtime, 1 << 20, Sizes(host=1 << 14, device=1 << 12, rounds=2))
    assert closed == [1]


@pytest.mark.parametrize("name", ["h200", "laptop-6gb"])
def test_packaged_profiles_read_and_write(name, tmp_path):
    profile = read_profile(find_profile(name))
    assert 1 < profile.memory_bytes_per_second / profile.link_bytes_per_second < 1000
    path = tmp_path / "copy.toml"
    path.write_text(profile_text(profile, "copy"))
    assert read_profile(path) == profile
    assert replace(profile, name="other") != profile


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("barrier_seconds", "barier_seconds"), "unknown key 'barier_seconds'; did you mean 'barrier_seconds'"),
        (("barrier_seconds = 1.5e-06", "barrier_seconds = 0.0"), "barrier_seconds is 0.0; it must be more than 0"),
        (("multiprocessors = 132", "multiprocessors = 1.5"), "key 'multiprocessors' is 1.5; it must be int"),
        (('pattern = "random"', 'pattern = "sideways"'), "line rate 1: pattern is 'sideways'"),
        (("window_bytes", "window"), "line rate 1: unknown key 'window'; did you mean 'window_bytes'"),
        (("[[line_rates]]", "[line_rates]"), "it must be .*line_rates.* tables|not TOML"),
    ],
)
def test_a_profile_that_is_none(tmp_path, change, message):
    path = tmp_path / "bad.toml"
    text = profile_text(read_profile(find_profile("h200")), "bad")
    assert change[0] in text
    path.write_text(text.replace(*change))
    with pytest.raises(ConfigError, match=message):
        read_profile(path)


def test_a_whole_number_is_a_rate_too(tmp_path):
    path = tmp_path / "whole.toml"
    text = profile_text(read_profile(find_profile("h200")), "whole")
    path.write_text(text.replace("link_bytes_per_second = 5.14e+10", "link_bytes_per_second = 51_400_000_000"))
    assert read_profile(path).link_bytes_per_second == 51.4e9


def test_profiles_are_found_by_name_or_path(tmp_path):
    assert find_profile("h200").name == "device-h200.toml"
    assert find_profile(str(tmp_path / "mine.toml")) == tmp_path / "mine.toml"
    with pytest.raises(UsageError, match=r"no device profile 'h300'.*h200, laptop-6gb"):
        find_profile("h300")
