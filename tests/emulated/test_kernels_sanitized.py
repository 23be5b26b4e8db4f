"""The suites of the emulated kernels once more in processes of their own, under the sanitizers.

The address sanitizer's library must be loaded before Python, so each build is a pytest run with LD_PRELOAD. A report
of a sanitizer is a failed test there (emulated/loader.py), and all of it is shown here.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest
from wide import split

from emulated.builds import missing
from emulated.runtime import BUILD_VARIABLE, sanitizer_environment
from emulated.table import TABLE_VARIABLE

HERE = Path(__file__).parent
PARTS = {
    "engine": ("test_kernels_engine.py", "test_kernels_standby.py", "test_kernels_local.py", "test_kernels_thin.py"),
    "strategies": ("test_kernels_strategies.py", "test_kernels_windows.py"),
    "streamed": ("test_kernels_streamed.py", "test_kernels_many_streamed.py"),
    "far rows": ("test_kernels_far_rows.py", "test_kernels_far_forests.py"),
    "peers": (
        "test_kernels_peers.py",
        "test_kernels_whole.py",
        "test_kernels_whole_marks.py",
        "test_kernels_letters.py",
        "test_kernels_wake.py",
        "test_kernels_lost.py",
        "test_kernels_probe_peers.py",
    ),
    "hosts": ("test_kernels_hosts.py",),
    "joint": ("test_kernels_joint.py", "test_kernels_far.py", "test_kernels_whole_components.py"),
    "topological": (
        "test_kernels_topological.py",
        "test_kernels_many.py",
        "test_kernels_many_full.py",
        "test_kernels_many_memory.py",
        "test_kernels_many_numbered.py",
        "test_kernels_sweeps.py",
    ),
    "components": ("test_kernels_components.py",),
    "emulation": ("test_emulation.py",),
    "placement": (
        "test_kernels_rows.py",
        "test_kernels_probe.py",
        "test_kernels_heads.py",
        "test_kernels_prove.py",
        "test_kernels_own.py",
        "test_kernels_mapped.py",
        "test_kernels_renumbered.py",
    ),
}
"""The suites that share a process."""
# the emulation first: in a process with threads of other suites, asan does not survive the signal that stops a kernel
SUITES = sorted(
    (suite for suites in PARTS.values() for suite in suites), key=lambda suite: suite != "test_emulation.py"
)
NO_RANDOM_ADDRESSES = 0x0040000  # personality(2)

pytestmark = pytest.mark.skipif(BUILD_VARIABLE in os.environ, reason="already inside a sanitizer's process")


def fixed_addresses():
    """Old thread sanitizers refuse the address layout of kernels that randomize more bits."""
    ctypes.CDLL(None).personality(NO_RANDOM_ADDRESSES)


def run(build, folder, *arguments):
    if missing(build):
        pytest.skip(missing(build))
    environment = sanitizer_environment(build, folder)
    environment[TABLE_VARIABLE] = str(folder / "table.json")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    return subprocess.run(
        command,
        env=environment,
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=fixed_addresses if build == "tsan" else None,
    )


def test_every_suite_of_the_emulation_runs_under_the_sanitizers():
    there = {path.name for path in HERE.glob("test_kernels_*.py")} | {"test_emulation.py"}
    assert set(SUITES) == there - {Path(__file__).name}


def check(build, suites, chosen, folder, record_property):
    """Run what the marker expression ``chosen`` leaves of ``suites``.

    Of that, what names the build: other tests launch kernels of the plain build, or none, whatever the process is.
    """
    arguments = ("-m", chosen, "-k", build, *(str(HERE / suite) for suite in suites))
    done = run(build, folder, *arguments)
    for _ in range(3):
        silent = done.returncode == 0 and "passed" not in done.stdout
        if not (silent or "Sanitizer failed to allocate" in done.stdout):
            break
        # a sanitizer may end its process in the middle, without a word (a report has another exit code) or with one
        # of memory, for the machine's sake and no kernel's
        done = run(build, folder, *arguments)
    table = folder / "table.json"
    if table.exists():
        record_property(TABLE_VARIABLE, table.read_text())
    last = done.stdout.strip().splitlines()[-1:] or [""]
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    assert "passed" in last[0], last


# Each process takes seconds to begin, so that one does where it may; but what the thread sanitizer keeps of every fiber
# makes whatever comes after a suite of many threads several times as slow.
CORE = [("asan", "all of them"), ("asan", "components"), *(("tsan", part) for part in PARTS)]


def in_core(build, part):
    """Return whether ``make test`` has it: the suite whose races are planted shows that the sanitizer works."""
    return (build, part) == ("tsan", "emulation")


@pytest.mark.parametrize(("build", "part"), split(CORE, in_core))
def test_the_core_under(build, part, tmp_path, record_property):
    check(build, PARTS.get(part, SUITES), "not wide", tmp_path, record_property)


@pytest.mark.wide
@pytest.mark.parametrize("part", [part for part in PARTS if part != "emulation"])  # of which nothing is left
@pytest.mark.parametrize("build", ["tsan", "asan"])
def test_the_rest_under(build, part, tmp_path, record_property):
    check(build, PARTS[part], "wide", tmp_path, record_property)
