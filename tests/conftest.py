"""What every test shares: the folder of real graphs, a browser, a hypothesis profile that allows for compilation."""

import os
import shutil
import signal
from pathlib import Path

import numba
import pytest
from emulated.table import pytest_runtest_logreport, pytest_terminal_summary  # noqa: F401  (hooks: the table of builds)
from hypothesis import HealthCheck, settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

settings.register_profile(
    "bigbfs",
    deadline=None,  # the first example of a kernel compiles it
    max_examples=25,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("bigbfs")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real graphs: BIGBFS_DATA, or shared/data beside the repository."""
    folder = Path(os.environ.get("BIGBFS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real graphs: {folder} is no folder (set BIGBFS_DATA)")
    return folder


@pytest.fixture(scope="module")
def browser():
    """A browser without a window."""
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        pytest.skip(f"no browser here: none of {', '.join(BROWSERS)}")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield window
        window.close()


def pytest_configure(config):
    """Kernels that run as Python overflow, which is meant: they count modulo 2**64.

    Where the suite runs in the background, interrupts are ignored, and what it starts would inherit that.
    """
    if numba.config.DISABLE_JIT:
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """The long suites first: at the end, one process would run them while the others have nothing left to do."""
    items.sort(key=lambda item: "test_kernels_sanitized" not in item.nodeid)
