"""What a process gets: the least of the quotas of its control groups, of either version."""

import pytest

from bigbfs.jit import processors
from bigbfs.jit.workers import held_to, thread_count


@pytest.mark.parametrize(
    ("lines", "files", "share"),
    [
        ("0::/a/b", {"a/b/cpu.max": "150000 100000"}, 1.5),
        ("0::/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "400000 100000", "cpu.max": "900000 100000"}, 4),
        ("0::/host/path", {"cpu.max": "50000 100000"}, 0.5),
        ("0::/", {"unified/cpu.max": "300000 100000"}, 3),
        (
            "4:cpu,cpuacct:/x\n0::/",
            {"cpu,cpuacct/x/cpu.cfs_quota_us": "-1", "cpu,cpuacct/x/cpu.cfs_period_us": "1"},
            None,
        ),
        ("4:cpu:/x\n2:memory:/y", {"cpu/x/cpu.cfs_quota_us": "25000", "cpu/x/cpu.cfs_period_us": "10000"}, 2.5),
        ("0::/", {"cpu.max": "much 0"}, None),
        ("0::/", {}, None),
    ],
)
def test_quota(tmp_path, lines, files, share):
    (tmp_path / "cgroup").write_text(lines + "\n")
    for name, text in files.items():
        (tmp_path / "fs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "fs" / name).write_text(text + "\n")
    assert processors.quota(tmp_path, tmp_path / "fs") == share


def test_no_control_groups(tmp_path):
    assert processors.quota(tmp_path, tmp_path) is None


@pytest.mark.parametrize(("allowed", "share", "threads"), [(8, None, 8), (8, 1.5, 2), (8, 0.2, 1), (2, 7.5, 2)])
def test_a_part_of_a_processor_counts_as_one(monkeypatch, allowed, share, threads):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(allowed)))
    monkeypatch.setattr(processors, "quota", lambda *places: share)
    assert processors.processors.__wrapped__() == threads


def test_threads_are_held_to_a_number_inside():
    before = thread_count()
    with held_to(7):
        assert thread_count() == 7
        with held_to(None):
            assert (thread_count(), thread_count(3)) == (7, 3)
    assert thread_count() == before
