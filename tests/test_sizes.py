import random

import pytest

from bigbfs import sizes
from bigbfs.conversion.memory import require
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.sizes import format_size, free_memory, need_of, parse_size, size_allowed, size_needed


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("123", 123),
        ("6GiB", 6 * 2**30),
        ("6G", 6 * 2**30),
        ("6gi", 6 * 2**30),
        ("6GB", 6_000_000_000),
        ("5.8GiB", int(5.8 * 2**30)),
        (" 1.5 KiB ", 1536),
        ("2TiB", 2 * 2**40),
        ("10b", 10),
    ],
)
def test_parse(text, count):
    assert parse_size(text) == count


def test_parse_percentage_of_a_whole():
    assert parse_size("70%", 1000) == 700


@pytest.mark.parametrize("text", ["101%", "200%", "100.5 %"])
def test_more_than_everything_is_no_limit(text):
    with pytest.raises(UsageError, match=f"'{text}' is more than there is"):
        parse_size(text, 1000)
    assert parse_size("100%", 1000) == 1000


@pytest.mark.parametrize("text", ["", "GiB", "six", "-1", "1e9", "6 XB", "50%", "1,5G", "0x10", "nan", "9" * 400])
def test_refuse(text):
    with pytest.raises(UsageError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1000, "1,000 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (28 << 20, "28 MiB"),
        (1010 << 20, "1,010 MiB"),
        ((1 << 30) - 1, "1 GiB"),
        (9.02e9, "8.4 GiB"),
        (2.5 * 2**40, "2.5 TiB"),
        (2.0**55, "32,768 TiB"),
    ],
)
def test_format(count, text):
    assert format_size(count) == text


def _bytes(text: str) -> int:
    return parse_size(text.replace(",", ""))


@pytest.mark.parametrize(
    "limit", [0, 5, 999, 1000, 1023, 1024, 1029, 10_239, 1_023_999, 1_048_575, 143_654_912, 10**12, 2**55]
)
@pytest.mark.parametrize("more", [1, 2, 3, 1000, 2**20])
def test_a_limit_that_is_too_small_never_looks_like_what_is_needed(limit, more):
    need, most = size_needed(limit + more), size_allowed(limit)
    assert need != most
    assert _bytes(need) >= limit + more > limit
    assert _bytes(most) <= limit
    assert _bytes(need) <= (limit + more) * 1.011 + 1
    assert _bytes(most) >= limit / 1.011 - 1
    assert need_of(limit + more, limit) == f"{need} of {most}"


def test_what_fits_is_rounded_to_the_nearest():
    assert need_of(1_433_000, 1_434_000) == "1.37 MiB of 1.37 MiB"


def test_random_sizes_are_rounded_the_way_they_should_be():
    state = random.Random(1)
    for _ in range(20_000):
        count = int(2 ** (50 * state.random()))
        assert _bytes(size_allowed(count)) <= count <= _bytes(size_needed(count))
        assert size_needed(count + 1) != size_allowed(count)


def test_free_memory_is_plausible():
    assert 2**20 < free_memory() < 2**50


def test_a_share_is_offered_only_where_it_can_be_given():
    with pytest.raises(UsageError, match=r"GB\)$"):
        parse_size("50%")
    with pytest.raises(UsageError, match="or a %"):
        parse_size("half", 1000)


def test_files_in_the_cache_of_a_cgroup_leave_memory_free(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 100000\ninactive_file 700000\nactive_file 100000\n")
    monkeypatch.setattr(sizes, "CGROUP", tmp_path)
    assert free_memory() == 900_000
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() > 2**20


@pytest.mark.parametrize("place", ["memory", "memory/a", "memory/a/b", "a", "a/b", "unified/a/b"])
def test_the_limit_of_every_group_above_counts(tmp_path, monkeypatch, place):
    """Of both versions; of one that holds a container, whose path is the host's, what is mounted at the top."""
    monkeypatch.setattr(sizes, "CGROUP", tmp_path)
    groups = b"4:memory,hugetlb:/a/b\n2:cpu:/c\n0::/a/b\n"
    read = sizes.small_file
    monkeypatch.setattr(sizes, "small_file", lambda path: groups if path == "/proc/self/cgroup" else read(path))
    group = tmp_path / place
    group.mkdir(parents=True)
    first = "memory" in place
    limit, use, before = ("limit_in_bytes", "usage_in_bytes", "total_") if first else ("max", "current", "")
    (group / f"memory.{limit}").write_text("1000000\n")
    assert free_memory() == sizes.total_memory() == 1_000_000
    (group / f"memory.{use}").write_text("900000\n")
    (group / "memory.stat").write_text(f"rss 100000\n{before}inactive_file 600000\n{before}active_file 100000\n")
    assert free_memory() == 800_000
    (group / f"memory.{limit}").write_text("9223372036854771712\n" if first else "max\n")
    assert free_memory() > 2**20


def test_a_refusal_names_two_sizes_that_differ():
    with pytest.raises(DoesNotFitError) as refused:
        require(143_700_000, 143_690_000)  # both 137 MiB, to the nearest
    assert "takes about 138 MiB of memory, and 137 MiB may be used" in str(refused.value)
