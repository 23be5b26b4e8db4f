"""Print the name of the CuPy extra that fits this machine's NVIDIA driver (cuda13, cuda12), or nothing.

Runs with any Python before anything is installed: standard library only. Driver branch 580 is the first of CUDA 13,
525 the first of CUDA 12 (NVIDIA's CUDA compatibility table).
"""

import re
import sys
from pathlib import Path


def extra(driver_text: str) -> str:
    """Return the extra for the text of /proc/driver/nvidia/version, "" where the driver is too old."""
    match = re.search(r"(?:Kernel Module|Open Kernel Module).*?\s(\d{3,})\.\d+", driver_text)
    if not match:
        return ""
    branch = int(match[1])
    return "cuda13" if branch >= 580 else "cuda12" if branch >= 525 else ""


if __name__ == "__main__":
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
    except OSError:
        sys.exit(0)  # no driver here
    print(extra(text))
