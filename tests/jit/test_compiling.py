"""What is known of compiling: the seconds, and who is told that it begins."""

from __future__ import annotations

import numba
import pytest
import zoo

import bigbfs
from bigbfs.cli import main
from bigbfs.cli.starting import SAME_LINE
from bigbfs.conversion.report import Stopwatch
from bigbfs.jit import compiling
from bigbfs.jit import njit as kernels
from bigbfs.jit.njit import njit


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_compiling_is_a_phase_of_its_own_and_told_once():
    told = []
    compiling.tell(lambda: told.append(compiling.seconds()))
    kernels = [njit(lambda a, k=k: a + k) for k in range(2)]
    watch = Stopwatch()
    with watch.phase("build"):
        assert [kernel(1) for kernel in kernels] == [1, 2]
    assert len(told) == 1
    assert watch.phases["compile"] > 0
    assert watch.phases["build"] < watch.phases["compile"]
    assert watch.phases["compile"] <= compiling.seconds()
    before = dict(watch.phases)
    with watch.phase("build"):
        assert kernels[0](1) == 1
    assert watch.phases["compile"] == before["compile"]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_what_is_compiled_while_a_graph_is_checked_is_no_opening(monkeypatch):
    graph = zoo.build(3, zoo.path(3))
    monkeypatch.setattr(type(graph), "require_valid", lambda self: njit(lambda a: a + 1)(1))
    before = compiling.seconds()
    with bigbfs.engine(graph, backend="cpu") as engine:
        taken = compiling.seconds() - before
        assert engine.setup.compile >= taken > engine.setup.open >= 0


def test_where_nothing_can_be_kept_that_is_said(monkeypatch, capsys, tmp_path):
    """Every run compiled for half a minute there, and said nothing unless somebody watched."""
    (tmp_path / "file").touch()
    for named, said in ((tmp_path / "kept", ""), (tmp_path / "file" / "below", "set NUMBA_CACHE_DIR to one")):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(named))
        monkeypatch.setattr(kernels, "_folder", kernels._folder.__wrapped__)
        main._say_that_kernels_are_compiled()
        monkeypatch.undo()
        assert said in (told := capsys.readouterr().err) and bool(said) == bool(told)


@pytest.mark.parametrize(("rank", "same_line", "lines"), [(0, True, 1), (1, True, 0), (1, False, 1)])
def test_of_ranks_of_one_command_line_the_first_says_it(monkeypatch, capsys, rank, same_line, lines):
    monkeypatch.setattr(kernels, "keeps", lambda: False)
    for name, value in (("PMI_RANK", rank), ("PMI_SIZE", 2), *([(SAME_LINE, 1)] if same_line else [])):
        monkeypatch.setenv(name, str(value))
    main._say_that_kernels_are_compiled()
    assert capsys.readouterr().err.count("\n") == lines
