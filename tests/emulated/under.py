"""Run pytest under a sanitizer: ``python tests/emulated/under.py asan|tsan PYTEST_ARGUMENTS``."""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from emulated.runtime import sanitizer_environment


def main() -> int:
    """Return pytest's exit code."""
    if len(sys.argv) < 2 or sys.argv[1] not in ("asan", "tsan"):
        print(__doc__, file=sys.stderr)
        return 2
    build, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(command, env=sanitizer_environment(build, Path(folder)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
