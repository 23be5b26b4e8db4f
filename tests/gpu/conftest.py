"""Everything in this folder needs a CUDA device: without one each test is skipped, with the reason."""

from pathlib import Path

import pytest

from bigbfs.errors import NoDeviceError

HERE = Path(__file__).parent


def _reason():
    """Return what is missing for a GPU to be used; None if nothing is."""
    from bigbfs.engines.gpu.runtime import device

    try:
        device.probe()
    except NoDeviceError as error:
        return str(error)
    return None


def pytest_collection_modifyitems(items):
    ours = [item for item in items if HERE in Path(item.path).parents]
    reason = _reason() if ours else None
    for item in ours:
        item.add_marker(pytest.mark.gpu)
        if reason:
            item.add_marker(pytest.mark.skip(reason=f"no usable GPU: {reason}"))
