"""What a command imports is not looked through for garbage; what its caller has is the caller's, frozen or not."""

import gc
import weakref

import click
import pytest

from bigbfs.cli.loading import loading


class Ring:
    """Garbage that only a look for it finds."""

    def __init__(self):
        self.me = self


@pytest.fixture
def unfrozen():
    """What a test freezes is thawed: not what was frozen before, which would be looked through from then on."""
    before = gc.get_freeze_count()
    yield before
    if before == 0:
        gc.unfreeze()


def test_a_command_called_from_python_leaves_garbage_to_be_found(run, small, unfrozen):
    """Where something is frozen, too, as in these tests: counting it took a quarter of a second a command."""
    gc.freeze()
    ring = Ring()
    seen = weakref.ref(ring)
    del ring
    assert run("info", "graph.csrbin")[0] == 0
    gc.collect()
    assert seen() is None


def test_nothing_is_counted_that_grows_with_the_caller(run, small, monkeypatch):
    def counted():
        raise AssertionError("every frozen object was counted")

    monkeypatch.setattr(gc, "get_freeze_count", counted)
    assert run("info", "graph.csrbin")[0] == 0


def test_a_process_of_the_command_s_own_freezes_what_it_imports(unfrozen):
    """Each time that it does: garbage is looked for in between."""
    frozen = []
    with click.Context(click.Command("bigbfs")):
        gc.disable()
        for _ in range(2):
            with loading():
                assert not gc.isenabled()
                kept = [Ring() for _ in range(100)]
            assert gc.isenabled()
            frozen.append(gc.get_freeze_count())
            assert len(kept) == 100
    assert unfrozen < frozen[0] < frozen[1]


def test_a_caller_who_looks_for_garbage_goes_on(unfrozen):
    with click.Context(click.Command("bigbfs")):
        for _ in range(2):
            with loading():
                assert not gc.isenabled()
            assert gc.isenabled()
    assert gc.get_freeze_count() <= unfrozen
