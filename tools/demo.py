"""``make demo``: generate a Kronecker graph as text, convert it, traverse it, verify everything, print the tables.

Runs the same command lines that a user would type, in the folder demo/, and shows each before its output.
"""

import argparse
import shlex
import subprocess
import sys
import time
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent / "demo"


def run(line: str) -> None:
    """Print and run one bigbfs command line in demo/; stop the demo if it fails."""
    print(f"\n$ bigbfs {line}", flush=True)
    start = time.perf_counter()
    code = subprocess.run([sys.executable, "-m", "bigbfs", *shlex.split(line)], cwd=DEMO, check=False).returncode
    if code:
        sys.exit(f"demo: `bigbfs {line}` ended with exit code {code}")
    print(f"({time.perf_counter() - start:.1f} s in all)", flush=True)


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=18, help="log2 of the vertices of the Kronecker graph")
    scale = parser.parse_args().scale
    DEMO.mkdir(exist_ok=True)
    name = f"kron{scale}"
    run(f"generate kronecker --scale {scale} --edge-factor 16 --seed 1 -o {name}.txt")
    run(f"convert {name}.txt --compressed --force")
    run(f"info {name}.csrbin")
    for flag in ("", "--compressed "):
        run(f"bfs {name}.csrbin {flag}--sources random:8 --verify")
        run(f"cc {name}.csrbin {flag}--afforest --verify")
    print(f"\ndemo: every result above is verified; the graph files are in {DEMO.name}/")


if __name__ == "__main__":
    main()
