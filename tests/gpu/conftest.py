"""Everything in this folder needs a CUDA device: without one each test is skipped, with the reason.

There are thousands of them. Where the whole folder is asked for and there is no device, those of one file stand for
all: to collect and skip the others takes longer than many a suite.
"""

from pathlib import Path

import pytest

from bigbfs.errors import NoDeviceError

HERE = Path(__file__).parent
SHOWN = "test_gpu_large.py"


def _reason():
    """Return what is missing for a GPU to be used; None if nothing is."""
    from bigbfs.engines.gpu.runtime import device

    try:
        device.probe()
    except NoDeviceError as error:
        return str(error)
    return None


REASON = _reason()
collect_ignore = [path.name for path in HERE.glob("test_*.py") if REASON and path.name != SHOWN]


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.gpu)
            if REASON:
                item.add_marker(pytest.mark.skip(reason=f"no usable GPU ({HERE.name}/test_*.py): {REASON}"))
