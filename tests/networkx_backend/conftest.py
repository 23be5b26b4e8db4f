"""An environment in which NetworkX finds the backend."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

import pytest

import bigbfs


@pytest.fixture(scope="session")
def entry_points(tmp_path_factory):
    """An environment in which NetworkX finds the backend, whether the package is installed or only imported."""
    found = [*importlib.metadata.entry_points(group="networkx.backends", name="bigbfs")]
    path = [str(Path(bigbfs.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    if not found:
        folder = tmp_path_factory.mktemp("site") / "bigbfs_backend-0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: bigbfs-backend\nVersion: 0\n")
        (folder / "entry_points.txt").write_text(
            "[networkx.backends]\nbigbfs = bigbfs.networkx.backend\n"
            "[networkx.backend_info]\nbigbfs = bigbfs.networkx.info:get_info\n"
        )
        path.append(str(folder.parent))
    return os.environ | {"PYTHONPATH": os.pathsep.join(path)}
