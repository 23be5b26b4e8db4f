"""What every test shares: the folder of real graphs, a browser, a hypothesis profile that allows for compilation."""

import gc
import os
import shutil
import signal
from pathlib import Path

import numba
import pytest
from cpu_seconds import CpuSeconds
from emulated.table import pytest_runtest_logreport, pytest_terminal_summary  # noqa: F401  (hooks: the table of builds)
from hypothesis import HealthCheck, settings
from shares import share_of
from wide import deal, mark_covered

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
    if config.option.cpu is not None:
        config.pluginmanager.register(CpuSeconds(Path(config.option.cpu).absolute()))
    if numba.config.DISABLE_JIT:
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    """``--share 1/3``: the first third of what is chosen; the other thirds have the rest."""
    parser.addoption("--share", type=share_of, metavar="I/K", help="run share I of K of what is chosen")
    parser.addoption("--cpu", metavar="FILE", help="append the CPU seconds of each test to FILE, as JSON")


LONGEST = (
    "test_networkx_own_tests_on_hundreds", "test_kernels_sanitized", "test_every_size_and_more_ranks",
    "test_zoo_generated_and_files_agree", "tools/test_site",
)  # fmt: skip
"""Parts of the names of tests of half a minute and more, the longest first."""


def leave_out(config, items, number, shares):
    """Leave out what is not in share ``number`` of ``shares``."""
    dealt = deal([item.nodeid for item in items], shares)
    config.hook.pytest_deselected(items=[item for item, share in zip(items, dealt, strict=True) if share != number])
    items[:] = [item for item, share in zip(items, dealt, strict=True) if share == number]


def pytest_collection_finish(session):
    """Look for garbage less often, and not among all that is collected: compiling makes so many objects, which stay,
    that a tenth of the time went into it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 30)


class Backwards(pytest.Dir):
    """A folder whose last file is collected first."""

    def collect(self):
        return reversed(list(super().collect()))


def pytest_collect_directory(path, parent):
    """Every other process begins at the end: of files that nobody has compiled, each then compiles half."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    if int(worker.removeprefix("gw")) % 2 and not (path / "__init__.py").exists():
        return Backwards.from_parent(parent, path=path)
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Before anything is left out: the same order in all processes, and what of a cross product is not in the core."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.path)
    mark_covered(items)
    yield
    arrange(config, items)


def arrange(config, items):
    """The longest first: at the end, one process would run them while the others have nothing left to do.

    xdist hands each process a stretch of an eighth (of two) at first: each stretch begins with its share of them.
    """
    if config.option.share is not None:
        leave_out(config, items, *config.option.share)
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    rank = {item: next((k for k, part in enumerate(LONGEST) if part in item.nodeid), None) for item in items}
    longest = sorted((item for item in items if rank[item] is not None), key=rank.__getitem__)
    rest = [item for item in items if rank[item] is None]
    stretch = len(items) // processes // 4
    for number in range(processes):
        mine = longest[number::processes]
        rest[number * stretch : number * stretch] = mine
    items[:] = rest
