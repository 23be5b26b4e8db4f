import pytest

from bigbfs import sizes
from bigbfs.errors import UsageError
from bigbfs.sizes import format_size, free_memory, parse_size


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
