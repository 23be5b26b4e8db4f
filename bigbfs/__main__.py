"""``bigbfs`` and ``python -m bigbfs``: the command line, all of whose imports may be interrupted already."""

import sys
from typing import NoReturn

from bigbfs.cli import interrupts


def run() -> int:
    """Run the command line and return its exit code."""
    from bigbfs.cli import main

    return main.run()


def main() -> NoReturn:
    """Console script: run and exit."""
    code = 1
    try:
        code = interrupts.guarded(run)
    except SystemExit as stop:  # of a library: ours are exit codes
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception:
        import traceback

        who = ""
        if "bigbfs.engines.ranks.launch" in sys.modules:
            from bigbfs.engines.ranks import launch

            who = launch.speaker()
        print(f"{who}{traceback.format_exc()}", end="", file=sys.stderr, flush=True)  # in one piece
    if code or "bigbfs.engines.ranks.mpi" in sys.modules:  # else this process is not one of several, or has left them
        from bigbfs.engines.ranks import launch

        launch.leave(code)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
