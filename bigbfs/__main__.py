"""``bigbfs`` and ``python -m bigbfs``: the command line, all of whose imports may be interrupted already."""

from __future__ import annotations

import _signal  # what `signal` puts around it takes two milliseconds to import, and Ctrl-C may come in them
import gc
import os
import sys
from contextlib import suppress

TYPE_CHECKING = False  # typing's, which takes ten
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: there is nothing yet that could be left half-done."""
    if number == _signal.SIGINT:  # of the others nobody is there to be told
        with suppress(OSError):
            os.write(2, b"bigbfs: error: interrupted\n")
    os._exit(128 + number)


for _number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
    # a launcher that passes a signal on tells a rank that died of it from one that ended with its exit code
    if _signal.getsignal(_number) in (_signal.default_int_handler, _signal.SIG_DFL):
        with suppress(ValueError):  # not the main thread: somebody else's program, whose signals are its own
            _signal.signal(_number, _end)

from bigbfs.cli import interrupts  # noqa: E402 - after the signal


def run() -> int:
    """Run the command line and return its exit code."""
    gc.disable()  # nothing that is imported is garbage; the command is told to look for it again
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads, of no use here, take 0.05 s to start
    from bigbfs.cli import starting

    code = starting.start(sys.argv[1:])
    if code is not None:
        return code
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

        launch.leave(launch.end_together(code) if code in interrupts.CODES else code)
    if code in interrupts.CODES and "bigbfs.engines.ranks.mpi" not in sys.modules:
        interrupts.leave(code)
    gc.freeze()  # all that is left ends with the process: looking for garbage in it takes 0.06 s
    raise SystemExit(code)


if __name__ == "__main__":
    main()
