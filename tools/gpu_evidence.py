"""Run the GPU tests on a real device and write down what was run: tests/gpu/evidence.json.

In: tests/gpu, the kernels, a device. Out: device, driver, CuPy, date, hash of the sources that a GPU vouches for
(gpu_sources.py), tests passed, failed and skipped, and what compute-sanitizer said (tools/sanitize_gpu.py). The
ordinary test run compares the hash with the sources that it sees (tests/tools/test_evidence.py), so that no kernel
changes without a run on a GPU.
Exit code 0: all passed; 1: something failed; 2: pytest arguments without another --output; 4: no usable GPU. Nothing
is written in the last two cases, nor when pytest did not get to the end.

    python tools/gpu_evidence.py [--jobs N] [--output FILE [pytest arguments]] [--no-sanitizer]

With --jobs the tests run in N processes, and compute-sanitizer beside them; those marked ``alone``, which look at the
memory of the whole device, run by themselves afterwards.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
TESTS = REPOSITORY / "tests" / "gpu"
EVIDENCE = TESTS / "evidence.json"
WAIVED = TESTS / "WAIVED"
SCHEMA = 1
QUIETLY = (str(TESTS), "-q", "-p", "no:cacheprovider", "-p", "no:benchmark")
TO_THE_END = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}

for folder in (REPOSITORY / "tools", REPOSITORY):  # the package need not be installed
    sys.path.insert(0, str(folder))

from gpu_sources import hash_of_sources  # noqa: E402
from sanitize_gpu import run_all  # noqa: E402

from bigbfs.errors import NoDeviceError  # noqa: E402


class Counts:
    """A pytest plug-in that counts outcomes, one for each test."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the outcome; a failure in any phase is a failure."""
        if report.when == "call" or report.outcome != "passed":
            worst = self.outcomes.get(report.nodeid)
            self.outcomes[report.nodeid] = "failed" if "failed" in (worst, report.outcome) else report.outcome

    def totals(self) -> dict[str, int]:
        """Return passed, failed and skipped."""
        found = Counter(self.outcomes.values())
        return {name: found[name] for name in ("passed", "failed", "skipped")}


def describe_device() -> dict[str, Any]:
    """Return device, driver and CuPy.

    Raises
    ------
    NoDeviceError
        There is no usable GPU.
    """
    from bigbfs.engines.gpu.runtime import device

    info = device.probe()
    import cupy  # the tool runs on a machine with a GPU, where the probe has just imported it

    return {
        "device": info.name,
        "compute_capability": ".".join(map(str, info.capability)),
        "driver": _driver_version(),
        "driver_cuda": info.driver,
        "runtime_cuda": int(cupy.cuda.runtime.runtimeGetVersion()),
        "cupy": cupy.__version__,
    }


def _driver_version() -> str:
    """Return the driver's own version, which CUDA does not tell."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def objection(evidence: Path, waived: Path, expected: str) -> tuple[bool, str]:
    """Return whether the evidence is good for sources of hash ``expected``, and a line that says why or why not."""
    if waived.exists():
        digest, _, reason = waived.read_text().strip().partition(" ")
        if digest == expected and reason.strip():
            return True, f"WAIVED: no run on a GPU vouches for these sources: {reason.strip()}"
    if not evidence.exists():
        return False, f"{evidence.name} is missing: run `make test-gpu` on a machine with a GPU"
    found = json.loads(evidence.read_text())
    if found.get("sources") != expected:
        return False, (
            f"kernels or gpu/ have changed since the run on {found.get('device')} of {found.get('date')} (sources "
            f"{str(found.get('sources'))[:12]}, now {expected[:12]}): run `make test-gpu` on a machine with a GPU, or "
            f"write '{expected} REASON' to tests/gpu/{waived.name}"
        )
    if found.get("failed") != 0 or not found.get("passed"):
        return False, f"the run of {found.get('date')}: {found.get('passed')} passed, {found.get('failed')} failed"
    if not set(found.get("compute_sanitizer", {}).values()) <= {"clean", "not installed"}:
        return False, f"the run of {found.get('date')}: compute-sanitizer is not clean, {found['compute_sanitizer']}"
    return True, f"{found['passed']} tests on {found['device']}, {found['date']}"


def main(arguments: list[str] | None = None) -> int:
    """Run the tests and write the evidence; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, default=EVIDENCE)
    parser.add_argument("--no-sanitizer", action="store_true", help="leave compute-sanitizer out")
    parser.add_argument("--jobs", type=int, default=1, help="processes that run tests")
    options, rest = parser.parse_known_args(arguments)
    if rest and options.output == EVIDENCE:
        parser.error(f"with pytest arguments ({' '.join(rest)}) not all tests may run: name another --output FILE")
    try:
        device = describe_device()
    except NoDeviceError as error:
        print(f"no usable GPU: {error}", file=sys.stderr)
        return 4
    counts = Counts()
    start = time.perf_counter()
    with ThreadPoolExecutor(1) as beside:
        said = beside.submit(dict if options.no_sanitizer else run_all)
        # at once: a run may be cut off
        said.add_done_callback(lambda done: print(f"compute-sanitizer: {done.result()}", flush=True))
        many = str(options.jobs if options.jobs > 1 else 0)
        codes = [pytest.main([*QUIETLY, "-m", "not alone", "-n", many, *rest], plugins=[counts])]
        sanitizer: dict[str, str] = said.result()
    codes.append(pytest.main([*QUIETLY, "-m", "alone", "-n", "0", *rest], plugins=[counts]))
    if not {codes[0]} <= TO_THE_END or not {codes[1]} <= {*TO_THE_END, pytest.ExitCode.NO_TESTS_COLLECTED}:
        print(f"pytest did not get to the end (exit codes {codes}): nothing is written", file=sys.stderr)
        return 1
    evidence = {
        "schema": SCHEMA,
        **device,
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sources": hash_of_sources(),
        **counts.totals(),
        "compute_sanitizer": sanitizer,
        "seconds": round(time.perf_counter() - start, 1),
    }
    options.output.write_text(json.dumps(evidence, indent=2) + "\n")
    print(f"{options.output}:\n{options.output.read_text()}")
    failed = evidence["failed"] or not evidence["passed"] or "errors" in sanitizer.values()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
