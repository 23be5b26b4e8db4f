"""The layers: who may import whom, what the light paths must not load, and how fast help is."""

import subprocess
import sys
import time

import check_imports
import pytest


def test_no_import_points_the_wrong_way():
    assert check_imports.wrong_arrows() == []


@pytest.mark.parametrize(
    ("place", "text", "found"),
    [
        (
            "formats/bad.py",
            "def f():\n    from bigbfs.engines.cpu import CpuEngine\n",
            "bad.py:2: formats must not import cpu",
        ),
        ("cpu/bad.py", "from bigbfs import api\n", "bad.py:1: cpu must not import api"),
        ("cpu/bad.py", "from ..api import bfs\n", "bad.py:1: cpu must not import (relative"),
        ("cpu/bad.py", "import cupy as cp\n", "bad.py:1: only gpu/ may import cupy"),
        ("cli/bad.py", "from cupy.cuda import runtime\n", "only gpu/ may import cupy"),
        ("mystery/bad.py", "x = 1\n", "no entry"),
    ],
)
def test_a_wrong_arrow_is_found(tmp_path, place, text, found):
    path = tmp_path / place
    path.parent.mkdir()
    path.write_text(text)
    assert found in "\n".join(check_imports.wrong_arrows(tmp_path))


def loaded_after(code):
    line = f"import sys\n{code}\nprint(' '.join(m for m in ('numpy', 'numba', 'cupy', 'scipy') if m in sys.modules))"
    return subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True).stdout.split()


def test_import_bigbfs_loads_nothing_heavy():
    assert loaded_after("import bigbfs") == []


def test_help_loads_nothing_heavy():
    code = "import contextlib, io\nfrom bigbfs.cli.main import run\n"
    code += "with contextlib.redirect_stdout(io.StringIO()): run(['--help'])"
    assert loaded_after(code) == []


def test_cpu_paths_never_import_cupy():
    code = "import bigbfs\ng = bigbfs.Graph.from_csr([0, 1, 2], [1, 0])\nbigbfs.bfs(g, 0, backend='cpu')"
    assert "cupy" not in loaded_after(code)


def test_help_is_fast():
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "bigbfs", "--help"], check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.15  # the best of five: the bar is about the program, not about a busy machine


def test_unknown_attribute():
    import bigbfs

    with pytest.raises(AttributeError, match="no attribute 'bsf'"):
        bigbfs.bsf  # noqa: B018
    assert "connected_components" in dir(bigbfs)
