"""The limit on the length of files that tests set: files are cut off at it, byte code is not written."""

from __future__ import annotations

import importlib
import resource
import sys
from pathlib import Path

import pytest
from limits import files_of


def test_a_module_that_is_imported_under_the_limit_is_whole_afterwards(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "long_module_of_a_test.py").write_text("\n".join(f"x{i} = {i}" for i in range(2000)))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with files_of(100):
        importlib.import_module("long_module_of_a_test")
        with pytest.raises(OSError, match="File too large"):
            (tmp_path / "file").write_bytes(bytes(200))
    assert not list(tmp_path.glob("__pycache__/*.pyc"))
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == before and not sys.dont_write_bytecode
    del sys.modules["long_module_of_a_test"]
