"""The profiler's table, as `ncu --csv --page raw` prints it, and what becomes of it."""

import profile_kernels as tool
import pytest

from bigbfs.errors import FormatError

HEAD = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size"]
HEAD += ["Device", "CC", *tool.METRICS.values()]
UNITS = [""] * 11 + ["ns", "register/thread", "%", "%", "byte", "byte", "%", "byte", "%", "%", "inst"]


def line(values):
    return ",".join(f'"{value}"' for value in values)


def launch(number, kernel, time, achieved, read="1,000"):
    fixed = [number, "77", "python3", "127.0.0.1", kernel, "1", "7", "(256, 1, 1)", "(132, 1, 1)", "0", "9.0"]
    return line([*fixed, time, "32", "100", achieved, read, "24", "12.5", "4,096", "25", "50", "300"])


LOG = "\n".join(
    [
        "==PROF== Connected to process 77 (/usr/bin/python3.12)",
        '==PROF== Profiling "expand" - 0: 0%....50%....100% - 3 passes',
        "reached 12 vertices",
        "==PROF== Disconnected from process 77",
        line(HEAD),
        line(UNITS),
        launch(0, "expand(Search)", "3,000", "60"),
        launch(1, "cupy_fill__uint32", "10", "5"),
        launch(2, "contract", "1,000", "20", read="n/a"),
        launch(3, "expand", "1,000", "20"),
    ]
)


def test_a_log_becomes_launches_without_units_and_thousands():
    found = tool.parse(LOG)
    assert [each["kernel"] for each in found] == ["expand", "cupy_fill__uint32", "contract", "expand"]
    assert found[0]["nanoseconds"] == 3000
    assert found[0]["l2_bytes"] == 4096
    assert found[2]["dram_read"] is None


def test_launches_go_to_their_strategies_and_shares_are_of_the_time():
    order = [("two-phase", "expand"), ("two-phase", "contract"), ("two-phase-raw", "expand")]
    rows = tool.summed(tool.attribute(tool.parse(LOG), order))
    assert [(row["strategy"], row["kernel"], row["launches"]) for row in rows] == [(*pair, 1) for pair in order]
    assert rows[1]["dram_read"] is None
    one = tool.summed(tool.attribute(tool.parse(LOG), [("two-phase", "expand")] * 2))
    assert one[0]["launches"] == 2
    assert one[0]["nanoseconds"] == 4000
    assert one[0]["dram_read"] == 2000
    assert one[0]["achieved"] == pytest.approx((3000 * 60 + 1000 * 20) / 4000)


def test_a_launch_that_was_not_profiled_is_missed():
    with pytest.raises(FormatError, match="has not seen 1 of 2 launches"):
        tool.attribute(tool.parse(LOG), [("queue", "expand"), ("queue", "expand_queue")])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - no permission", "ERR_NVGPUCTRPERM"),
        ('"ID","Kernel Name","Section Name","Metric Name"\n', "ask for --page raw"),
    ],
)
def test_a_log_without_the_table_says_why(text, said):
    with pytest.raises(FormatError, match=said):
        tool.parse(text)


# What ncu 2025 printed on an H200 for a run that was interrupted: columns that nobody asked for, a line of units, no
# order of launches. Most columns and launches are left out.
REAL = """==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be inconsistent.
==PROF== Connected to process 7575 (/usr/bin/python3.12)
==PROF== Trying to shutdown target application
==ERROR== Failed to profile "begin_levels" in process 7575
==ERROR== An error occurred while trying to profile.
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","device__attribute_display_name","dram__bytes_read.avg","dram__bytes_read.sum","dram__bytes_write.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","launch__registers_per_thread","lts__t_bytes.sum","lts__throughput.avg.pct_of_peak_sustained_elapsed","sm__maximum_warps_per_active_cycle_pct","sm__throughput.avg.pct_of_peak_sustained_elapsed","sm__warps_active.avg.pct_of_peak_sustained_active","smsp__inst_executed.sum"
"","","","","","","","","","","","","byte","byte","byte","%","ns","register/thread","byte","%","%","%","%","inst"
"0","7575","python3.12","127.0.0.1","bfs_traverse","1","7","(1024, 1, 1)","(132, 1, 1)","0","9.0","NVIDIA H200","130,880","6,282,240","256","1.15","113,248","64","34,677,696","4.27","50","6.27","49.98","7,294,379"
"1","7575","python3.12","127.0.0.1","bfs_count","1","7","(256, 1, 1)","(1024, 1, 1)","0","9.0","NVIDIA H200","44,144","2,118,912","14,336","5.17","8,608","20","4,141,440","7.87","100","8.02","81.28","679,936"
"4","7575","python3.12","127.0.0.1","begin_levels","1","7","(256, 1, 1)","(1024, 1, 1)","0","9.0","NVIDIA H200","90.67","4,352","0","0.03","2,720","24","9,217,376","20.41","100","19.42","74.89","472,077"
"143","7575","python3.12","127.0.0.1","expand_contract","1","7","(256, 1, 1)","(32, 1, 1)","0","9.0","NVIDIA H200","25,685.33","1,232,896","256","2.88","8,928","55","2,475,648","5.43","50","1.56","12.49","139,451"
"145","7575","python3.12","127.0.0.1","count_levels","1","7","(256, 1, 1)","(1024, 1, 1)","0","9.0","NVIDIA H200","65,616","3,149,568","0","4.01","16,352","19","5,648,608","6.03","100","53.86","92.88","5,343,600"
"146","7575","python3.12","127.0.0.1","begin_levels","1","7","(256, 1, 1)","(1024, 1, 1)","0","9.0","NVIDIA H200","90.67","4,352","0","0.03","2,720","24","9,217,376","20.41","100","19.42","74.89","472,077"
"""  # noqa: E501


def test_a_log_that_was_cut_off_keeps_the_strategies_that_were_seen_whole():
    launches = tool.parse(REAL)
    assert {each["device"] for each in launches} == {"NVIDIA H200"}
    rows = tool.summed(tool.inferred(launches, ["auto", "expand-contract", "queue"]))
    assert [row["strategy"] for row in rows] == ["auto"] * 2 + ["expand-contract"] * 3
    assert rows[0]["nanoseconds"] == 113248
    assert rows[3] == {
        "strategy": "expand-contract", "kernel": "expand_contract", "launches": 1, "nanoseconds": 8928,
        "dram_read": 1232896, "dram_write": 256, "l2_bytes": 2475648, "instructions": 139451, "registers": 55,
        "theoretical": 50, "achieved": 12.49, "dram": 2.88, "l2": 5.43, "compute": 1.56,
    }  # fmt: skip


def test_a_log_of_other_strategies_is_refused():
    with pytest.raises(FormatError, match="expand_contract is no kernel of queue"):
        tool.inferred(tool.parse(REAL), ["auto", "queue"])
