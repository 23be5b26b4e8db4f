"""Fuzz the tokenizer, the readers, the decompressors and the opener of graph files for as long as you like.

    python tools/fuzz.py --seconds 600                    # every target in turn, by random mutation
    python tools/fuzz.py --target container --seconds 60
    python tools/fuzz.py --engine atheris --seconds 600   # guided by coverage (pip install atheris)

What each target promises is in tests/fuzzing/targets.py; tests/test_fuzz.py runs the same for some seconds, and every
input of tests/fuzzing/corpus for ever. An input that breaks a promise is written to ``--found``; the exit code is 1.
With NUMBA_BOUNDSCHECK=1 an index out of bounds in a kernel is an error too. ``--engine atheris`` runs the kernels as
Python (NUMBA_DISABLE_JIT=1), so that their branches count as coverage; what it discovers is kept in ``--keep``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "fuzzing" / "corpus"
NAMES = ("tokenizer", "reader", "decompressor", "container")


def main() -> int:
    """Fuzz what the command line names; 1 where something was found."""
    options = _options()
    sys.path.insert(0, str(ROOT / "tests"))
    warnings.simplefilter("error")
    if options.engine == "atheris":
        return _atheris(options)
    broken = 0
    for name in options.target or NAMES:
        broken += _mutate(name, options, options.seconds / len(options.target or NAMES))
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", choices=NAMES, help="default: all, one after the other")
    parser.add_argument("--seconds", type=float, default=60.0, help="of all targets together")
    parser.add_argument("--seed", type=int, default=0, help="0: another one every time")
    parser.add_argument("--engine", choices=("mutation", "atheris"), default="mutation")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for inputs that break a promise")
    parser.add_argument("--keep", type=Path, help="folder for inputs that reach something new (atheris)")
    return parser.parse_args()


def corpus(name: str) -> list[bytes]:
    """Return the seeds and the kept inputs of a target."""
    from fuzzing.seeds import seeds

    return seeds(name) + [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


def _mutate(name: str, options: argparse.Namespace, seconds: float) -> int:
    """Run mutations of the corpus through one target; return how many broke a promise."""
    from fuzzing import targets
    from fuzzing.mutation import mutated

    seed = options.seed or random.SystemRandom().randrange(2**32)
    chance = random.Random(seed)
    pool = corpus(name)
    runs = broken = 0
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        while time.monotonic() < end:
            data = mutated(chance.choice(pool), chance.choice(pool), chance)
            runs += 1
            try:
                targets.run(name, data, Path(folder))
            except Exception:
                broken += 1
                _report(name, data, options.found)
    print(f"{name}: {runs:,} executions in {seconds:.0f} s (seed {seed}), {broken} broke a promise", flush=True)
    return broken


def _report(name: str, data: bytes, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    print(f"{path}: breaks a promise of {name}\n{traceback.format_exc()}", file=sys.stderr, flush=True)


def _atheris(options: argparse.Namespace) -> int:
    """Run one target under atheris, which ends the process itself."""
    if not options.target or len(options.target) != 1:
        sys.exit("fuzz: --engine atheris takes exactly one --target")
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    import atheris

    warnings.filterwarnings("ignore", message="overflow encountered in scalar")  # kernels count modulo 2**64
    with atheris.instrument_imports(include=["bigbfs"]):
        from fuzzing import targets
    name = options.target[0]
    keep = options.keep or Path(tempfile.mkdtemp(prefix="bigbfs-fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    for data in corpus(name):
        (keep / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
    folder = Path(tempfile.mkdtemp(prefix="bigbfs-fuzz-"))

    def once(data: bytes) -> None:
        try:
            targets.run(name, data, folder)
        except Exception:
            _report(name, data, options.found)
            raise

    limits = [f"-max_total_time={int(options.seconds)}", "-max_len=8192", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], *limits, str(keep)], once)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
