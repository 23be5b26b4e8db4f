"""Fuzz the tokenizer, the readers, the decompressors and the opener of graph files for as long as you like.

    python tools/fuzz.py --seconds 600 --jobs 16          # every target in turn, by random mutation
    python tools/fuzz.py --target container --seconds 60
    python tools/fuzz.py --engine atheris --seconds 600   # guided by coverage (pip install atheris)

What each target promises is in tests/fuzzing/targets.py; tests/fuzzing/test_fuzz.py runs the same for a minute, and
every input of tests/fuzzing/corpus for ever. An input that breaks a promise, or ends the process, is written to
``--found``; the exit code is 1 then. Every job is a process with a seed of its own. At the end: for each target the
executions, the seconds, the jobs and what was found. With NUMBA_BOUNDSCHECK=1 an index out of bounds in a kernel is an
error too. ``--engine atheris`` runs the kernels as Python (NUMBA_DISABLE_JIT=1), so that their branches count as
coverage; what it discovers is kept in ``--keep`` (one folder a target), of which tools/fuzz_corpus.py takes what is
worth keeping.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "fuzzing" / "corpus"
NAMES = ("tokenizer", "reader", "decompressor", "container")
LONGEST = 8192
"""Bytes of an input that atheris makes."""
MOST_MEMORY = 4096
"""MiB that a process of atheris may take: more is a finding."""


@dataclass(frozen=True)
class Outcome:
    """What all jobs did with one target: executions, seconds of the slowest job, inputs that broke a promise."""

    target: str
    runs: int
    seconds: float
    findings: int


def main() -> int:
    """Fuzz what the command line names; 1 where something was found."""
    options = _options()
    targets = options.target or NAMES
    cores = len(os.sched_getaffinity(0))
    os.environ.setdefault("NUMBA_NUM_THREADS", str(max(1, cores // options.jobs)))
    if options.worker:
        return _atheris_worker(options)
    options.seed = options.seed or random.SystemRandom().randrange(1, 2**31)
    options.found.mkdir(parents=True, exist_ok=True)
    engine = _atheris if options.engine == "atheris" else _mutations
    print(f"{options.engine}, {options.jobs} jobs, seeds from {options.seed} on", flush=True)
    outcomes = [engine(name, options, options.seconds / len(targets)) for name in targets]
    print(f"{'target':<13}{'executions':>12}{'seconds':>9}{'jobs':>6}{'findings':>10}")
    for done in outcomes:
        print(f"{done.target:<13}{done.runs:>12,}{done.seconds:>9.0f}{options.jobs:>6}{done.findings:>10}")
    if not any(options.found.iterdir()):
        options.found.rmdir()
    return 1 if any(done.findings for done in outcomes) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", choices=NAMES, help="default: all, one after the other")
    parser.add_argument("--seconds", type=float, default=60.0, help="of all targets together")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--seed", type=int, default=0, help="of the first job; 0: another one every time")
    parser.add_argument("--engine", choices=("mutation", "atheris"), default="mutation")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for inputs that break a promise")
    parser.add_argument("--keep", type=Path, help="folder for inputs that reach something new (atheris)")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def corpus(name: str) -> list[bytes]:
    """Return the seeds and the kept inputs of a target."""
    from fuzzing.seeds import seeds

    return seeds(name) + [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


def digest(data: bytes) -> str:
    """Return the name of an input."""
    return hashlib.sha256(data).hexdigest()[:12]


def _mutations(name: str, options: argparse.Namespace, seconds: float) -> Outcome:
    """Run mutations of the corpus through one target, in processes: one that a kernel kills is a finding."""
    context = multiprocessing.get_context("spawn")
    done: SimpleQueue[tuple[int, float, int]] = context.SimpleQueue()
    crashes = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as temporary:
        folders = [Path(temporary) / str(job) for job in range(options.jobs)]
        jobs = []
        for number, folder in enumerate(folders):
            folder.mkdir()
            arguments = (name, options.seed + number, seconds, folder, options.found, done)
            jobs.append(context.Process(target=_mutate, args=arguments))
            jobs[-1].start()
        for job, folder in zip(jobs, folders, strict=True):
            job.join()
            if job.exitcode:
                crashes += 1
                last = folder / "input"
                data = last.read_bytes() if last.exists() else b""
                _report(name, data, options.found, f"the process ended with {job.exitcode}\n")
        results = [done.get() for job in jobs if job.exitcode == 0]
    runs, broken = sum(result[0] for result in results), sum(result[2] for result in results)
    return Outcome(name, runs, max((result[1] for result in results), default=0.0), broken + crashes)


def _mutate(
    name: str, seed: int, seconds: float, folder: Path, found: Path, done: SimpleQueue[tuple[int, float, int]]
) -> None:
    """Be one job: put (executions, seconds, inputs that broke a promise) into ``done``."""
    sys.path.insert(0, str(ROOT / "tests"))
    warnings.simplefilter("error")
    from fuzzing import targets
    from fuzzing.mutation import mutated

    chance = random.Random(seed)
    pool = corpus(name)
    last, work = folder / "input", folder / "work"
    work.mkdir()

    def holds(data: bytes) -> bool:
        last.write_bytes(data)
        try:
            targets.run(name, data, work)
        except Exception:
            _report(name, data, found, traceback.format_exc())
            return False
        return True

    broken = sum(not holds(data) for data in pool)  # compiles what is to be compiled, too
    runs, begin = len(pool), time.monotonic()
    while time.monotonic() < begin + seconds:
        broken += not holds(mutated(chance.choice(pool), chance.choice(pool), chance))
        runs += 1
    done.put((runs, time.monotonic() - begin, broken))


def _report(name: str, data: bytes, folder: Path, why: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{digest(data)}"
    path.write_bytes(data)
    print(f"{path}: breaks a promise of {name}\n{why}", file=sys.stderr, flush=True)


def _atheris(name: str, options: argparse.Namespace, seconds: float) -> Outcome:
    """Run one target under atheris, in processes that share what they discover."""
    keep = (options.keep or Path(tempfile.mkdtemp(prefix="bigbfs-fuzz-"))) / name
    keep.mkdir(parents=True, exist_ok=True)
    before = set(options.found.iterdir())
    shared = ["--engine", "atheris", "--worker", "--target", name, "--seconds", str(seconds)]
    command = [sys.executable, __file__, *shared, "--found", str(options.found), "--keep", str(keep)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    begin = time.monotonic()
    jobs = [
        subprocess.Popen(
            [*command, "--seed", str(options.seed + number)], env=environment, stderr=subprocess.PIPE, text=True
        )
        for number in range(options.jobs)
    ]
    runs = failed = 0
    for job in jobs:
        _, says = job.communicate()
        counted = re.search(r"^Done (\d+) runs", says, re.MULTILINE)
        runs += int(counted[1]) if counted else 0
        if job.returncode:
            failed += 1
            print(says[-5000:], file=sys.stderr, flush=True)
    findings = len(set(options.found.iterdir()) - before)
    print(f"{name}: inputs that reach something new are in {keep}", flush=True)
    return Outcome(name, runs, time.monotonic() - begin, max(findings, failed))


def _atheris_worker(options: argparse.Namespace) -> int:
    """Be one process of atheris, which ends it itself."""
    import atheris

    sys.path.insert(0, str(ROOT / "tests"))
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message="overflow encountered in scalar")  # kernels count modulo 2**64
    with atheris.instrument_imports(include=["bigbfs"]):
        from fuzzing import targets
    (name,) = options.target
    for data in corpus(name):
        (options.keep / digest(data)).write_bytes(data)
    folder = Path(tempfile.mkdtemp(prefix="bigbfs-fuzz-"))

    def once(data: bytes) -> None:
        try:
            targets.run(name, data, folder)
        except Exception:
            _report(name, data, options.found, traceback.format_exc())
            raise

    limits = [f"-max_total_time={int(options.seconds)}", f"-max_len={LONGEST}", f"-rss_limit_mb={MOST_MEMORY}"]
    more = [f"-seed={options.seed}", f"-artifact_prefix={options.found}/"]
    atheris.Setup([sys.argv[0], *limits, *more, str(options.keep)], once)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
