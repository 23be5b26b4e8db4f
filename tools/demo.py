"""``make demo``: generate a Kronecker graph as text, convert it, traverse it, verify everything, print the tables.

Runs the same command lines that a user would type, in the folder demo/, and shows each before its output.
"""

import argparse
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(line: str, folder: Path) -> None:
    """Print and run one bigbfs command line in ``folder``; stop the demo if it fails."""
    print(f"\n$ bigbfs {line}", flush=True)
    start = time.perf_counter()
    code = subprocess.run([sys.executable, "-m", "bigbfs", *shlex.split(line)], cwd=folder, check=False).returncode
    if code:
        sys.exit(f"demo: `bigbfs {line}` ended with exit code {code}")
    print(f"({time.perf_counter() - start:.1f} s in all)", flush=True)


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=18, help="log2 of the vertices of the Kronecker graph")
    parser.add_argument("--folder", type=Path, default=ROOT / "demo", help="where the files go")
    arguments = parser.parse_args()
    scale, folder = arguments.scale, arguments.folder
    folder.mkdir(exist_ok=True)
    name = f"kron{scale}"
    run(f"generate kronecker --scale {scale} --edge-factor 16 --seed 1 -o {name}.txt", folder)
    run(f"convert {name}.txt --compressed --force", folder)
    run(f"info {name}.csrbin", folder)
    for flag in ("", "--compressed "):
        run(f"bfs {name}.csrbin {flag}--sources random:8 --verify", folder)
        run(f"cc {name}.csrbin {flag}--afforest --verify", folder)
    print(f"\ndemo: every result above is verified; the graph files are in {folder}")


if __name__ == "__main__":
    main()
