"""What Numba's environment variables say, read without Numba.

Machine code is loaded without Numba only where nothing but these says how kernels run: any other variable of Numba's,
or a file of settings, leaves every kernel to Numba itself.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

KNOWN = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"}
"""Variables that loading without Numba heeds, or need not."""


@cache
def interpreted() -> bool:
    """Return whether kernels run as Python: NUMBA_DISABLE_JIT, which Numba reads for itself where there is doubt."""
    if "numba" in sys.modules or not _plain():
        import numba

        return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined] # made as variables are read
    return False


@cache
def _plain() -> bool:
    """Return whether no variable and no file says anything that is not known here."""
    given = {name for name in os.environ if name.startswith("NUMBA_")}
    return given <= KNOWN and not Path(".numba_config.yaml").exists()


@cache
def without_numba() -> bool:
    """Return whether kernels may be loaded without Numba: nobody else has imported it, and nothing is said against it.

    Where somebody has, its compiler is there already, and is asked.
    """
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    return (
        sys.platform == "linux" and "numba" not in sys.modules and _plain() and threads.isdecimal() and int(threads) > 0
    )


@cache
def most_threads() -> int:
    """Return how many threads parallel loops may have: NUMBA_NUM_THREADS, else the CPUs of this process."""
    if not without_numba():
        import numba

        return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined] # as above
    return int(os.environ.get("NUMBA_NUM_THREADS", "0")) or max(1, len(os.sched_getaffinity(0)))
